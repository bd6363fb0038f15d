"""Finds a small edit between two texts, word by word, and around text that must stay.

Owns the comparison behind restore and accept: whatever did not change keeps its place, its
spans and its caret, and locked text that both versions share is not touched. Knows no spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import regex  # type: ignore[import-untyped]  # ships no types

from editor.document.changes import ChangeSet, Section

__all__ = [
    "PartKind",
    "TextPart",
    "align_around",
    "compare_texts",
    "find_changes",
    "find_changes_around",
]

PartKind = Literal["kept", "removed", "added"]

_LINES = regex.compile(r"[^\n]*\n|[^\n]+")
# A word with its marks, or one grapheme: a cut never splits a character.
_WORDS = regex.compile(r"[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*|\X")

# difflib is quadratic in the worst case; longer stretches are replaced whole.
MAX_TOKENS = 2_000


@dataclass(frozen=True, slots=True)
class TextPart:
    """A stretch of one comparison: in both texts, in the old one only, or in the new one only."""

    kind: PartKind
    text: str


def compare_texts(old: str, new: str) -> list[TextPart]:
    """Return what was kept, removed and added, word by word and in order; no part is empty."""
    parts: list[TextPart] = []
    position = 0
    for length, inserted in find_changes(old, new).sections:
        stretch = old[position : position + length]
        if stretch:
            parts.append(TextPart("kept" if inserted is None else "removed", stretch))
        if inserted:
            parts.append(TextPart("added", inserted))
        position += length
    return parts


def find_changes(old: str, new: str) -> ChangeSet:
    """Return an edit that turns `old` into `new`: equal lines stay, then equal words in others."""
    sections: list[Section] = []
    for old_lines, new_lines in _compare(_LINES.findall(old), _LINES.findall(new)):
        if old_lines == new_lines:
            sections.append((len(old_lines), None))
            continue
        for old_words, new_words in _compare(_WORDS.findall(old_lines), _WORDS.findall(new_lines)):
            sections.append((len(old_words), None if old_words == new_words else new_words))
    return ChangeSet.of(sections)


def find_changes_around(old: str, new: str, kept: Sequence[tuple[int, int]]) -> ChangeSet | None:
    """Return an edit that turns `old` into `new` and leaves the `kept` ranges of `old` alone.

    None when `new` does not hold their texts in this order.
    """
    stretches = align_around(old, new, kept)
    if stretches is None:
        return None
    return ChangeSet.of(
        [
            section
            for old_stretch, new_stretch in stretches
            for section in find_changes(old_stretch, new_stretch).sections
        ]
    )


def align_around(
    old: str, new: str, kept: Sequence[tuple[int, int]]
) -> list[tuple[str, str]] | None:
    """Return (old, new) stretches in order, in which each `kept` range of `old` is one of its own.

    `kept` ranges lie in order and apart. None when `new` does not hold their texts in this order.
    """
    stretches: list[tuple[str, str]] = []
    old_position = new_position = 0
    for start, end in kept:
        found = _find_apart(new, old[start:end], new_position)
        if found < 0:
            return None
        stretches.append((old[old_position:start], new[new_position:found]))
        stretches.append((old[start:end], old[start:end]))
        old_position, new_position = end, found + end - start
    stretches.append((old[old_position:], new[new_position:]))
    return stretches


def _find_apart(text: str, wanted: str, start: int) -> int:
    """Return where `wanted` stands on its own, else where it stands at all, else -1.

    The lock `5` is looked for in `15 or 5` at the end, since `15` would join onto it.
    """
    first = found = text.find(wanted, start)
    while found >= 0:
        end = found + len(wanted)
        before, after = text[max(found - 1, 0) : found], text[end : end + 1]
        is_joined_before = before.isalnum() and wanted[0].isalnum()
        is_joined_after = after.isalnum() and wanted[-1].isalnum()
        if not is_joined_before and not is_joined_after:
            return found
        found = text.find(wanted, found + 1)
    return first


def _compare(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (old, new) stretches in order; equal ones are the same text twice."""
    prefix = _count_equal(old, new)
    suffix = _count_equal(old[prefix:][::-1], new[prefix:][::-1])
    if prefix:
        yield "".join(old[:prefix]), "".join(new[:prefix])
    old_end, new_end = len(old) - suffix, len(new) - suffix
    old_middle, new_middle = old[prefix:old_end], new[prefix:new_end]
    if len(old_middle) > MAX_TOKENS or len(new_middle) > MAX_TOKENS:
        yield "".join(old_middle), "".join(new_middle)
    else:
        matcher = SequenceMatcher(None, old_middle, new_middle, autojunk=False)
        for _, a, b, c, d in matcher.get_opcodes():
            yield "".join(old_middle[a:b]), "".join(new_middle[c:d])
    if suffix:
        yield "".join(old[old_end:]), "".join(new[new_end:])


def _count_equal(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
