"""Spans: which parts of a text are locked, may change, or are fields to fill.

Owns how spans move through edits, which sets of spans are allowed, and the lock rule. Knows no
storage and no engine; offsets are code points, ranges half-open. Invariant: no span is empty.

Growth: text typed at an edge stays outside (so a border stays where it was put, BEHAVIOURS E8),
text typed inside belongs to the span. A field alone also takes what is typed at its end, where
its value is being written. A span whose text is wholly replaced covers the replacement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from editor.document.changes import ChangeSet

__all__ = [
    "MAX_REGION_CODE_POINTS",
    "MAX_SPANS",
    "Span",
    "SpanKind",
    "check_locks",
    "check_spans",
    "is_touched",
    "locked_ranges",
    "map_spans",
]

SpanKind = Literal["locked", "region", "field"]

MAX_SPANS = 2_000
MAX_REGION_CODE_POINTS = 4_000
MAX_SETTINGS_BYTES = 4_096
MAX_ID_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Span:
    """A range [start, end) with a meaning. `settings` is plain JSON, treated as immutable.

    A region may set `blank`, `name`, `strength` (0..1), `length` (tokens) and `constraints`;
    a field also `label`, `choices`, `required` and `default`.
    """

    id: str
    kind: SpanKind
    start: int
    end: int
    settings: Mapping[str, Any] = field(default_factory=dict)


def map_spans(
    spans: Iterable[Span], changes: ChangeSet
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return (the spans moved through an edit, the spans it deleted), both in their order.

    Cost: one walk over the sections for each span that moves.
    """
    raise NotImplementedError


def is_touched(span: Span, changes: ChangeSet) -> bool:
    """Say whether an edit deletes, replaces or inserts inside the span; its edges do not count."""
    raise NotImplementedError


def locked_ranges(spans: Iterable[Span]) -> tuple[tuple[int, int], ...]:
    """Return what is locked as ranges in order; locks that overlap or touch come as one."""
    raise NotImplementedError


def check_spans(text: str, spans: Sequence[Span]) -> None:
    """Accept a whole set of spans for a text.

    Locks may overlap each other (their union is locked) and may lie inside a region or field
    (the scaffold it is refined around); a lock across a border is refused.

    Raises: InvalidOffset outside the text, empty, inverted, or inside a grapheme; SpanConflict
    when regions or fields overlap, or a lock reaches over the border of one or covers it whole;
    TooLarge for a region above 4,000 code points or more than 2,000 spans; InvalidInput for ids.
    """
    raise NotImplementedError


def check_locks(text: str, spans: Iterable[Span], changes: ChangeSet) -> None:
    """Accept an edit that leaves every lock whole and its edges apart from letters and digits.

    Raises: LockViolation when locked text is deleted or replaced, when text is put inside a
    lock, when a letter or digit comes to stand directly against a locked letter or digit (by
    inserting or by deleting what was between), when a locked number gains decimals, or when a
    combining mark is put on a locked character.
    """
    raise NotImplementedError
