"""Spans on their way through many edits of one batch.

Owns the fast form of `map_spans`, `is_touched` and the look-up of locks near a change: offsets
lie in arrays, so an edit costs a few vector operations and the few spans it meets. One by one, a
thousand edits kept offline would walk a thousand times over all spans. Invariant: every answer is
the one that `editor.document.spans` gives (tests hold both together).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from editor.document.changes import ChangeSet
from editor.document.spans import Span, is_touched

__all__ = ["MovingSpans"]


class MovingSpans:
    """All spans of a text that is being edited."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans: list[Span] = list(spans)  # their offsets are those of the beginning
        self._starts = np.array([span.start for span in spans], dtype=np.int64)
        self._ends = np.array([span.end for span in spans], dtype=np.int64)
        self._is_locked = np.array([span.kind == "locked" for span in spans], dtype=bool)
        self._is_there = np.ones(len(spans), dtype=bool)
        self.touched: set[str] = set()  # ids of regions and fields, and of all that was deleted

    def locks_near(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the locks that reach into [start, end] or touch it; overlapping ones singly."""
        for index in np.nonzero(self._meets(start, end) & self._is_locked)[0]:
            yield int(self._starts[index]), int(self._ends[index])

    def move(self, changes: ChangeSet) -> None:
        """Move all spans through an edit, and note which regions and fields it touched."""
        if changes.is_empty:
            return
        first, last = changes.changes[0].start, changes.changes[-1].end
        met = [int(index) for index in np.nonzero(self._meets(first, last))[0]]
        places = {index: self._moved(index, changes) for index in met}
        touched = [
            self._spans[index].id
            for index in met
            if self._is_touched(index, changes, places[index])
        ]
        is_behind = self._starts > last
        shift = changes.new_length - changes.length
        self._starts[is_behind] += shift
        self._ends[is_behind] += shift
        for index, (start, end) in places.items():
            self._starts[index], self._ends[index] = start, end
            if start >= end:
                self._is_there[index] = False
                self.touched.add(self._spans[index].id)
        self.touched.update(touched)

    def spans(self) -> tuple[Span, ...]:
        """Return the spans that are left, where they are now, in their order."""
        return tuple(
            span
            if (span.start, span.end) == (start, end)
            else replace(span, start=int(start), end=int(end))
            for span, start, end, is_there in zip(
                self._spans, self._starts, self._ends, self._is_there, strict=True
            )
            if is_there
        )

    def _meets(self, start: int, end: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        meets: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
            self._is_there & (self._starts <= end) & (self._ends >= start)
        )
        return meets

    def _moved(self, index: int, changes: ChangeSet) -> tuple[int, int]:
        assoc = 1 if self._spans[index].kind == "field" else -1
        return (
            changes.map_position(int(self._starts[index]), assoc=1),
            changes.map_position(int(self._ends[index]), assoc=assoc),
        )

    def _is_touched(self, index: int, changes: ChangeSet, place: tuple[int, int]) -> bool:
        """Say whether a region or field was edited inside; a field also grows at its end."""
        if self._is_locked[index]:
            return False
        start, end = int(self._starts[index]), int(self._ends[index])
        has_grown = place[0] < place[1] and place[1] - place[0] != end - start
        return has_grown or is_touched(Span("", "region", start, end), changes)
