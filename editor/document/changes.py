"""Change sets: what an edit does to a text, as an immutable value in code points.

Owns CodeMirror's ChangeSet algebra and its JSON form ([n] deletes, n keeps, [n, "line", ...]
replaces), ported section by section so that browser and server agree on every tie. Knows no
spans, no offsets in UTF-16 and no storage. Invariants: no section is void, no two neighbours
both keep or both delete, lengths of text and change set always match.

Source: @codemirror/state 6.7.6, class ChangeSet (MIT).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from editor.document.text import check_text, is_typing_border
from editor.errors import InvalidChange, TooLarge

__all__ = ["Change", "ChangeSet", "Section", "check_change", "compose_all", "replace"]

MAX_SECTIONS = 100_000
MAX_LENGTH = 10_000_000  # no text is longer; a larger number in JSON is an attack or a mistake

# (code points of the old text, what replaces them); None keeps them.
Section = tuple[int, str | None]


@dataclass(frozen=True, slots=True)
class Change:
    """One changed range: [start, end) of the old text became `inserted` at `new_start`."""

    start: int
    end: int
    new_start: int
    inserted: str

    @property
    def new_end(self) -> int:
        return self.new_start + len(self.inserted)


@dataclass(frozen=True)
class ChangeSet:
    """An edit of a text of exactly `length` code points."""

    sections: tuple[Section, ...]

    @staticmethod
    def of(sections: Sequence[Section]) -> ChangeSet:
        """Build from sections in any form; neighbours that can be one are joined."""
        builder: list[Section] = []
        for length, inserted in sections:
            _add(builder, length, inserted)
        return ChangeSet(tuple(builder))

    @staticmethod
    def empty(length: int) -> ChangeSet:
        """Return the edit that changes nothing of a text of `length` code points."""
        return ChangeSet(((length, None),) if length else ())

    @staticmethod
    def from_json(json: object) -> ChangeSet:
        """Read CodeMirror's form, counted in code points.

        Raises: InvalidChange naming the section that is not of this form; TooLarge.
        """
        if not isinstance(json, list):
            raise InvalidChange("a change set is a list of sections; this is not a list")
        if len(json) > MAX_SECTIONS:
            raise TooLarge(
                f"the change set has {len(json):,} sections; the limit is {MAX_SECTIONS:,}"
            )
        return ChangeSet.of([_read_section(part, index) for index, part in enumerate(json)])

    def to_json(self) -> list[Any]:
        """Return CodeMirror's form, counted in code points."""
        return [
            length if inserted is None else [length, *(inserted.split("\n") if inserted else ())]
            for length, inserted in self.sections
        ]

    @cached_property
    def length(self) -> int:
        """Code points of the text before."""
        return sum(length for length, _ in self.sections)

    @cached_property
    def new_length(self) -> int:
        """Code points of the text after."""
        return sum(
            length if inserted is None else len(inserted) for length, inserted in self.sections
        )

    @property
    def is_empty(self) -> bool:
        """True when nothing changes."""
        return all(inserted is None for _, inserted in self.sections)

    def apply(self, text: str) -> str:
        """Return the text after the change. Raises: InvalidChange when lengths differ."""
        _check_lengths("the text", len(text), self.length)
        parts: list[str] = []
        position = 0
        for length, inserted in self.sections:
            parts.append(text[position : position + length] if inserted is None else inserted)
            position += length
        return "".join(parts)

    def invert(self, text: str) -> ChangeSet:
        """Return the edit that leads back to `text`, the text before this change."""
        _check_lengths("the text", len(text), self.length)
        sections: list[Section] = []
        position = 0
        for length, inserted in self.sections:
            if inserted is None:
                sections.append((length, None))
            else:
                sections.append((len(inserted), text[position : position + length]))
            position += length
        return ChangeSet(tuple(sections))

    def compose(self, other: ChangeSet) -> ChangeSet:
        """Return the one edit that does this and then `other`. Raises: InvalidChange."""
        _check_lengths("the second change set", other.length, self.new_length)
        if self.is_empty:
            return other
        return self if other.is_empty else _compose(self, other)

    def map_over(self, other: ChangeSet, *, before: bool = False) -> ChangeSet:
        """Return this edit for the text after `other`, both made for the same text.

        `before` orders insertions at the same place: True puts this one's first. For all a, b:
        a.compose(b.map_over(a)) and b.compose(a.map_over(b, before=True)) give the same text.
        CodeMirror calls this `map`. Raises: InvalidChange.
        """
        _check_lengths("the other change set", other.length, self.length)
        return self if other.is_empty else _map(self, other, before=before)

    def map_position(self, position: int, *, assoc: int = -1) -> int:
        """Return where an offset of the old text lies in the new one.

        `assoc` < 0 stays before text inserted at that place, > 0 goes behind it.
        Cost: O(log sections) after the first look-up. Raises: InvalidChange outside the old text.
        """
        ends, starts = self._borders
        if not 0 <= position <= self.length:
            raise InvalidChange(f"position {position} is outside the text of {self.length}")
        index = bisect_right(ends, position)
        if assoc < 0:
            # An insertion that ends where it begins, at this very place, is not passed.
            for earlier in range(bisect_left(ends, position), index):
                length, inserted = self.sections[earlier]
                if inserted is not None and not length:
                    return starts[earlier]
        if index == len(ends):
            return self.new_length
        length, inserted = self.sections[index]
        old_start = ends[index] - length
        if inserted is None:
            return starts[index] + position - old_start
        is_before = position == old_start or assoc < 0
        return starts[index] + (0 if is_before else len(inserted))

    @cached_property
    def _borders(self) -> tuple[list[int], list[int]]:
        """Where each section ends in the old text, and begins in the new one."""
        ends: list[int] = []
        starts: list[int] = []
        old = new = 0
        for length, inserted in self.sections:
            old += length
            ends.append(old)
            starts.append(new)
            new += length if inserted is None else len(inserted)
        return ends, starts

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The changed ranges in order; ranges that touch come as one."""
        return tuple(self._iterate_changes())

    def _iterate_changes(self) -> Iterator[Change]:
        sections = self.sections
        old = new = index = 0
        while index < len(sections):
            length, inserted = sections[index]
            index += 1
            if inserted is None:
                old, new = old + length, new + length
                continue
            end, texts = old + length, [inserted]
            while index < len(sections) and sections[index][1] is not None:
                end += sections[index][0]
                texts.append(sections[index][1] or "")
                index += 1
            text = "".join(texts)
            yield Change(old, end, new, text)
            old, new = end, new + len(text)


def replace(length: int, start: int, end: int, text: str) -> ChangeSet:
    """Return the edit of a text of `length` code points that puts `text` for [start, end).

    Raises: InvalidChange when the range is inverted or outside.
    """
    if not 0 <= start <= end <= length:
        raise InvalidChange(
            f"range {start} to {end} does not lie in a text of {length} code points"
        )
    return ChangeSet.of([(start, None), (end - start, text), (length - end, None)])


def compose_all(edits: Sequence[ChangeSet], *, length: int) -> ChangeSet:
    """Return the one edit that does all of `edits` in turn to a text of `length` code points.

    Neighbours are composed first, then pairs of pairs: one after the other, a thousand small
    edits would each walk through all before them. Raises: InvalidChange.
    """
    composed = list(edits) or [ChangeSet.empty(length)]
    while len(composed) > 1:
        pairs = [
            one.compose(other) for one, other in zip(composed[::2], composed[1::2], strict=False)
        ]
        composed = pairs + composed[len(composed) & ~1 :]
    return composed[0]


def check_change(text: str, changes: ChangeSet, *, limit: int) -> str:
    """Return the text after a change that came from outside; `limit` is in code points.

    Raises: InvalidChange when the lengths differ or a range begins or ends inside a character
    that cannot be cut (`is_typing_border`); InvalidText; TooLarge.
    """
    _check_lengths("the text", len(text), changes.length)
    if changes.new_length > limit:
        raise TooLarge(
            f"the text would have {changes.new_length:,} code points; the limit is {limit:,}"
        )
    for change in changes.changes:
        for offset in {change.start, change.end}:
            if not is_typing_border(text, offset):
                raise InvalidChange(f"offset {offset} splits a grapheme; move it to the edge")
        check_text(change.inserted, limit=limit)
    return changes.apply(text)


def _check_lengths(what: str, given: int, expected: int) -> None:
    if given != expected:
        raise InvalidChange(f"{what} has length {given}; the change set fits {expected}")


def _read_section(part: object, index: int) -> Section:
    numbers = part[:1] if isinstance(part, list) else [part]
    length = numbers[0] if numbers else None
    if not isinstance(length, int) or isinstance(length, bool) or not 0 <= length <= MAX_LENGTH:
        raise InvalidChange(
            f"section {index} must begin with a whole number of 0 to {MAX_LENGTH:,}"
        )
    if not isinstance(part, list):
        return length, None
    lines = part[1:]
    if not all(isinstance(line, str) and "\n" not in line and "\r" not in line for line in lines):
        raise InvalidChange(f"section {index} must hold lines of text without line ends")
    return length, "\n".join(lines)


def _add(sections: list[Section], length: int, inserted: str | None, *, join: bool = False) -> None:
    if length == 0 and not inserted:
        return
    if not sections:
        sections.append((length, inserted))
        return
    last_length, last_inserted = sections[-1]
    if not inserted and inserted == last_inserted:
        sections[-1] = (last_length + length, last_inserted)
    elif (length == 0 and last_length == 0) or join:
        sections[-1] = (last_length + length, (last_inserted or "") + (inserted or ""))
    else:
        sections.append((length, inserted))


class _Cursor:
    """Walks the sections of a change set in pieces. `length` and `inserted` are what is left."""

    __slots__ = ("index", "inserted", "is_done", "length", "offset", "sections")

    def __init__(self, changes: ChangeSet) -> None:
        self.sections = changes.sections
        self.index = 0
        self.next()

    def next(self) -> None:
        self.offset = 0
        self.is_done = self.index >= len(self.sections)
        if self.is_done:
            self.length, self.inserted = 0, None
        else:
            self.length, self.inserted = self.sections[self.index]
            self.index += 1

    @property
    def is_change(self) -> bool:
        return self.inserted is not None

    @property
    def new_left(self) -> int:
        """Code points left of what this section leaves behind."""
        return self.length if self.inserted is None else len(self.inserted) - self.offset

    def forward(self, length: int) -> None:
        """Move on by code points of the old text."""
        if length == self.length:
            self.next()
        else:
            self.length -= length
            self.offset += length

    def forward_written(self, length: int) -> None:
        """Move on by code points of the new text."""
        if self.inserted is None:
            self.forward(length)
        elif length == self.new_left:
            self.next()
        else:
            self.offset += length


def _compose(first: ChangeSet, second: ChangeSet) -> ChangeSet:
    sections: list[Section] = []
    a, b = _Cursor(first), _Cursor(second)
    is_open = False  # the last section written is still being added to
    while not (a.is_done and b.is_done):
        if a.inserted == "":
            _add(sections, a.length, "", join=is_open)
            a.next()
        elif b.length == 0 and not b.is_done:
            _add(sections, 0, b.inserted, join=is_open)
            b.next()
        else:
            is_open = _compose_piece(sections, a, b, is_open=is_open)
    return ChangeSet(tuple(sections))


def _compose_piece(sections: list[Section], a: _Cursor, b: _Cursor, *, is_open: bool) -> bool:
    length, count = min(a.new_left, b.length), len(sections)
    of_b = None if b.inserted is None else ("" if b.offset else b.inserted)
    if a.inserted is None:
        _add(sections, length, of_b, join=is_open)
    elif b.inserted is None:
        kept = a.inserted[a.offset : a.offset + length]
        _add(sections, 0 if a.offset else a.length, kept, join=is_open)
    else:
        _add(sections, 0 if a.offset else a.length, of_b, join=is_open)
    goes_on = (a.is_change and a.new_left > length) or (b.is_change and b.length > length)
    is_open = goes_on and (is_open or len(sections) > count)
    a.forward_written(length)
    b.forward(length)
    return is_open


def _map(changes: ChangeSet, over: ChangeSet, *, before: bool) -> ChangeSet:
    sections: list[Section] = []
    a, b = _Cursor(changes), _Cursor(over)
    written = -1  # index of the section of `a` whose insertion is already in the result
    while not (a.is_done and b.is_done):
        is_b_first = b.is_change and (
            not a.is_change
            or written == a.index
            or (a.offset == 0 and (b.length < a.length or (b.length == a.length and not before)))
        )
        if not a.is_change and not b.is_change:
            length = min(a.length, b.length)
            _add(sections, length, None)
            a.forward(length)
            b.forward(length)
        elif is_b_first:
            written = _skip_change(sections, a, b, written)
        else:
            written = _place_change(sections, a, b, written)
    return ChangeSet(tuple(sections))


def _skip_change(sections: list[Section], a: _Cursor, b: _Cursor, written: int) -> int:
    """Pass over a change of `b`; a change of `a` that it swallows keeps only its insertion."""
    _add(sections, len(b.inserted or ""), None)
    left = b.length
    while left:
        piece = min(a.length, left)
        if a.is_change and written < a.index and a.length <= piece:
            _add(sections, 0, a.inserted)
            written = a.index
        a.forward(piece)
        left -= piece
    b.next()
    return written


def _place_change(sections: list[Section], a: _Cursor, b: _Cursor, written: int) -> int:
    """Write a change of `a` up to the next change of `b` that inserts or reaches beyond it."""
    length, left = 0, a.length
    while left:
        if not b.is_change:
            piece = min(left, b.length)
            length += piece
            left -= piece
            b.forward(piece)
        elif b.inserted == "" and b.length < left:
            left -= b.length
            b.next()
        else:
            break
    _add(sections, length, a.inserted if written < a.index else "")
    written = a.index
    a.forward(a.length - left)
    return written
