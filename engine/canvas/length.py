"""How many tokens a part may take: candidate lengths, and the width its positions get.

Pure tables and arithmetic; the probe pass that scores candidates belongs to sampling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.canvas.parts import MAX_PART_TOKENS

__all__ = ["candidate_lengths", "choose_lengths", "fit_width"]

UNKNOWN_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
HINT_RATIOS = (0.75, 1.0, 1.25)
WIDTHS = (4, 8, 16, 32, 64, 96, 128, 192, MAX_PART_TOKENS + 64)


def candidate_lengths(hint: int | None, *, longest: int = MAX_PART_TOKENS) -> tuple[int, ...]:
    """Return ascending lengths in tokens to probe: around `hint`, or a spread when unknown."""
    if hint is None:
        return tuple(length for length in UNKNOWN_LENGTHS if length <= longest)
    around = {min(longest, max(1, math.floor(hint * ratio + 0.5))) for ratio in HINT_RATIOS}
    return tuple(sorted(around))


def fit_width(longest: int) -> int:
    """Return the smallest table width that holds `longest` slots."""
    return next(width for width in WIDTHS if width >= longest)


def choose_lengths(
    confidence: Sequence[float], lengths: Sequence[int], expected: Sequence[float], count: int
) -> tuple[int, ...]:
    """Return up to `count` lengths, best first, by confidence above what is usual for it.

    `confidence[i]` is the mean log-probability of the best guesses of a canvas of
    `lengths[i]` masks, `expected` what that mean is over held-out text (0 nats = certain).

    Source: ALGORITHMS section 6; calibration by subtraction is ours.
    """
    gains = [
        (got - usual, -length)
        for got, usual, length in zip(confidence, expected, lengths, strict=True)
    ]
    best = sorted(range(len(lengths)), key=lambda index: gains[index], reverse=True)
    return tuple(lengths[index] for index in best[:count])
