"""Word files: one paragraph per line, headings as Markdown headings, tables as tabbed lines."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator

import docx
from docx.document import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from docx.text.paragraph import Paragraph

from editor.errors import InvalidText, TooLarge

__all__ = ["read_docx", "write_docx"]

_MAX_UNPACKED_BYTES = 128 * 1024 * 1024
_HEADING = re.compile(r"(#{1,6}) (.*)")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def write_docx(text: str, *, title: str) -> bytes:
    """Return a Word file. Characters that XML cannot hold appear as U+FFFD."""
    document = docx.Document()
    document.core_properties.title = _NOT_XML.sub("\ufffd", title)[:255]
    document.core_properties.author = ""
    for line in _NOT_XML.sub("\ufffd", text).removesuffix("\n").split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading:
            document.add_heading(heading[2], level=len(heading[1]))
        else:
            document.add_paragraph(line)
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def read_docx(raw: bytes) -> str:
    """Return the file's text. Raises: InvalidText when it is no Word file, TooLarge."""
    try:
        _check_size(raw)
        document = docx.Document(io.BytesIO(raw))
        lines = list(_lines(document))
    except (zipfile.BadZipFile, PackageNotFoundError, KeyError, ValueError, SyntaxError) as error:
        raise InvalidText("the file is not a Word document (.docx)") from error
    text = "\n".join(lines)
    return text + "\n" if text else ""


def _check_size(raw: bytes) -> None:
    """Refuse a file that unpacks to far more than it weighs, before unpacking it."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size_bytes = sum(entry.file_size for entry in archive.infolist())
    if size_bytes > _MAX_UNPACKED_BYTES:
        raise TooLarge(
            f"the file unpacks to {size_bytes} bytes; the limit is {_MAX_UNPACKED_BYTES}"
        )


def _lines(document: Document) -> Iterator[str]:
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            yield from _table_lines(block)
        else:
            yield _paragraph_line(block)


def _table_lines(table: Table) -> Iterator[str]:
    for row in table.rows:
        yield "\t".join(cell.text.replace("\n", " ") for cell in row.cells)


def _paragraph_line(paragraph: Paragraph) -> str:
    style = paragraph.style.name if paragraph.style is not None else None
    level = re.fullmatch(r"Heading ([1-6])", style or "")
    if level:
        return f"{'#' * int(level[1])} {paragraph.text}"
    return paragraph.text
