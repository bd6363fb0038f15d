"""Which tokens may stand in a slot: the text's edges, spacing, line breaks, repeats.

Turns what surrounds a masked slot into bans on its logits before anything is chosen, so that
every choice, greedy or sampled, is already a possible one. Knows canvas and vocabulary, no
model and no schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.canvas.canvas import Canvas
from engine.canvas.layout import Window
from engine.canvas.parts import Part
from engine.canvas.slots import OPENING_TOKEN, SlotState
from engine.sampling.vocabulary import Vocabulary

__all__ = ["BANNED", "Admissible", "PartEdges"]

SENTENCE_END_BIAS = -4.0  # nats; not a ban: "Dr. Smith" and "3.5 mg" hold a stop too
USED_BIAS = -1.5  # nats; for words of earlier fills, or every blank of a form reads alike
USED_LETTERS = 4  # shorter words are grammar
SHORT_BIAS = -4.0  # nats; for PAD that leaves no more words than the next shorter canvas holds
DANGLING_BIAS = -4.0  # nats; before a closing mark, as above
BANNED = -1e9  # finite, so that p * log p of a banned token is 0 and not a nan


@dataclass(frozen=True, slots=True)
class PartEdges:
    """What a part's first and last token must respect."""

    part: Part
    anchor: int | None  # the token before, None where the text starts
    following: int | None  # the token after, None where the text ends
    allows_pad: bool
    allows_empty: bool
    bias: Tensor  # float32 [V + 1], 0 or BANNED: bans that hold in every slot


