"""What a document's text may be, and where it may be cut.

Owns the rules every text obeys at every entrance: line ends are "\\n", no NUL, no unpaired
surrogate, a stated greatest length. Offsets are code points; a *border* is an offset between
two graphemes (UAX 29). Knows nothing of spans, changes or storage.
"""

from __future__ import annotations

import hashlib
import re

import regex  # type: ignore[import-untyped]  # ships no types

from editor.errors import InvalidOffset, InvalidText, TooLarge

__all__ = [
    "check_offset",
    "check_text",
    "is_grapheme_border",
    "is_typing_border",
    "normalise_line_ends",
    "text_hash",
]

_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
_GRAPHEME = regex.compile(r"\X")

# A border surely lies before such a code point, unless a Prepend (or, for a syllable, a leading
# jamo) stands before it: no rule of UAX 29 looks further back from it.
_SURE_START = regex.compile(
    r"(?V1)(?<!\p{GCB=Prepend})[\p{GCB=Other}--\p{ExtPict}--\p{InCB=Consonant}]"
    r"|(?<![\p{GCB=Prepend}\p{GCB=L}])[\p{GCB=LV}\p{GCB=LVT}]"
)
# Offsets inside a grapheme at which people do type: before a combining mark (Backspace removes
# the mark alone), inside a conjunct after its virama, and between jamo.
_TYPING_BORDER = regex.compile(
    r"(?V1)(?=[\p{M}\p{GCB=SpacingMark}--\p{VS}--\u20e3])|(?<=\p{InCB=Linker})(?=\p{InCB=Consonant})"
    r"|(?=[\p{GCB=L}\p{GCB=V}\p{GCB=T}\p{GCB=LV}\p{GCB=LVT}])"
)


def normalise_line_ends(text: str) -> str:
    """Turn every "\\r\\n" and "\\r" into "\\n"."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def check_text(text: str, *, limit: int) -> None:
    """Accept a text that can be stored and sent as it is; `limit` is in code points.

    Raises: InvalidText for NUL, "\\r" or an unpaired surrogate; TooLarge above the limit.
    """
    if len(text) > limit:
        raise TooLarge(f"the text has {len(text):,} code points; the limit is {limit:,}")
    if found := _UNUSABLE.search(text):
        what = "NUL" if found.group() == "\x00" else "an unpaired surrogate"
        raise InvalidText(f"the text has {what} at code point {found.start()}; none is allowed")
    if "\r" in text:
        position = text.index("\r")
        raise InvalidText(f'the text has "\\r" at code point {position}; line ends are "\\n"')


def is_grapheme_border(text: str, offset: int) -> bool:
    """Say whether `offset`, in [0, len(text)], lies between two graphemes.

    Looks only as far back as the nearest sure border, so the cost does not grow with the text.

    Source: Unicode UAX 29 as `regex` implements \\X.
    """
    if offset == 0 or offset == len(text):
        return True
    before, after = text[offset - 1], text[offset]
    if before < "\x7f" and after < "\x7f":
        return not (before == "\r" and after == "\n")
    start = offset
    while start > 0 and not _SURE_START.match(text, start):
        start -= 1
    if start == offset:
        return True
    while start < offset:
        found = _GRAPHEME.match(text, start)
        assert found is not None, "\\X matches at every offset before the end"
        start = found.end()
    return start == offset


def is_typing_border(text: str, offset: int) -> bool:
    """Say whether an edit may begin or end at `offset`: a grapheme border, or inside a grapheme
    where keyboards and input methods of marks, conjuncts and jamo do cut it.

    Never inside an emoji sequence or a flag. Without this, Backspace over one vowel sign would
    be refused, and what was typed could not be saved (BEHAVIOURS A1 before E9).
    """
    return is_grapheme_border(text, offset) or _TYPING_BORDER.match(text, offset) is not None


def check_offset(text: str, offset: int) -> None:
    """Accept an offset inside the text that does not split a grapheme.

    Raises: InvalidOffset.
    """
    if not 0 <= offset <= len(text):
        raise InvalidOffset(f"offset {offset} is outside the text; allowed is 0 to {len(text)}")
    if not is_grapheme_border(text, offset):
        raise InvalidOffset(f"offset {offset} splits a grapheme; move it to the character's edge")


def text_hash(text: str) -> str:
    """Return the SHA-256 of the text in UTF-8, as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
