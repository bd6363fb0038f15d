"""From text and parts to windows of tokens: contexts, positions, anchors.

Owns how text around parts becomes context tokens, and which parts share a window. It must
not know what is sampled. Locked and context text is only ever *read* here: the result is
spliced from the original string elsewhere (`engine.canvas.splice`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.canvas.parts import MAX_PART_TOKENS, Part
from engine.canvas.slots import OPENING_TOKEN, TextCodec

__all__ = ["Replacement", "Window", "group_parts", "lay_out_window", "render"]

MAX_GAP_CODE_POINTS = 320  # parts further apart get windows of their own
MAX_WINDOW_PARTS = 4
CODE_POINTS_PER_TOKEN = 8  # generous, so that a slice holds at least the budget
RIGHT_DIVISOR = 2  # text behind a region tells less than text before it, and costs as much
OPEN_BLANK = "..."  # what a blank that is not filled yet looks like to other windows
SENTENCE_START = re.compile(r"(?<=[.!?])\s+(?=\S)|\n+(?=\S)")
SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


@dataclass(frozen=True, slots=True)
class Replacement:
    """What stands for [start, end) of the text when it is context of another window."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Window:
    """Parts denoised jointly, P of them, and the context tokens they share.

    Context positions run through the parts as if each were `widths[p]` slots wide, so that
    canvases of different lengths share one encoded context.
    """

    parts: tuple[Part, ...]
    widths: tuple[int, ...]
    anchors: tuple[int, ...]  # the token before each part
    bases: tuple[int, ...]  # canvas position of each part's first slot
    left: tuple[int, ...]  # context tokens before the first part, never empty
    runs: tuple[tuple[int, ...], ...]  # context tokens after each part, up to the next

    @property
    def tokens(self) -> list[int]:
        """All context tokens in order."""
        return [*self.left, *(token for run in self.runs for token in run)]

    @property
    def positions(self) -> list[int]:
        """The canvas position of each context token."""
        positions = list(range(len(self.left)))
        for base, width, run in zip(self.bases, self.widths, self.runs, strict=True):
            positions.extend(range(base + width, base + width + len(run)))
        return positions


def group_parts(parts: Sequence[Part], widths: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Share out part indices over windows: near neighbours together, in text order.

    Parts with nothing between them are kept apart, because a part needs a known token
    before it. Parts of one constrained region stay together whatever lies between them.
    """
    groups: list[list[int]] = []
    for index, part in enumerate(parts):
        is_bound = index > 0 and part.is_constrained and parts[index - 1].region == part.region
        if is_bound or (groups and _can_join(groups[-1], index, part, parts, widths)):
            groups[-1].append(index)
        else:
            groups.append([index])
    return tuple(tuple(group) for group in groups)


def lay_out_window(
    text: str,
    parts: Sequence[Part],
    widths: Sequence[int],
    *,
    codec: TextCodec,
    budget: int,
    brief: str = "",
    replaced: Sequence[Replacement] = (),
) -> Window:
    """Tokenise the text around `parts`: at most `budget` context tokens before, half behind.

    The outer contexts are cut at whole sentences where that costs less than a third of the
    budget, else at whole words. `replaced` stands for parts of other windows.
    """
    reach = budget * CODE_POINTS_PER_TOKEN
    first, last = parts[0], parts[-1]
    before = render(text, max(0, first.left_cut - reach), first.left_cut, replaced)
    after = render(text, last.right_cut, min(len(text), last.right_cut + reach), replaced)
    # The brief is cut first: text beside the region tells more than a remark about it.
    brief_tokens = codec.encode(brief.strip() + "\n\n")[: budget // 2] if brief.strip() else []
    left = brief_tokens + _last_tokens(before, budget - len(brief_tokens), codec)
    left = left or [OPENING_TOKEN]
    runs = [
        codec.encode(render(text, part.right_cut, following.left_cut, replaced))
        for part, following in itertools.pairwise(parts)
    ]
    runs.append(_first_tokens(after, budget // RIGHT_DIVISOR, codec))
    anchors, bases, position, previous = [], [], len(left), left
    for run, width in zip(runs, widths, strict=True):
        anchors.append(previous[-1])
        bases.append(position)
        position += width + len(run)
        previous = run
    return Window(
        parts=tuple(parts),
        widths=tuple(widths),
        anchors=tuple(anchors),
        bases=tuple(bases),
        left=tuple(left),
        runs=tuple(tuple(run) for run in runs),
    )


def _can_join(
    group: list[int], index: int, part: Part, parts: Sequence[Part], widths: Sequence[int]
) -> bool:
    gap = part.left_cut - parts[group[-1]].right_cut
    slots = sum(widths[member] for member in group) + widths[index]
    return (
        0 < gap <= MAX_GAP_CODE_POINTS
        and len(group) < MAX_WINDOW_PARTS
        and slots <= MAX_PART_TOKENS
    )


def render(text: str, start: int, end: int, replaced: Sequence[Replacement]) -> str:
    """Return text[start:end] with replacements; one that straddles an end is there wholly."""
    pieces, position = [], start
    for item in replaced:
        if item.end <= position or item.start >= end:
            continue
        if item.start > position:
            pieces.append(text[position : item.start])
        pieces.append(item.text)
        position = item.end
    pieces.append(text[position:end] if position < end else "")
    # Line ends are "\n" for the model, whatever the text has.
    return "".join(pieces).replace("\r\n", "\n")


def _last_tokens(text: str, budget: int, codec: TextCodec) -> list[int]:
    tokens = codec.encode(text)
    if len(tokens) <= budget:
        return tokens
    kept = codec.decode(tokens[len(tokens) - budget :])
    start = next(
        (match.end() for match in SENTENCE_START.finditer(kept) if match.end() < len(kept) // 3),
        None,
    )
    if start is None:
        space = re.search(r"\s", kept)
        start = space.start() if space else 0
    return codec.encode(text[len(text) - len(kept) + start :])[-budget:]


def _first_tokens(text: str, budget: int, codec: TextCodec) -> list[int]:
    tokens = codec.encode(text)
    if len(tokens) <= budget:
        return tokens
    kept = codec.decode(tokens[:budget])
    ends = [match.end() for match in SENTENCE_END.finditer(kept) if match.end() > len(kept) * 2 / 3]
    end = ends[-1] if ends else max(kept.rfind(" "), 1)
    return codec.encode(text[:end])[:budget]
