"""Finds the blanks a writer left: [___], ___, {{name}}, ***, [MASK].

Owns what counts as a blank; the editor (blanks become regions) and `fill` share it. Knows no
spans. Blanks come in order, do not overlap, and begin and end between graphemes.

What is not a blank: Markdown emphasis (`***bold***`, `___bold___`), a name in code (`a___b`),
a comment's stars (`/*** x ***/`), an escaped run (`\\***`), template logic (`{{#if x}}`), a run
longer than 200 characters (a drawn line), and a thematic break. A line of only `***` or `___`
is ambiguous: between two paragraphs, with an empty line on both sides, it is a break; anywhere
else, such as under a heading or at the end of the text, somebody is to fill it in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from editor.document.text import is_grapheme_border

__all__ = ["Blank", "find_blanks", "is_blank_marker"]

_MARKER = re.compile(
    r"(?P<named>(?<!\{)\{\{[ \t]*(?P<name>[^{}\s#/>!&^][^{}\n]{0,99}?)[ \t]*\}\}(?!\}))"
    r"|(?P<bracket>\[ *_{3,200} *\])"
    r"|(?P<mask>\[MASK\])"
    r"|(?P<run>(?<![*_\\])(?:\*{3,200}|_{3,200})(?![*_]))"
)
# A run alone on its line, with an empty line above and below.
_BREAK = re.compile(r"\n[ \t]*\n[ \t]*(?P<run>\*{3,}|_{3,})[ \t]*(?=\n[ \t]*\n)")
_OPENING_SIGN = re.compile(r"[\"'“‘«(\[]")
_CLOSES = re.compile(r"[\"'”’»)\].,;:!?]|\w")


@dataclass(frozen=True, slots=True)
class Blank:
    """A place to fill: [start, end) in code points holds `marker`; `name` from {{name}}."""

    start: int
    end: int
    marker: str
    name: str | None = None


def find_blanks(text: str) -> tuple[Blank, ...]:
    """Return every blank of the text, in order. The cost is linear in the text."""
    not_blank = _emphasis_runs(text) | _thematic_breaks(text)
    return tuple(
        Blank(found.start(), found.end(), found.group(), _name(found))
        for found in _MARKER.finditer(text)
        if found.start() not in not_blank
        and (found["run"] is None or _stands_alone(text, found))
        and is_grapheme_border(text, found.start())
        and is_grapheme_border(text, found.end())
    )


def is_blank_marker(text: str) -> bool:
    """Say whether the whole text is one marker, so that its words say nothing."""
    return _MARKER.fullmatch(text) is not None


def _name(found: re.Match[str]) -> str | None:
    name: str | None = found["name"]
    return name if name and name.strip("_") else None


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """Stars touch no word and no slash; underscores may touch a word on one side (`___mg`)."""
    before = text[found.start() - 1 : found.start()]
    after = text[found.end() : found.end() + 1]
    if found["run"][0] == "*":
        return not any(sign == "/" or sign.isalnum() for sign in (before, after))
    return not (before.isalnum() and after.isalnum())


def _thematic_breaks(text: str) -> set[int]:
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    found = (match.span("run") for match in _BREAK.finditer(text))
    return {start for start, end in found if first < start and end < last}


def _emphasis_runs(text: str) -> set[int]:
    """Return where runs begin that open or close Markdown emphasis on their own line.

    A pair is two runs of the same characters: the first directly before a word or an opening
    sign and not behind a letter, the second directly behind a word or a closing sign.
    """
    emphasis: set[int] = set()
    opened: re.Match[str] | None = None
    for found in _MARKER.finditer(text):
        if found["run"] is None:
            continue
        if opened is not None and _closes(text, opened, found):
            emphasis |= {opened.start(), found.start()}
            opened = None
        else:
            opened = found if _opens(text, found) else None
    return emphasis


def _opens(text: str, found: re.Match[str]) -> bool:
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if not before or before.isspace():
        return after.isalnum() or _OPENING_SIGN.match(after) is not None
    return after.isalnum() and _OPENING_SIGN.match(before) is not None


def _closes(text: str, opened: re.Match[str], found: re.Match[str]) -> bool:
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    return (
        opened.group() == found.group()
        and _CLOSES.match(before) is not None
        and not after.isalnum()
        and "\n" not in text[opened.end() : found.start()]
    )