class Admissible:
    """Bans for every masked slot of a window's canvases."""

    def __init__(
        self,
        window: Window,
        vocabulary: Vocabulary,
        *,
        has_pad: bool,
        used: frozenset[int] = frozenset(),
        lengths: Sequence[Sequence[int]] = (),
    ) -> None:
        """`used` holds the tokens of the job's earlier fills, `lengths` [P] the canvases tried."""
        self.vocabulary = vocabulary
        self._lengths = lengths
        self._used = [t for t in sorted(used) if len(vocabulary.word(t)) >= USED_LETTERS]
        self.edges = tuple(
            self._shape_edges(window, index, has_pad) for index in range(len(window.parts))
        )

    def apply(self, logits: Tensor, canvas: Canvas, candidates: list[int]) -> Tensor:
        """Return logits [N, V + 1] of the candidates' masked slots, row-major, with bans."""
        row = 0
        for candidate in candidates:
            for index, edges in enumerate(self.edges):
                states = canvas.state[candidate, index].tolist()
                tokens = canvas.tokens[candidate, index].tolist()
                num_masked = states.count(SlotState.MASK)
                floor = self._floor(index, len(states) - states.count(SlotState.ABSENT))
                if num_masked:
                    logits[row : row + num_masked] += edges.bias
                for slot, state in enumerate(states):
                    if state == SlotState.MASK:
                        self._ban(logits[row], edges, slot, states, tokens)
                        if slot <= floor:
                            logits[row, self.vocabulary.pad] += SHORT_BIAS
                        row += 1
        assert row == logits.shape[0], "one row of logits for every masked slot"
        return logits

    def visible_bias(self, canvas: Canvas, place: tuple[int, int, int]) -> Tensor:
        """Return the bias [V + 1] of what else could stand at a visible place (c, p, s)."""
        candidate, index, slot = place
        states = canvas.state[candidate, index].tolist()
        row = self.edges[index].bias.clone()
        self._ban(row, self.edges[index], slot, states, canvas.tokens[candidate, index].tolist())
        return row

    def causal_bias(self, index: int, slot: int, left: int | None) -> Tensor:
        """Return the bias [V + 1] of slot `slot` of a part written from left to right."""
        row = self.edges[index].bias.clone()
        states = [int(SlotState.TOKEN)] * slot + [int(SlotState.MASK)] * 2
        tokens = [0] * (slot + 2)
        if left is not None:
            tokens[slot - 1] = left
        self._ban(row, self.edges[index], slot, states, tokens)
        row[self.vocabulary.pad] = BANNED
        return row

    def may_end(self, index: int, last: int) -> bool:
        """Whether a fill of a part without suffix may end with token `last`."""
        row = torch.zeros(self.vocabulary.size + 1, device=self.vocabulary.device)
        self._ban_at_end(row, self.edges[index])
        return float(row[last]) > DANGLING_BIAS

    def ends_well(self, index: int, last: int) -> bool:
        """Whether PAD may follow token `last` of a part: what stands behind it then joins on."""
        return self._ends_well(self.edges[index], last)

    def _floor(self, index: int, num_slots: int) -> int:
        """The words a canvas should keep: those of the next shorter one, or its own where none is.

        PAD tells lengths between two canvases apart. A shorter canvas is a better judge of what
        it holds itself, and a length that was asked for is not to be undone by PAD.
        """
        if not self._lengths or self.edges[index].part.original is not None:
            return -1
        tried = self._lengths[index]
        return max((length for length in tried if length < num_slots), default=num_slots)

    def _ban(
        self, row: Tensor, edges: PartEdges, slot: int, states: list[int], tokens: list[int]
    ) -> None:
        left_is_known = slot > 0 and states[slot - 1] == SlotState.TOKEN
        left = tokens[slot - 1] if left_is_known else None
        ends_here = slot + 1 == len(states) or states[slot + 1] in (
            SlotState.PAD,
            SlotState.ABSENT,
        )
        if slot == 0:
            self._ban_at_start(row, edges)
        elif left is not None:
            self._ban_beside(row, left, is_left=True)
        if ends_here:
            self._ban_at_end(row, edges)
        elif states[slot + 1] == SlotState.TOKEN:
            self._ban_beside(row, tokens[slot + 1], is_left=False)
        if not self._may_pad(edges, slot, left):
            row[self.vocabulary.pad] = BANNED

    def _ban_at_start(self, row: Tensor, edges: PartEdges) -> None:
        words = self.vocabulary
        if edges.part.prefix:
            row.masked_fill_(~words.starting_with(edges.part.prefix) & ~_only(row), BANNED)
        elif edges.anchor is None or words.is_space_last(edges.anchor):
            row.masked_fill_(words.starts_space, BANNED)
        if edges.anchor is None and not edges.part.prefix:
            row.masked_fill_(words.starts_closing, BANNED)  # nothing stands there to be closed
        if edges.part.is_guarded_left:
            row.masked_fill_(words.starts_alnum, BANNED)
        if edges.anchor is not None and not edges.part.prefix:
            self._ban_beside(row, edges.anchor, is_left=True)

    def _ban_at_end(self, row: Tensor, edges: PartEdges) -> None:
        words = self.vocabulary
        if edges.part.suffix:
            row.masked_fill_(~words.ending_with(edges.part.suffix) & ~_only(row), BANNED)
            return
        if edges.part.is_guarded_right:
            row.masked_fill_(words.ends_alnum, BANNED)
        else:
            row.masked_fill_(words.ends_space, BANNED)
        if edges.following is not None:
            if words.is_closing_first(edges.following):
                row.masked_fill_(words.ends_closing, BANNED)
                row[words.dangles] += DANGLING_BIAS
            self._ban_beside(row, edges.following, is_left=False)

    def _ban_beside(self, row: Tensor, neighbour: int, *, is_left: bool) -> None:
        words = self.vocabulary
        if is_left and words.is_space_last(neighbour):
            row.masked_fill_(words.starts_space, BANNED)
        if not is_left and words.is_space_first(neighbour):
            row.masked_fill_(words.ends_space, BANNED)
        if words.word(neighbour):
            row[neighbour] = BANNED
        if is_left and words.opens_blank(neighbour):
            row.masked_fill_(words.starting_with(b"_"), BANNED)
        doubled = words.doubled_after(neighbour) if is_left else words.doubled_before(neighbour)
        if doubled:
            same = words.starting_with(doubled) if is_left else words.ending_with(doubled)
            row.masked_fill_(same, BANNED)

    def _may_pad(self, edges: PartEdges, slot: int, left: int | None) -> bool:
        """PAD must leave a fair ending; that it stays a tail, `proposals` sees to."""
        if not edges.allows_pad or (slot == 0 and not edges.allows_empty):
            return False
        return left is None or self._ends_well(edges, left)

    def _ends_well(self, edges: PartEdges, last: int) -> bool:
        words, following = self.vocabulary, edges.following
        if following is not None:
            if words.clash(last, following):
                return False
            if words.is_closing_first(following) and words.is_closing_last(last):
                return False
        if edges.part.is_guarded_right:
            return not words.ends_word(last)
        return not words.is_space_last(last)

    def _shape_edges(self, window: Window, index: int, has_pad: bool) -> PartEdges:
        part, words, run = window.parts[index], self.vocabulary, window.runs[index]
        banned = words.never
        if part.is_inline:
            banned = banned | words.line_break | words.inner_space
        if not self._needs_partial(window):
            banned = banned | words.partial
        bias = torch.zeros(words.size + 1, device=words.device)
        if part.original is None and self._is_within_sentence(window, index):
            bias.masked_fill_(words.ends_sentence, SENTENCE_END_BIAS)
        if part.original is None:
            bias[self._used] += USED_BIAS
        bias.masked_fill_(banned, BANNED)
        anchor = window.anchors[index]
        is_open = anchor == OPENING_TOKEN and index == 0 and len(window.left) == 1
        return PartEdges(
            part=part,
            anchor=None if is_open else anchor,
            following=run[0] if run else None,
            allows_pad=has_pad and not part.suffix,
            # Words are rewritten, not dropped; only what holds none may come out empty.
            allows_empty=part.original is not None and not part.has_words and not part.prefix,
            bias=bias,
        )

    def _is_within_sentence(self, window: Window, index: int) -> bool:
        """Whether a blank is a piece of a sentence: it began before or goes on behind."""
        run, words = window.runs[index], self.vocabulary
        if not window.parts[index].is_inline:
            return False
        goes_on = bool(run) and words.continues_sentence(run[0])
        return goes_on or not words.may_precede_sentence(window.anchors[index])

    def _needs_partial(self, window: Window) -> bool:
        """Tokens that are pieces of a character are for texts that are written with them."""
        tokens = window.tokens
        pieces = sum(1 for token in tokens if self.vocabulary.is_partial(token))
        return pieces * 20 > len(tokens)


def _only(row: Tensor) -> Tensor:
    """The PAD column, which edge rules leave to `_may_pad`."""
    keep = torch.zeros_like(row, dtype=torch.bool)
    keep[-1] = True
    return keep
