"""The lattice of a constrained region: slots times automaton states, searched by Viterbi.

One layer for each slot or fixed text; a layer keeps, for each state that can be reached, the
best way to it. Deterministic: of equal ways the first found stays. It knows no canvas.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.constraints.automata import feed
from engine.sampling.spelling import Speller, Spelling

__all__ = ["KnownChoices", "Lattice", "SlotEdge"]

NUM_OPEN = 48  # tokens looked at in a slot where nearly all are allowed
NO_TOKEN = -1  # stands for fixed text on a path


@dataclass(frozen=True, slots=True)
class SlotEdge:
    """What a slot must respect at its part's edges."""

    prefix: bytes = b""  # its token begins with these bytes, which are not the region's
    is_guarded_left: bool = False  # its token must not begin with a letter or digit
    is_guarded_right: bool = False  # the part must not end with one


class _Key(NamedTuple):
    """Where a path stands: `is_padded` once its part has ended, `is_word` at a guarded word."""

    spelling: Spelling
    is_padded: bool = False
    is_word: bool = False


class _Way(NamedTuple):
    score: float
    before: _Key | None
    token: int


KnownChoices = dict[tuple[_Key, SlotEdge], list[tuple[_Key, NDArray[np.int64]]]]


class Lattice:
    """Layers from the region's start on; `best` reads the path off."""

    def __init__(self, speller: Speller, known: KnownChoices) -> None:
        """`known` keeps what was found of the automaton's states, for further lattices."""
        self._speller = speller
        self._known = known
        self._words = speller.words
        start = _Key(Spelling(speller.automaton.start))
        self._layers: list[dict[_Key, _Way]] = [{start: _Way(0.0, None, NO_TOKEN)}]

    def read_text(self, text: str) -> None:
        """Append fixed text; the part before it has ended."""
        layer: dict[_Key, _Way] = {}
        for key, way in self._layers[-1].items():
            if key.is_word or key.spelling.pending:
                continue
            state = feed(self._speller.automaton, key.spelling.state, text)
            if state is not None:
                _keep(layer, _Key(Spelling(state)), _Way(way.score, key, NO_TOKEN))
        self._layers.append(layer)

    def read_token(self, token: int, edge: SlotEdge) -> None:
        """Append a slot whose token (or PAD) is known."""
        layer: dict[_Key, _Way] = {}
        for key, way in self._layers[-1].items():
            for target in self._targets(key, [token], edge):
                _keep(layer, target, _Way(way.score, key, token))
        self._layers.append(layer)

    def read_mask(self, logprobs: Tensor, edge: SlotEdge, extra: Iterable[int]) -> None:
        """Append a masked slot; `logprobs` [V + 1] are added up along a path.

        Where nearly all tokens are allowed, the best few and `extra` are looked at.
        """
        open_tokens = sorted({*logprobs[:-1].topk(NUM_OPEN).indices.tolist(), *extra})
        values = logprobs.numpy()  # many small look-ups, each dearer on a tensor
        layer: dict[_Key, _Way] = {}
        for key, way in self._layers[-1].items():
            for target, tokens in self._choices(key, open_tokens, edge):
                scores = values[tokens]
                best = int(scores.argmax())
                value = way.score + float(scores[best])
                _keep(layer, target, _Way(value, key, int(tokens[best])))
        self._layers.append(layer)

    def best(self) -> list[int] | None:
        """Return the token of every slot on the best accepted path, None when there is none."""
        accepts = self._speller.automaton.is_accepting
        ends = {key: way for key, way in self._layers[-1].items() if accepts(key.spelling.state)}
        if not ends:
            return None
        key: _Key | None = max(ends, key=lambda end: ends[end].score)
        path: list[int] = []
        for layer in reversed(self._layers):
            assert key is not None, "only the first layer has nothing before it"
            _, before, token = layer[key]
            if token != NO_TOKEN:
                path.append(token)
            key = before
        return path[::-1]

    def _choices(
        self, key: _Key, open_tokens: list[int], edge: SlotEdge
    ) -> list[tuple[_Key, NDArray[np.int64]]]:
        """Return the tokens [N] of a masked slot by where they lead, PAD among them."""
        known = self._known.get((key, edge))
        if known is not None:
            return known
        pad = self._words.pad
        found = self._targets(key, [pad], edge)
        moves = {} if key.is_padded else self._speller.moves(key.spelling, edge.prefix)
        is_open = moves is None
        if moves is None:
            tokens = [token for token in open_tokens if token != pad]
            moves = self._speller.group(key.spelling, tokens, edge.prefix)
        for target, tokens in moves.items():
            for token in tokens:
                self._sort_in(found, target, token, edge)
        choices = [(target, np.array(tokens)) for target, tokens in found.items()]
        if not is_open:
            self._known[key, edge] = choices
        return choices

    def _targets(self, key: _Key, tokens: list[int], edge: SlotEdge) -> dict[_Key, list[int]]:
        choices: dict[_Key, list[int]] = {}
        for token in tokens:
            if token == self._words.pad:
                if not (key.is_word or key.spelling.pending or edge.prefix):
                    choices[key._replace(is_padded=True)] = [token]
            elif not key.is_padded:
                target = self._speller.after(key.spelling, token, edge.prefix)
                if target is not None:
                    self._sort_in(choices, target, token, edge)
        return choices

    def _sort_in(
        self, choices: dict[_Key, list[int]], target: Spelling, token: int, edge: SlotEdge
    ) -> None:
        if edge.is_guarded_left and self._words.begins_word(token):
            return
        is_word = edge.is_guarded_right and self._words.ends_word(token)
        choices.setdefault(_Key(target, False, is_word), []).append(token)


def _keep(layer: dict[_Key, _Way], key: _Key, way: _Way) -> None:
    if key not in layer or way.score > layer[key].score:
        layer[key] = way
