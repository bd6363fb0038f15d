"""What stands directly against a locked text and changes what it says: `15`, `-5`, `5%` for `5`.

Owns which signs join onto a number and how invisible characters are looked through. Pure. A
space keeps things apart; format and control characters do not, since nobody sees them. Only the
number is guarded, not the sign: a locked `$` or `mg` is there for a number to be put beside it.
"""

from __future__ import annotations

import unicodedata

__all__ = ["attached_after", "attached_before", "is_invisible", "is_wordlike", "reach"]

_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d")
_SIGNS = _DASHES | frozenset("+±∓~≈<>≤≥^×÷√")
_UNITS = frozenset("%‰‱°′″+±×÷^")
_POINTS = frozenset(".,:'’·٫٬")  # inside a number only if a digit stands on both sides
_SLASHES = frozenset("/\u2044\u2215")
_KEPT_CONTROLS = frozenset("\n\t")


def is_invisible(sign: str) -> bool:
    """Say whether nobody sees this character: format characters and controls."""
    category = unicodedata.category(sign)
    return category == "Cf" or (category == "Cc" and sign not in _KEPT_CONTROLS)


def is_wordlike(sign: str) -> bool:
    """Say whether this is a letter, a digit or a mark."""
    return sign.isalnum() or unicodedata.category(sign)[0] == "M"


def reach(text: str, start: int, end: int, *, num_visible: int = 2) -> tuple[int, int]:
    """Widen [start, end) by so many visible characters on each side, or to the text's ends."""
    left = num_visible
    while start > 0 and left:
        start -= 1
        left -= not is_invisible(text[start])
    left = num_visible
    while end < len(text) and left:
        left -= not is_invisible(text[end])
        end += 1
    return start, end


def attached_after(text: str, offset: int) -> str | None:
    """Return what stands behind `offset` and belongs to the word or number that ends there."""
    inner, outer = _before(text, offset), _after(text, offset)
    if not inner or not outer:
        return None
    last, first, second = inner[0], outer[0], outer[1] if len(outer) > 1 else " "
    if is_wordlike(last) and is_wordlike(first):
        return first
    if last.isnumeric():
        return first + second if _goes_on(first, second) else None
    is_number = len(inner) > 1 and inner[1].isnumeric() and last in _POINTS | _SLASHES | _DASHES
    return first if is_number and first.isnumeric() else None  # 5. and 0


def attached_before(text: str, offset: int) -> str | None:
    """Return what stands before `offset` and belongs to the word or number that begins there."""
    inner, outer = _after(text, offset), _before(text, offset)
    if not inner or not outer:
        return None
    first, last, second = inner[0], outer[0], outer[1] if len(outer) > 1 else " "
    if is_wordlike(first) and is_wordlike(last):
        return last
    if first.isnumeric():
        return second + last if _leads_in(second, last) else None
    is_signed = len(inner) > 1 and inner[1].isnumeric() and (_is_sign(first) or first in _POINTS)
    return last if is_signed and (last.isnumeric() or _is_sign(last)) else None  # 1 and -5


def _goes_on(first: str, second: str) -> bool:
    """Say whether a number goes on with these two characters behind it."""
    if first in _UNITS or _is_currency(first):
        return True
    if first in _POINTS:
        return second.isnumeric()
    return first in _DASHES | _SLASHES and is_wordlike(second)


def _leads_in(second: str, last: str) -> bool:
    """Say whether a number begins earlier, with these two characters before it."""
    if _is_sign(last):
        return True
    if last in _SLASHES:
        return is_wordlike(second)
    if last in _POINTS:
        # "end.5" is a sentence without its space, ".5" is a half
        return second.isnumeric() or (last in ".٫" and not is_wordlike(second))
    return False


def _is_sign(sign: str) -> bool:
    return sign in _SIGNS or _is_currency(sign)


def _is_currency(sign: str) -> bool:
    return unicodedata.category(sign) == "Sc"


def _before(text: str, offset: int) -> list[str]:
    """Return up to two visible characters before `offset`, the nearest first."""
    start, _ = reach(text, offset, offset)
    return [sign for sign in reversed(text[start:offset]) if not is_invisible(sign)]


def _after(text: str, offset: int) -> list[str]:
    """Return up to two visible characters behind `offset`, the nearest first."""
    _, end = reach(text, offset, offset)
    return [sign for sign in text[offset:end] if not is_invisible(sign)]
