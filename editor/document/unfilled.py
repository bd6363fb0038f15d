"""What keeps a document from being final: blanks, placeholders, required fields, mask glyphs.

Owns when a place counts as filled (BEHAVIOURS H1 to H3, H9). Drafts need none of this. Pure;
places are told by their offsets and never by their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import regex  # type: ignore[import-untyped]  # ships no types

from editor.document.blanks import find_blanks
from editor.document.spans import Span

__all__ = ["Unfilled", "UnfilledReason", "find_unfilled", "has_placeholder"]

UnfilledReason = Literal["blank", "field", "default", "glyph"]

# What the engine draws for an unknown position, and the tokens models use for one.
_GLYPHS = regex.compile(r"[\u2591\u2592\u2593]+|\[MASK\]|<mask>|<\|mask(?:ed)?\|>")
# "None of the above" is an answer, "none" in a required field is not.
_NOTHING = frozenset((
    "", "-", "--", "–", "—", "?", "...", "…", "n/a", "na", "n.a.", "none", "nil", "null", "tbd",
    "todo", "unknown", "xxx",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unfilled:
    """One place [start, end) that is not filled; `span_id` if it is a region or field."""

    start: int
    end: int
    reason: UnfilledReason
    span_id: str | None = None


def find_unfilled(text: str, spans: Iterable[Span]) -> tuple[Unfilled, ...]:
    """Return every place that is not filled, in the order of the text.

    A blank marker or mask glyph anywhere; a required field that says nothing ("field"), or still
    says its default, which nobody confirmed ("default").
    """
    marked = [span for span in spans if span.kind != "locked"]
    found = [
        Unfilled(blank.start, blank.end, "blank", _span_at(marked, blank.start, blank.end))
        for blank in find_blanks(text)
    ]
    taken = [(one.start, one.end) for one in found]
    for glyph in _GLYPHS.finditer(text):
        if not _overlaps(glyph.start(), glyph.end(), taken):
            span_id = _span_at(marked, glyph.start(), glyph.end())
            found.append(Unfilled(glyph.start(), glyph.end(), "glyph", span_id))
    taken = [(one.start, one.end) for one in found]
    for span in marked:
        reason = _field_reason(text, span)
        if reason is not None and not _overlaps(span.start, span.end, taken):
            found.append(Unfilled(span.start, span.end, reason, span.id))
    return tuple(sorted(found, key=lambda one: (one.start, one.end)))


def has_placeholder(line: str) -> bool:
    """Say whether a title holds a blank or a mask glyph."""
    return bool(find_blanks(line)) or _GLYPHS.search(line) is not None


def _field_reason(text: str, span: Span) -> UnfilledReason | None:
    if span.kind != "field" or span.settings.get("required") is not True:
        return None
    value = text[span.start : span.end].strip()
    if value.casefold() in _NOTHING:
        return "field"
    default = span.settings.get("default")
    return "default" if isinstance(default, str) and value == default.strip() else None


def _span_at(spans: Sequence[Span], start: int, end: int) -> str | None:
    return next((span.id for span in spans if span.start < end and start < span.end), None)


def _overlaps(start: int, end: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start < high and low < end for low, high in ranges)
