"""When a part gets more slots than the lengths that were tried.

Pure over the canvas. A blank whose length nobody told, and behind which no sentence goes on, may
be longer than the longest canvas: where that one is the best, is full, and stops in
mid-sentence, its text goes on in more slots. PAD ends it again, as it ends any other. Source:
ALGORITHMS section 6; published for code: DreamOn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.canvas.canvas import Canvas
from engine.canvas.parts import Part
from engine.canvas.slots import SlotState
from engine.sampling.vocabulary import CLOSING, Vocabulary

__all__ = ["MAX_GROWTH", "find_room", "plan_growth"]

MAX_GROWTH = 16  # slots in all
GROWTH = 8  # slots at a time


@dataclass(frozen=True, slots=True)
class More:
    """So many more slots for a part."""

    part: int
    num_slots: int


def find_room(text: str, part: Part, starts: frozenset[int]) -> int:
    """Return how many slots a part may grow by; other parts begin at `starts`."""
    is_bound = part.is_constrained or bool(part.suffix) or part.is_guarded_right
    if part.original is not None or part.length is not None or is_bound:
        return 0
    at = part.right_cut
    while text[at : at + 1] == " ":
        at += 1
    behind = text[at : at + 1]
    goes_on = behind.islower() or (behind != "" and behind in CLOSING)
    return 0 if goes_on or at in starts else MAX_GROWTH


def plan_growth(
    canvas: Canvas,
    rows: Mapping[int, int],
    words: Vocabulary,
    *,
    longest: Sequence[int],
    rooms: Sequence[int],
) -> list[More]:
    """Return what is to grow of a canvas without masks.

    `rows` has the candidate to look at for a part, `longest` [P] the longest canvas tried.
    """
    found = []
    for part, row in rows.items():
        tried, room = longest[part], rooms[part]
        size = int(canvas.lengths[row, part])
        left = tried + room - size
        if left <= 0 or size < tried:
            continue
        last = int(canvas.tokens[row, part, size - 1])
        is_full = int(canvas.state[row, part, size - 1]) == SlotState.TOKEN
        if is_full and not words.may_precede_sentence(last):
            found.append(More(part, min(GROWTH, left)))
    return found
