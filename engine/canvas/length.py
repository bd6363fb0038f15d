"""How many tokens a part may take: candidate lengths, and the width its positions get.

Pure tables and arithmetic; the probe pass that scores candidates belongs to sampling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.canvas.parts import MAX_PART_TOKENS

__all__ = ["LengthPrior", "candidate_lengths", "fit_width", "rank_lengths"]

UNKNOWN_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16)
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


@dataclass(frozen=True, slots=True)
class LengthPrior:
    """How likely a length is before the model is asked: log-normal around a median.

    `growth` is how much the mean log-probability of a canvas's best guesses falls with the
    log of its length anyway, in nats. Fitted on held-out template blanks: engine/LOG.md.
    """

    median: float = 5.0  # tokens, where nothing is known
    spread: float = 0.7  # of log length
    growth: float = 0.3

    def score(self, length: int, mean_logprob: float, hint: int | None) -> float:
        """Return the score in nats, higher is better, of a canvas of `length` masks."""
        distance = math.log(length) - math.log(hint or self.median)
        calibrated = mean_logprob + self.growth * math.log(length)
        return calibrated - 0.5 * (distance / self.spread) ** 2


def rank_lengths(
    prior: LengthPrior, means: Sequence[float], lengths: Sequence[int], hint: int | None
) -> tuple[int, ...]:
    """Return the lengths, best first; `means[i]` is the mean log-probability at `lengths[i]`.

    Source: ALGORITHMS section 6; the prior is ours.
    """
    scores = [prior.score(length, mean, hint) for length, mean in zip(lengths, means, strict=True)]
    order = sorted(range(len(lengths)), key=lambda index: (-scores[index], lengths[index]))
    return tuple(lengths[index] for index in order)
