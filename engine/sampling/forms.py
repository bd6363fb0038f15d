"""Constrained regions: the best assignment of all their slots that the automaton accepts.

After each pass a region's slots are assigned together, by Viterbi over the log-probabilities
and the states of its automaton, with what is committed in place. Proposing only from such an
assignment keeps the region satisfiable whatever subset of it is committed, in any order, and
whatever is taken back. Source: ALGORITHMS section 9.

Shapes: C candidates, P parts, L slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.canvas.canvas import Canvas
from engine.canvas.slots import SlotState
from engine.constraints.automata import Automaton
from engine.sampling.beliefs import Beliefs
from engine.sampling.commitment import SlotScores
from engine.sampling.drawing import Draw
from engine.sampling.lattice import KnownChoices, Lattice, SlotEdge
from engine.sampling.spelling import Speller
from engine.sampling.vocabulary import Vocabulary

__all__ = ["FormKeeper", "RegionForm"]

WORST = -60.0  # nats; what the text beside a region forbids, a constraint may still need
_Place = tuple[int, int]  # part, slot


@dataclass(frozen=True)
class RegionForm:
    """A region's automaton, and the fixed texts around its parts: one more than parts."""

    automaton: Automaton
    parts: tuple[int, ...]
    fixed: tuple[str, ...]
    guards: tuple[tuple[bool, bool], ...]  # no letter or digit may start, and end, a fill
    witness: tuple[tuple[int, ...], ...]  # tokens of a fill of each part, accepted together


class FormKeeper:
    """Holds the constrained regions of one window to their form, pass after pass."""

    def __init__(
        self, forms: Sequence[RegionForm], prefixes: Sequence[bytes], words: Vocabulary
    ) -> None:
        """`prefixes` [P] are the bytes that a part's first token repeats from outside it."""
        self._prefixes = prefixes
        self._words = words
        self._spellers = [(form, _speller(form, words), KnownChoices()) for form in forms]
        self._paths: dict[tuple[int, int], dict[_Place, int]] = {}

    def hold(
        self,
        scores: SlotScores,
        beliefs: Beliefs,
        canvas: Canvas,
        draws: Sequence[Draw],
        *,
        pass_index: int,
    ) -> tuple[SlotScores, Tensor]:
        """Return scores whose tokens keep to the forms, and which parts do, bool [C, P].

        A region whose canvas is too short for any accepted text is left as it was.
        """
        token, confidence = scores.token.clone(), scores.confidence.clone()
        held = torch.zeros(scores.masked.shape[:2], dtype=torch.bool)
        for index, (form, _, _) in enumerate(self._spellers):
            for candidate, draw in enumerate(draws):
                values = _Values(beliefs, canvas, candidate, draw, pass_index)
                path = self._best_path(index, values)
                if path is None:
                    continue
                self._paths[index, candidate] = path
                held[candidate, list(form.parts)] = True
                for (part, slot), chosen in path.items():
                    row = int(beliefs.row[candidate, part, slot])
                    if row >= 0:
                        token[candidate, part, slot] = chosen
                        confidence[candidate, part, slot] = beliefs.logprobs[row, chosen].exp()
        return replace(scores, token=token, confidence=confidence), held

    def _best_path(self, index: int, values: _Values) -> dict[_Place, int] | None:
        """Return the token (or PAD) of every slot of the region, None when nothing fits."""
        form, speller, known_choices = self._spellers[index]
        old = self._paths.get((index, values.candidate), {})
        lattice, places = Lattice(speller, known_choices), list[_Place]()
        lattice.read_text(form.fixed[0])
        for order, part in enumerate(form.parts):
            for slot in range(int(values.canvas.lengths[values.candidate, part])):
                edge = self._edge(form.guards[order], part, slot)
                known = values.known(part, slot, self._words.pad)
                if known is not None:
                    lattice.read_token(known, edge)
                else:
                    # The way found in the last pass stays open whatever this pass prefers.
                    extra = [*form.witness[order][slot : slot + 1]]
                    extra += [old[part, slot]] if (part, slot) in old else []
                    lattice.read_mask(values.of(part, slot), edge, extra)
                places.append((part, slot))
            lattice.read_text(form.fixed[order + 1])
        path = lattice.best()
        return None if path is None else dict(zip(places, path, strict=True))

    def _edge(self, guards: tuple[bool, bool], part: int, slot: int) -> SlotEdge:
        prefix = self._prefixes[part] if slot == 0 else b""
        return SlotEdge(prefix, guards[0] and slot == 0, guards[1])


def _speller(form: RegionForm, words: Vocabulary) -> Speller:
    text = "".join(words.codec.decode(list(tokens)) for tokens in form.witness)
    return Speller(form.automaton, words, text)


@dataclass(frozen=True, slots=True)
class _Values:
    """What one candidate's slots are worth in one pass."""

    beliefs: Beliefs
    canvas: Canvas
    candidate: int
    draw: Draw
    pass_index: int

    def known(self, part: int, slot: int, pad: int) -> int | None:
        """Return the slot's token, `pad` for PAD, None where it is masked."""
        place = (self.candidate, part, slot)
        state = int(self.canvas.state[place])
        if state == SlotState.MASK:
            return None
        return pad if state == SlotState.PAD else int(self.canvas.tokens[place])

    def of(self, part: int, slot: int) -> Tensor:
        """Return a masked slot's values [V + 1]: log-probabilities, perturbed where sampled."""
        row = self.beliefs.logprobs[int(self.beliefs.row[self.candidate, part, slot])].cpu()
        return self.draw.perturbed(row, self.pass_index, part, slot).clamp_min(WORST)
