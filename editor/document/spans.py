"""Spans: which parts of a text are locked, may change, or are fields to fill.

Owns how spans move through edits, which sets of spans are allowed, and the lock rule. Knows no
storage and no engine; offsets are code points, ranges half-open. Invariant: no span is empty.

Growth: text typed at an edge stays outside (so a border stays where it was put, BEHAVIOURS E8),
text typed inside belongs to the span. A field alone also takes what is typed at its end, where
its value is being written. A span whose text is wholly replaced covers the replacement.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from editor.document.changes import Change, ChangeSet
from editor.document.lock_edges import attached_after, attached_before, is_wordlike, reach
from editor.document.text import check_offset, is_grapheme_border
from editor.errors import InvalidInput, InvalidOffset, LockViolation, SpanConflict, TooLarge

__all__ = [
    "MAX_REGION_CODE_POINTS",
    "MAX_SPANS",
    "Span",
    "SpanKind",
    "check_locks",
    "check_locks_near",
    "check_spans",
    "is_touched",
    "locked_ranges",
    "map_spans",
    "span_from_json",
    "span_to_json",
]

SpanKind = Literal["locked", "region", "field"]

MAX_SPANS = 2_000
MAX_REGION_CODE_POINTS = 4_000
MAX_SETTINGS_DEPTH = 8
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


def span_to_json(span: Span) -> dict[str, Any]:
    """Return the form spans have in files, hashes and the store, offsets in code points."""
    return {
        "id": span.id,
        "kind": span.kind,
        "from": span.start,
        "to": span.end,
        "settings": dict(span.settings),
    }


def span_from_json(given: Mapping[str, Any]) -> Span:
    """Read what `span_to_json` wrote. Raises: KeyError for another form."""
    return Span(given["id"], given["kind"], given["from"], given["to"], given["settings"])


def map_spans(
    spans: Iterable[Span], changes: ChangeSet
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return (the spans moved through an edit, the spans it deleted), both in their order."""
    if changes.is_empty:
        return tuple(spans), ()
    first, last = changes.changes[0].start, changes.changes[-1].end
    shift = changes.new_length - changes.length
    kept: list[Span] = []
    deleted: list[Span] = []
    for span in spans:
        if span.end < first:
            kept.append(span)
            continue
        if span.start > last:
            start, end = span.start + shift, span.end + shift
        else:
            start = changes.map_position(span.start, assoc=1)
            end = changes.map_position(span.end, assoc=1 if span.kind == "field" else -1)
        if start < end:
            kept.append(Span(span.id, span.kind, start, end, span.settings))
        else:
            deleted.append(span)
    return tuple(kept), tuple(deleted)


def is_touched(span: Span, changes: ChangeSet) -> bool:
    """Say whether an edit deletes, replaces or inserts inside the span; its edges do not count."""
    # Changes lie in order and apart: of those that begin before the span's end, the last
    # reaches furthest.
    index = bisect_left(changes.changes, span.end, key=lambda change: change.start)
    return index > 0 and changes.changes[index - 1].end > span.start


