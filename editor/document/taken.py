"""Regions that an accept made plain text, until an undo or a person brings their blank back.

Owns how such regions move through edits and when they return. Pure. A blank that was filled is
text like any other: nothing refines it again. Its marker in its old place makes it a blank again,
with the id and the settings it had.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from editor.document.changes import ChangeSet
from editor.document.revisions import TakenSpan
from editor.document.spans import Span

__all__ = ["MAX_TAKEN", "move_taken", "return_taken"]

MAX_TAKEN = 256  # the oldest are forgotten first


def move_taken(taken: Iterable[TakenSpan], changes: ChangeSet) -> tuple[TakenSpan, ...]:
    """Return the taken regions where they are after an edit, with all that now stands there."""
    return tuple(
        replace(
            one,
            span=replace(
                one.span,
                start=changes.map_position(one.span.start, assoc=-1),
                end=changes.map_position(one.span.end, assoc=1),
            ),
        )
        for one in taken
    )


def return_taken(
    taken: Iterable[TakenSpan], text: str, spans: Iterable[Span]
) -> tuple[tuple[TakenSpan, ...], tuple[Span, ...]]:
    """Return (those still taken, the regions that are back): where the original stands again.

    A region does not come back over another region or field, or under a name in use.
    """
    spans = tuple(spans)
    left: list[TakenSpan] = []
    back: list[Span] = []
    for one in taken:
        span = one.span
        if text[span.start : span.end] != one.original:
            left.append(one)
        elif not any(_is_in_the_way(other, span) for other in (*spans, *back)):
            back.append(span)
    return tuple(left), tuple(back)


def _is_in_the_way(other: Span, span: Span) -> bool:
    return other.id == span.id or (other.start < span.end and span.start < other.end)
