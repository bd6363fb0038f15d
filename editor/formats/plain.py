"""Bytes of a text file to text, and back. Line ends come in as "\\n"."""

from __future__ import annotations

import codecs

from editor.errors import InvalidText

__all__ = ["read_plain", "write_plain"]

_MARKED = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_plain(raw: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark. Raises: InvalidText."""
    encoding = next((name for mark, name in _MARKED if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise InvalidText(
            f"the file is not {encoding.upper()} text: byte {error.start} does not fit; "
            "save it as UTF-8"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_plain(text: str) -> bytes:
    """Return UTF-8 with "\\n" line ends."""
    return text.encode("utf-8")
