"""Which tokens are taken back after a pass, and which are exchanged for others.

Frozen rules; what they need of the past the canvas remembers. Frozen slots, and so locked
and given text, are never candidates. Laws (tests): only committed slots that are not frozen
change, and a slot is never taken back more than `max_flips` times.

Shapes: C candidates, P parts, L slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

__all__ = [
    "Evidence",
    "LeaveOneOut",
    "Monotone",
    "ReMDMCap",
    "RemaskingRule",
    "Revision",
    "TokenEdits",
]

Asks = Literal["nothing", "hidden", "visible", "dice"]
MAX_FLIPS = 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of each slot after a pass, [C, P, L]; the rule says what it asks for."""

    accepted: Tensor  # bool, committed in this pass
    committed: Tensor  # bool, accepted ones included
    frozen: Tensor  # bool
    flips: Tensor  # int16, how often a slot was taken back
    hidden: Tensor | None = None  # float32, the token's probability with it hidden, else 1
    rival: Tensor | None = None  # float32, that of the most probable token there, else 0
    whole: Tensor | None = None  # bool [C, P], no mask is left: `hidden` is of all free slots
    own: Tensor | None = None  # float32, the visible token's probability where it stands, else 1
    best: Tensor | None = None  # int64, the token most probable in a visible slot
    lead: Tensor | None = None  # float32, that token's probability, else 0
    dice: Tensor | None = None  # float32, uniform in (0, 1)

    @property
    def free(self) -> Tensor:
        """Slots that may change."""
        return self.committed & ~self.frozen & (self.flips < MAX_FLIPS)


@dataclass(frozen=True, slots=True)
class Revision:
    """Slots to mask again and slots that take `Evidence.best` instead, bool [C, P, L]."""

    remask: Tensor
    edit: Tensor


class RemaskingRule(Protocol):
    @property
    def asks(self) -> Asks:
        """What has to be measured: `hidden` and `visible` cost one more forward."""
        ...

    def choose(self, evidence: Evidence) -> Revision: ...


def _remasking(chosen: Tensor) -> Revision:
    return Revision(chosen, torch.zeros_like(chosen))


@dataclass(frozen=True, slots=True)
class Monotone:
    """Never take a token back."""

    @property
    def asks(self) -> Asks:
        return "nothing"

    def choose(self, evidence: Evidence) -> Revision:
        return _remasking(torch.zeros_like(evidence.accepted))


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Revoke a token that its own part would not choose again with it hidden.

    Fewer than were accepted, so that a part always gains. In a part without masks all tokens are
    looked at, those too that were written before what stands behind them: one is revoked where
    another reaches `lead`, as many as were accepted, an eighth of the part in all.

    Source: WINO (arXiv:2507.18578): revoke when p_hidden < tau. The paper checks every
    token after every pass; we check the new ones of passes that accepted several, and whole parts.
    """

    tau: float
    lead: float = 0.3

    @property
    def asks(self) -> Asks:
        return "hidden"

    def choose(self, evidence: Evidence) -> Revision:
        assert evidence.hidden is not None, "the rule asked for it"
        weak = evidence.free & (evidence.hidden < self.tau)
        new = _fewer_than_accepted(weak & evidence.accepted, evidence, -evidence.hidden)
        if evidence.whole is None:
            return _remasking(new)
        assert evidence.rival is not None, "it comes with the rest"
        whole = evidence.whole.unsqueeze(-1)
        beaten = weak & whole & (evidence.rival >= self.lead)
        spare = _eighth_left(evidence)
        late = _worthiest(beaten, -evidence.hidden, torch.minimum(spare, _num_accepted(evidence)))
        return _remasking(torch.where(whole, late, new))


@dataclass(frozen=True, slots=True)
class ReMDMCap:
    """Take every free token back with probability `cap` after each pass, whatever it is.

    Source: ReMDM (arXiv:2503.00307), the capped schedule; ours takes back fewer than the pass
    accepted, so that a run ends.
    """

    cap: float = 0.05

    @property
    def asks(self) -> Asks:
        return "dice"

    def choose(self, evidence: Evidence) -> Revision:
        assert evidence.dice is not None, "the rule asked for it"
        drawn = evidence.free & ~evidence.accepted & (evidence.dice < self.cap)
        return _remasking(_fewer_than_accepted(drawn, evidence, -evidence.dice))


@dataclass(frozen=True, slots=True)
class TokenEdits:
    """Exchange a visible token for one that the model prefers in its place by a wide margin.

    For models trained to tell wrong visible tokens. Source: GIDD (arXiv:2503.04482).
    """

    lead: float = 0.8  # the other token's probability
    own: float = 0.05  # at most this is left to the present one

    @property
    def asks(self) -> Asks:
        return "visible"

    def choose(self, evidence: Evidence) -> Revision:
        assert evidence.own is not None, "the rule asked for it"
        assert evidence.lead is not None, "the rule asked for it"
        edit = evidence.free & (evidence.own <= self.own) & (evidence.lead >= self.lead)
        return Revision(torch.zeros_like(edit), edit)


def _fewer_than_accepted(wanted: Tensor, evidence: Evidence, worth: Tensor) -> Tensor:
    """Keep, of the wanted slots of each part, the worthiest: fewer than the part accepted."""
    return _worthiest(wanted, worth, (_num_accepted(evidence) - 1).clamp_min(0))


def _num_accepted(evidence: Evidence) -> Tensor:
    return evidence.accepted.sum(-1)


def _eighth_left(evidence: Evidence) -> Tensor:
    """Return how many more tokens of each part [C, P] may be revoked once it is whole."""
    eighth = (evidence.committed.sum(-1) + 7) // 8
    return (eighth - evidence.flips.sum(-1)).clamp_min(0)


def _worthiest(wanted: Tensor, worth: Tensor, limits: Tensor) -> Tensor:
    """Keep, of the wanted slots of each part, the `limits` [C, P] worthiest."""
    chosen = torch.zeros_like(wanted)
    for candidate, part in torch.nonzero(wanted.any(-1)).tolist():
        slots = torch.nonzero(wanted[candidate, part]).flatten().tolist()
        slots.sort(key=lambda slot: -float(worth[candidate, part, slot]))
        chosen[candidate, part, slots[: int(limits[candidate, part])]] = True
    return chosen
