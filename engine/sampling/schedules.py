"""How many masks must have become tokens after each pass. Pure arithmetic.

A schedule is a floor: a commitment rule may take more, never less, and top-k takes just that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Cosine", "Linear", "Schedule"]


class Schedule(Protocol):
    def at_least(self, num_masked: int, num_slots: int, *, pass_index: int, num_passes: int) -> int:
        """Return how many of a part's masks pass `pass_index` (from 1) has to commit.

        At least 1 where there is a mask, at most all, and all in pass `num_passes` or later.
        """
        ...


@dataclass(frozen=True, slots=True)
class Linear:
    """The same share in every pass that is left. Source: LLaDA (arXiv:2502.09992)."""

    def at_least(self, num_masked: int, num_slots: int, *, pass_index: int, num_passes: int) -> int:
        left = max(1, num_passes - pass_index + 1)
        return math.ceil(num_masked / left)


@dataclass(frozen=True, slots=True)
class Cosine:
    """Few at first, while little is known, then more. Source: MaskGIT (arXiv:2202.04200)."""

    def at_least(self, num_masked: int, num_slots: int, *, pass_index: int, num_passes: int) -> int:
        if pass_index >= num_passes:
            return num_masked
        stay = math.floor(num_slots * math.cos(math.pi / 2 * pass_index / num_passes))
        return min(num_masked, max(1, num_masked - stay)) if num_masked else 0
