"""Turns UTF-16 code units into code points and back. The only place that does.

Browsers count UTF-16; Python and the database count code points. They differ behind every
character above U+FFFF, which is two units. An offset between those two is refused.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from editor.errors import InvalidOffset

__all__ = ["OffsetMap", "lengths_to_code_points", "lengths_to_utf16"]

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class OffsetMap:
    """Both ways between the offsets of one text.

    Built once in O(n); a look-up costs O(log k) for k characters above U+FFFF, O(1) for none.
    """

    __slots__ = ("_astral", "_astral_units", "length", "utf16_length")

    def __init__(self, text: str) -> None:
        self._astral = [] if text.isascii() else [found.start() for found in _ASTRAL.finditer(text)]
        self._astral_units = [start + count for count, start in enumerate(self._astral)]
        self.length = len(text)
        self.utf16_length = len(text) + len(self._astral)

    def to_utf16(self, offset: int) -> int:
        """Return the UTF-16 offset of a code point offset in [0, length].

        Raises: InvalidOffset outside the text.
        """
        if not 0 <= offset <= self.length:
            raise InvalidOffset(
                f"offset {offset} is outside the text; allowed is 0 to {self.length}"
            )
        return offset + bisect_left(self._astral, offset)

    def to_code_points(self, offset: int) -> int:
        """Return the code point offset of a UTF-16 offset in [0, utf16_length].

        Raises: InvalidOffset outside the text or inside a surrogate pair.
        """
        if not 0 <= offset <= self.utf16_length:
            raise InvalidOffset(
                f"UTF-16 offset {offset} is outside the text; allowed is 0 to {self.utf16_length}"
            )
        count = bisect_left(self._astral_units, offset)
        if count and self._astral_units[count - 1] == offset - 1:
            raise InvalidOffset(f"UTF-16 offset {offset} splits a surrogate pair")
        return offset - count


def lengths_to_code_points(text: str, lengths: Iterable[int]) -> list[int]:
    """Return the lengths of consecutive stretches of the text, given in UTF-16, in code points.

    One pass in C, for change sets: cheaper than a map when each text is used once.
    Raises: InvalidOffset when a stretch ends inside a surrogate pair or behind the text, or the
    stretches do not cover it.
    """
    units = text.encode("utf-16-le")
    result: list[int] = []
    position = 0
    for length in lengths:
        end = position + 2 * length
        try:
            result.append(len(units[position:end].decode("utf-16-le")))
        except UnicodeDecodeError as error:
            raise InvalidOffset(f"UTF-16 offset {end // 2} splits a surrogate pair") from error
        position = end
    if position != len(units):
        raise InvalidOffset(
            f"the stretches cover {position // 2} UTF-16 units; the text has {len(units) // 2}"
        )
    return result


def lengths_to_utf16(text: str, lengths: Iterable[int]) -> list[int]:
    """Return the lengths of consecutive stretches of the text, given in code points, in UTF-16."""
    result: list[int] = []
    position = 0
    for length in lengths:
        stretch = text[position : position + length]
        result.append(len(stretch) if stretch.isascii() else len(stretch.encode("utf-16-le")) // 2)
        position += length
    return result