def locked_ranges(spans: Iterable[Span]) -> tuple[tuple[int, int], ...]:
    """Return what is locked as ranges in order; locks that overlap come as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((s.start, s.end) for s in spans if s.kind == "locked"):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def check_spans(text: str, spans: Sequence[Span], *, known: Collection[Span] = ()) -> None:
    """Accept a whole set of spans for a text.

    Locks may overlap each other (their union is locked) and may lie inside a region or field
    (the scaffold it is refined around); a lock across a border is refused. `known` are spans
    accepted before: their borders are not looked at again, since typing may have moved them.

    Raises: InvalidOffset outside the text, empty, inverted, or inside a grapheme; SpanConflict
    when regions or fields overlap, or a lock reaches over the border of one or covers it whole;
    TooLarge for a region above 4,000 code points or more than 2,000 spans; InvalidInput for ids.
    """
    if len(spans) > MAX_SPANS:
        raise TooLarge(f"the document would have {len(spans):,} spans; the limit is {MAX_SPANS:,}")
    accepted = {span.id: span for span in known}
    seen: set[str] = set()
    for span in spans:
        if span.id in seen:
            raise SpanConflict(f"span id {span.id} is used twice; ids are unique in a document")
        seen.add(span.id)
        if accepted.get(span.id) != span:
            _check_one(text, span)
    _check_overlaps(spans)


def check_locks(text: str, spans: Iterable[Span], changes: ChangeSet) -> None:
    """Accept an edit that leaves every lock whole and its edges apart from what would join them.

    Raises: LockViolation when locked text is deleted or replaced, when text is put inside a
    lock, when a letter or digit comes to stand directly against a locked letter or digit (by
    inserting or by deleting what was between, with or without invisible characters between),
    when a locked number gains a sign, unit, decimals or a range, or when a combining mark is put
    on a locked character.
    """
    locks = locked_ranges(spans)
    starts = [start for start, _ in locks]
    if locks:
        check_locks_near(
            text, changes, lambda start, end: _between(locks, starts, start, end), after=None
        )


def check_locks_near(
    text: str,
    changes: ChangeSet,
    locks_near: Callable[[int, int], Iterable[tuple[int, int]]],
    *,
    after: str | None,
) -> None:
    """As `check_locks`; `locks_near` gives the locks that a range reaches or touches.

    `after` is the text after the edit, if it is known.
    """
    near: set[tuple[int, int]] = set()
    for change in changes.changes:
        # Two visible characters at each side can change what a locked number says: `5` and `.5`.
        for start, end in locks_near(*reach(text, change.start, change.end)):
            if _cuts(change, start, end):
                raise LockViolation(
                    f"the edit of {change.start} to {change.end} touches locked text at "
                    f"{start} to {end}; unlock it first"
                )
            near.add((start, end))
    if near:
        after = changes.apply(text) if after is None else after
        _check_edges(text, after, changes, sorted(near))


def _cuts(change: Change, start: int, end: int) -> bool:
    return change.start < end and change.end > start


def _between(
    locks: Sequence[tuple[int, int]], starts: Sequence[int], start: int, end: int
) -> Iterator[tuple[int, int]]:
    index = bisect_right(starts, end)
    while index > 0 and locks[index - 1][1] >= start:
        index -= 1
        yield locks[index]


def _check_edges(
    text: str, after: str, changes: ChangeSet, locks: Iterable[tuple[int, int]]
) -> None:
    changed_to = {change.end for change in changes.changes}
    changed_from = {change.start for change in changes.changes}
    for start, end in locks:
        new_start = changes.map_position(start, assoc=1)
        new_end = changes.map_position(end, assoc=-1)
        before, after_it = attached_before(after, new_start), attached_after(after, new_end)
        if (
            _joins(before, attached_before(text, start), is_touched=start in changed_to)
            or _joins(after_it, attached_after(text, end), is_touched=end in changed_from)
            or (not is_grapheme_border(after, new_start) and is_grapheme_border(text, start))
            or (not is_grapheme_border(after, new_end) and is_grapheme_border(text, end))
        ):
            raise LockViolation(
                f"the edit would join text onto the locked text at {start} to {end}; "
                "keep a space between, or unlock it first"
            )


def _joins(attached: str | None, earlier: str | None, *, is_touched: bool) -> bool:
    """Say whether an edit put against a lock what was not there, or letters for the same ones."""
    if attached is None:
        return False
    return attached != earlier or (is_touched and is_wordlike(attached))


def _check_one(text: str, span: Span) -> None:
    if not 0 < len(span.id) <= MAX_ID_LENGTH:
        raise InvalidInput(f"a span id has 1 to {MAX_ID_LENGTH} characters, not {len(span.id)}")
    if span.start >= span.end:
        raise InvalidOffset(
            f"the span at {span.start} to {span.end} is empty; its end must lie behind its start"
        )
    check_offset(text, span.start)
    check_offset(text, span.end)
    size = span.end - span.start
    if span.kind != "locked" and size > MAX_REGION_CODE_POINTS:
        raise TooLarge(
            f"the region has {size:,} code points; the limit is {MAX_REGION_CODE_POINTS:,}"
        )
    _check_depth(span.settings, MAX_SETTINGS_DEPTH)
    try:
        size_bytes = len(
            json.dumps(dict(span.settings), allow_nan=False, ensure_ascii=False).encode("utf-8")
        )
    except (TypeError, ValueError) as error:  # UnicodeEncodeError, a lone surrogate, is one
        raise InvalidInput(
            "the settings of a span must be plain JSON: no NaN, no unpaired surrogate"
        ) from error
    if size_bytes > MAX_SETTINGS_BYTES:
        raise TooLarge(
            f"the settings have {size_bytes:,} bytes; the limit is {MAX_SETTINGS_BYTES:,}"
        )


def _check_depth(value: object, left: int) -> None:
    """Refuse nesting that JSON writers and readers give up on. Raises: InvalidInput."""
    if left < 0:
        raise InvalidInput(
            f"the settings of a span are nested deeper than {MAX_SETTINGS_DEPTH} levels"
        )
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            _check_depth(item, left - 1)


def _check_overlaps(spans: Iterable[Span]) -> None:
    spans = sorted(spans, key=lambda span: (span.start, span.end))
    regions = [span for span in spans if span.kind != "locked"]
    for one, other in pairwise(regions):
        if other.start < one.end:
            raise SpanConflict(
                f"the {one.kind} at {one.start} to {one.end} overlaps the {other.kind} at "
                f"{other.start} to {other.end}; regions and fields lie apart"
            )
    ranges = [(region.start, region.end) for region in regions]
    starts = [start for start, _ in ranges]
    for lock in (span for span in spans if span.kind == "locked"):
        for start, end in _between(ranges, starts, lock.start, lock.end):
            is_apart = lock.end <= start or lock.start >= end
            is_inside = start <= lock.start and lock.end <= end
            if not is_apart and (not is_inside or (start, end) == (lock.start, lock.end)):
                raise SpanConflict(
                    f"the lock at {lock.start} to {lock.end} and the region at {start} to {end} "
                    "overlap; a lock lies outside a region or inside it, leaving some of it free"
                )
