"""Second looks at what was committed: measures what a remasking rule asks for and applies it.

Remembers, by position only, what happened: which slots were taken back late, often, or without
end. A slot that was taken back three times is frozen at the token that all its commitments
together gave the most log-probability (oscillation).

Shapes: C candidates, P parts, L slots.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, replace

import torch
from torch import Tensor

from engine.canvas.canvas import Canvas
from engine.sampling.admissible import Admissible
from engine.sampling.beliefs import (
    Beliefs,
    hidden_probability,
    hidden_stripes,
    visible_beliefs,
)
from engine.sampling.commitment import SlotScores
from engine.sampling.probe import WindowTask
from engine.sampling.randomness import throw_dice
from engine.sampling.remasking import MAX_FLIPS, Evidence, Monotone

__all__ = ["Positions", "Reviser"]

DICE_SALT = 1  # apart from the dice of commitment
LATE_RATIO = 0.5  # of a part's slots settled: what is taken back from then on is late
STUBBORN_FLIPS = 2
NUM_STRIPES = 4  # of a second look at a whole part
_Place = tuple[int, int, int]  # candidate, part, slot


@dataclass(frozen=True, slots=True)
class Positions:
    """Slots as (part, slot), sorted; nothing of what stood in them."""

    late_reversals: tuple[tuple[int, int], ...]
    stubborn: tuple[tuple[int, int], ...]  # taken back at least twice
    oscillated: tuple[tuple[int, int], ...]  # frozen for it

    def card(self) -> dict[str, list[list[int]]]:
        """Return the slots by kind, in the run card's plain form."""
        return {name: [list(slot) for slot in slots] for name, slots in asdict(self).items()}


class Reviser:
    """The remasking of one window."""

    def __init__(self, task: WindowTask, admissible: Admissible) -> None:
        self._task = task
        self._admissible = admissible
        self._rule = task.sampler.remasking
        self.may_change = not isinstance(self._rule, Monotone)
        self._history: dict[_Place, list[tuple[int, Tensor]]] = defaultdict(list)
        self._late: set[tuple[int, int]] = set()
        self._stubborn: set[tuple[int, int]] = set()
        self._frozen: set[tuple[int, int]] = set()
        self.nfe = 0

    def move_to(self, task: WindowTask) -> None:
        """Go on with the same window laid out anew."""
        self._task = task

    def positions(self) -> Positions:
        """Return what stood out so far."""
        late, stubborn, frozen = (
            tuple(sorted(found)) for found in (self._late, self._stubborn, self._frozen)
        )
        return Positions(late, stubborn, frozen)

    def end_oscillation(
        self, scores: SlotScores, chosen: Tensor, canvas: Canvas, beliefs: Beliefs, held: Tensor
    ) -> SlotScores:
        """Return scores in which slots that were taken back too often get their best token.

        They are marked frozen; call it before the commitment. Slots of held forms keep the
        token their form needs.
        """
        if not self.may_change:
            return scores
        token = scores.token.clone()
        for place in _places(chosen):
            row = beliefs.logprobs[int(beliefs.row[place])]
            self._history[place].append((int(token[place]), row))
            if int(canvas.flips[place]) < MAX_FLIPS or bool(held[place[:2]]):
                continue
            rows = [earlier for _, earlier in self._history[place]]
            tokens = sorted({candidate for candidate, _ in self._history[place]})
            sums = [sum(float(earlier[one]) for earlier in rows) for one in tokens]
            token[place] = tokens[sums.index(max(sums))]
            self._frozen.add(place[1:])
        return replace(scores, token=token)

    def revise(
        self, canvas: Canvas, accepted: Tensor, held: Tensor, *, pass_index: int
    ) -> tuple[int, int]:
        """Take back and exchange tokens; return how many of each.

        A held form's tokens are taken back, never exchanged: a form chooses its own.
        """
        if not self.may_change:
            return 0, 0
        evidence = self._measure(canvas, accepted, pass_index)
        revision = self._rule.choose(evidence)
        edit = revision.edit & ~held.unsqueeze(-1)
        self._note(canvas, revision.remask | edit)
        canvas.remask(revision.remask)
        if evidence.best is not None:
            canvas.edit(edit, evidence.best)
        self._stubborn |= {place[1:] for place in _places(canvas.flips >= STUBBORN_FLIPS)}
        return int(revision.remask.sum()), int(edit.sum())

    def _measure(self, canvas: Canvas, accepted: Tensor, pass_index: int) -> Evidence:
        task, visible = self._task, accepted & canvas.committed
        plain = Evidence(visible, canvas.committed, canvas.frozen, canvas.flips)
        match self._rule.asks:
            case "hidden":
                return self._hide(plain, canvas)
            case "visible":
                seen = visible_beliefs(
                    task.denoiser, task.context, canvas, plain.free, self._admissible
                )
                self.nfe += seen.nfe
                return replace(plain, own=seen.own, best=seen.best, lead=seen.lead)
            case "dice":
                shape = canvas.tokens.shape
                return replace(plain, dice=throw_dice(task.random, shape, pass_index, DICE_SALT))
            case _:
                return plain

    def _hide(self, plain: Evidence, canvas: Canvas) -> Evidence:
        """Add what new tokens, and all of parts just written to their end, are worth hidden."""
        task = self._task
        whole = plain.accepted.any(-1) & ~canvas.masked.any(-1)
        late = plain.free & whole.unsqueeze(-1)
        # One new token alone was certain with nothing beside it to mislead it.
        several = plain.accepted & (plain.accepted.sum(-1, keepdim=True) > 1) & ~late
        bans = self._admissible
        seen = hidden_probability(task.denoiser, task.context, canvas, several, bans)
        self.nfe += seen.nfe
        if not bool(late.any()):
            return replace(plain, hidden=seen.own, rival=seen.lead)
        old = hidden_stripes(
            task.denoiser, task.context, canvas, late, bans, num_stripes=NUM_STRIPES
        )
        self.nfe += old.nfe
        own, lead = torch.where(late, old.own, seen.own), torch.where(late, old.lead, seen.lead)
        return replace(plain, hidden=own, rival=lead, whole=whole)

    def _note(self, canvas: Canvas, changed: Tensor) -> None:
        settled = canvas.committed.sum(-1) / canvas.lengths.clamp_min(1)
        late = changed & (settled > LATE_RATIO).unsqueeze(-1)
        self._late |= {place[1:] for place in _places(late)}


def _places(chosen: Tensor) -> list[_Place]:
    return [(c, p, s) for c, p, s in torch.nonzero(chosen).tolist()]
