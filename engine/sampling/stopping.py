"""When a run ends: settled, an early answer, a budget, a deadline.

Frozen rules over numbers; the clock is read by the caller. Cancelling is not a rule: the
caller simply does not ask for the next pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from engine.contract import StopReason

__all__ = ["Budget", "EarlyAnswer", "EveryCandidate", "ShownDraft", "StopCondition"]


@dataclass(frozen=True, slots=True)
class EarlyAnswer:
    """Fill everything at once when the best tokens lead clearly.

    The bound on the mean logit gap of masked slots falls from `bound` to zero as the part
    fills up; `bound` None switches the rule off.

    Source: ALGORITHMS section 5 (b), after Prophet (arXiv:2508.19982).
    """

    bound: float | None

    def is_met(self, mean_gap: float, settled_ratio: float) -> bool:
        return self.bound is not None and mean_gap > self.bound * (1.0 - settled_ratio)


class StopCondition(Protocol):
    def is_met(self, num_open: int) -> bool:
        """Whether the run may end; `num_open` masks are left in the shown candidates."""
        ...


@dataclass(frozen=True, slots=True)
class EveryCandidate:
    """Goes on until no candidate has a mask left, so that all of them can be compared."""

    def is_met(self, num_open: int) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class ShownDraft:
    """Ends as soon as what is shown has its structure: every region written to its end.

    A region that must keep to a form keeps to it then. Candidates that are still open are filled
    at once, as at the end of a budget. Source: ALGORITHMS section 5 (e).
    """

    def is_met(self, num_open: int) -> bool:
        return num_open == 0


@dataclass(frozen=True, slots=True)
class Budget:
    """Passes and moments (on the caller's clock, seconds) that end a run."""

    max_passes: int
    time_limit_at_s: float | None = None
    deadline_at_s: float | None = None

    def reason(self, passes: int, now_s: float) -> StopReason | None:
        """Return why no further pass may run, or None."""
        if self.deadline_at_s is not None and now_s >= self.deadline_at_s:
            return StopReason.DEADLINE
        if self.time_limit_at_s is not None and now_s >= self.time_limit_at_s:
            return StopReason.TIME_BUDGET
        if passes >= self.max_passes:
            return StopReason.PASS_BUDGET
        return None
