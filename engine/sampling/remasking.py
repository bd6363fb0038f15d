"""Which tokens become masks again after a pass.

Frozen rules; what they need of the past the canvas remembers. Frozen slots, and so locked
and given text, are never candidates. Shapes: C candidates, P parts, L slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

__all__ = ["LeaveOneOut", "Monotone", "RemaskingRule"]


class RemaskingRule(Protocol):
    @property
    def needs_hidden(self) -> bool:
        """Whether new tokens are to be scored with each one hidden (one more forward)."""
        ...

    def choose(self, accepted: Tensor, hidden: Tensor, frozen: Tensor, flips: Tensor) -> Tensor:
        """Return the slots to remask, bool [C, P, L].

        `accepted` bool: committed in this pass; `hidden` float32: the token's probability
        with it hidden, 1 where not scored; `flips` int16: how often a slot was remasked.
        """
        ...


@dataclass(frozen=True, slots=True)
class Monotone:
    """Never take a token back."""

    @property
    def needs_hidden(self) -> bool:
        return False

    def choose(self, accepted: Tensor, hidden: Tensor, frozen: Tensor, flips: Tensor) -> Tensor:
        return torch.zeros_like(accepted)


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Revoke a new token that its own part would not choose again with it hidden.

    Fewer than were accepted, at most `max_flips` times per slot, so that a part always gains.

    Source: WINO (arXiv:2507.18578): revoke when p_hidden < tau. The paper checks every
    token after every pass; we check the new ones of passes that accepted several.
    """

    tau: float
    max_flips: int = 3

    @property
    def needs_hidden(self) -> bool:
        return True

    def choose(self, accepted: Tensor, hidden: Tensor, frozen: Tensor, flips: Tensor) -> Tensor:
        weak = accepted & (hidden < self.tau) & ~frozen & (flips < self.max_flips)
        chosen = torch.zeros_like(weak)
        for candidate, part in torch.nonzero(weak.any(-1)).tolist():
            slots = torch.nonzero(weak[candidate, part]).flatten().tolist()
            limit = int(accepted[candidate, part].sum()) - 1
            slots.sort(key=lambda slot: float(hidden[candidate, part, slot]))
            chosen[candidate, part, slots[:limit]] = True
        return chosen
