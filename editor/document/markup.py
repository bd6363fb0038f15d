"""Markdown that a rewriting must leave alone: targets, paths, code and heading markers (B5).

Owns which characters of a region are structure and not wording. Pure, and linear in the region's
lines. It reads single constructs, not whole documents: what it misses is not protected, what it
finds is certain to be markup.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex  # type: ignore[import-untyped]  # ships no types

from editor.document.blanks import is_blank_marker
from editor.document.spans import Span

__all__ = ["find_markup", "markup_in"]

# Of the lines around a region no more is read: enough for any construct that reaches into it.
REACH_CODE_POINTS = 2_000

# In the order in which one wins over another that overlaps it.
_CODE_BLOCK = regex.compile(
    r"(?m)^ {0,3}(?P<fence>```+|~~~+)[^\n]*\n(?:[^\n]*\n)*?^ {0,3}(?P=fence)[^\n]*$"
)
_CODE = regex.compile(r"(?<!`)(?P<ticks>`+)(?!`)[^\n]{1,500}?(?<!`)(?P=ticks)(?!`)")
_TARGET = (
    r"\]\((?:<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)"
    r"(?:[ ]+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)"
)
_LINK = regex.compile(rf"(?P<open>!?\[)[^\[\]\n]*(?P<target>{_TARGET}|\]\[[^\[\]\n]*\])")
_ADDRESS = regex.compile(
    r"<(?:https?|mailto):[^<>\s]+>|https?://[^\s<>()\[\]]*[^\s<>()\[\].,;:!?'\"]"
)
_HEADING = regex.compile(r"(?m)^ {0,3}#{1,6}[ \t]+")


def find_markup(text: str) -> tuple[tuple[int, int], ...]:
    """Return the ranges of a text that are Markdown structure, in order and apart."""
    found: list[tuple[int, int]] = []
    for start, end in _candidates(text):
        if start < end and not any(start < high and low < end for low, high in found):
            found.append((start, end))
    return tuple(sorted(found))


def markup_in(text: str, region: Span) -> tuple[tuple[int, int], ...]:
    """Return the ranges of `text` inside a region that stay as they are by default.

    None for a blank, and none when the region's setting `lock_markup` is false. A construct that
    reaches over a border is cut to the region.
    """
    start, end = region.start, region.end
    if region.settings.get("lock_markup") is False or is_blank_marker(text[start:end]):
        return ()
    reach_start, reach_end = max(0, start - REACH_CODE_POINTS), end + REACH_CODE_POINTS
    # From a line's beginning, where there is one near: a heading marker stands nowhere else.
    first = text.rfind("\n", reach_start, start) + 1 or reach_start
    last = text.find("\n", end, reach_end)
    lines = text[first : reach_end if last < 0 else last]
    cut = ((max(start, first + low), min(end, first + high)) for low, high in find_markup(lines))
    return tuple((low, high) for low, high in cut if low < high)


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_CODE_BLOCK, _CODE):
        yield from (found.span() for found in pattern.finditer(text))
    for found in _LINK.finditer(text):
        yield found.span("target")
        yield found.span("open")
    for pattern in (_ADDRESS, _HEADING):
        yield from (found.span() for found in pattern.finditer(text))
