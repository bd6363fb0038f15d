"""Documents in and out of files: which format a file has, what an export is called.

Pure: bytes and states in, bytes and texts out. The JSON form is the only one that carries spans,
history and origins; text in any of them is the accepted text, never a suggestion.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, get_args
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from editor.document.provenance import OriginKind, OriginRun
from editor.document.revisions import Revision
from editor.document.spans import Span, SpanKind, span_to_json
from editor.document.text import text_hash
from editor.document.unfilled import find_unfilled, has_placeholder
from editor.errors import InvalidInput, Unfinished, UnsupportedFormat
from editor.formats.docx import read_docx, write_docx
from editor.formats.html import read_html, write_html
from editor.formats.plain import read_plain, write_plain

__all__ = [
    "ExportFormat",
    "Exported",
    "Imported",
    "check_final",
    "export_document",
    "import_file",
]

ExportFormat = Literal["txt", "md", "html", "docx", "json"]
FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
JSON_FORM = "tideline-document-1"
MAX_LISTED = 20

_MEDIA_TYPES: dict[ExportFormat, str] = {
    "txt": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "json": "application/json",
}
_SUFFIXES: dict[str, ExportFormat] = {
    **{name: name for name in FORMATS},
    "text": "txt",
    "markdown": "md",
    "htm": "html",
}


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file holds. `spans` is None when the format cannot say; blanks become regions then.

    `origins` is None when the file does not say where its characters came from.
    """

    title: str
    text: str
    spans: tuple[Span, ...] | None = None
    origins: tuple[OriginRun, ...] | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """A file to hand out."""

    body: bytes
    media_type: str
    filename: str

    @property
    def content_disposition(self) -> str:
        """Header value for a download; the name in ASCII and, by RFC 5987, in full."""
        ascii_name = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_"
                             for c in self.filename)  # fmt: skip
        return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(self.filename)}"


@dataclass(frozen=True, slots=True)
class Exportable:
    """A document as it stands. History and origins are for the JSON form; others need none."""

    id: str
    title: str
    text: str
    version: int
    spans: Sequence[Span]
    revisions: Sequence[Revision] = ()
    origins: Sequence[OriginRun] = ()


def import_file(raw: bytes, *, filename: str = "", form: str = "") -> Imported:
    """Read a file by `form` (an export format) or else by its name's ending; plain text if none.

    Raises: UnsupportedFormat, InvalidText, InvalidInput, TooLarge.
    """
    path = PurePosixPath(filename.replace("\\", "/"))
    ending = (form or path.suffix.removeprefix(".")).lower() or "txt"
    known = _SUFFIXES.get(ending)
    if known is None:
        raise UnsupportedFormat(
            f"a file of this kind cannot be read; allowed: {', '.join(FORMATS)}"
        )
    if known == "json":
        return _read_json(raw)
    readers: dict[str, Callable[[bytes], str]] = {"html": read_html, "docx": read_docx}
    return Imported(title=path.stem, text=readers.get(known, read_plain)(raw))


def check_final(document: Exportable) -> None:
    """Accept a document with nothing left to fill.

    Raises: Unfinished listing the places by their offsets and lines, up to twenty.
    """
    places = [
        f"{unfilled.reason} at {unfilled.start} to {unfilled.end} "
        f"(line {document.text.count(chr(10), 0, unfilled.start) + 1})"
        for unfilled in find_unfilled(document.text, document.spans)
    ]
    if has_placeholder(document.title):
        places.append("blank in the title")
    if places:
        listed = "; ".join(places[:MAX_LISTED])
        more = f"; and {len(places) - MAX_LISTED} more" if len(places) > MAX_LISTED else ""
        raise Unfinished(f"{len(places)} places are not filled: {listed}{more}")


def export_document(document: Exportable, form: str) -> Exported:
    """Write the accepted text in one of the formats. Raises: UnsupportedFormat."""
    known = _SUFFIXES.get(form.lower())
    if known is None:
        raise UnsupportedFormat(f"this format cannot be written; allowed: {', '.join(FORMATS)}")
    writers: dict[ExportFormat, Callable[[], bytes]] = {
        "txt": lambda: write_plain(document.text),
        "md": lambda: write_plain(document.text),
        "html": lambda: write_html(document.text, title=document.title),
        "docx": lambda: write_docx(document.text, title=document.title),
        "json": lambda: _write_json(document),
    }
    return Exported(writers[known](), _MEDIA_TYPES[known], f"{_file_stem(document.title)}.{known}")


class _SpanJson(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    id: str = Field(min_length=1, max_length=64)
    kind: SpanKind
    start: int = Field(alias="from", ge=0)
    end: int = Field(alias="to", ge=0)
    settings: dict[str, Any] = Field(default_factory=dict)


class _OriginJson(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    start: int = Field(alias="from", ge=0)
    end: int = Field(alias="to", ge=0)
    origin: OriginKind
    run_id: str | None = Field(default=None, min_length=1, max_length=64)


class _DocumentJson(BaseModel):
    format: Literal["tideline-document-1"]
    title: str = ""
    text: str
    hash: str
    spans: list[_SpanJson] = Field(default_factory=list)
    provenance: list[_OriginJson] | None = None


def _read_json(raw: bytes) -> Imported:
    try:
        document = _DocumentJson.model_validate_json(raw)
    except ValidationError as error:
        places = ", ".join(".".join(map(str, fault["loc"])) or "file" for fault in error.errors())
        raise InvalidInput(
            f"the file is not a document exported as JSON; it fails at: {places}"
        ) from error
    if text_hash(document.text) != document.hash:
        raise InvalidInput("the file's text does not have the file's hash; it was changed or cut")
    spans = tuple(Span(s.id, s.kind, s.start, s.end, s.settings) for s in document.spans)
    origins = None
    if document.provenance is not None:
        origins = tuple(OriginRun(o.start, o.end, o.origin, o.run_id) for o in document.provenance)
    return Imported(document.title, document.text, spans, origins)


def _write_json(document: Exportable) -> bytes:
    written = {
        "format": JSON_FORM,
        "id": document.id,
        "title": document.title,
        "text": document.text,
        "version": document.version,
        "hash": text_hash(document.text),
        "spans": [span_to_json(span) for span in document.spans],
        "provenance": [
            {"from": run.start, "to": run.end, "origin": run.kind}
            | ({} if run.run_id is None else {"run_id": run.run_id})
            for run in document.origins
        ],
        "revisions": [
            {
                "n": revision.n,
                "parent": revision.parent,
                "version": revision.version,
                "author_kind": revision.author_kind,
                "summary": revision.summary,
                "created_at": revision.created_at,
                "changes": revision.changes.to_json(),
                "text_hash": revision.text_hash,
                "hash": revision.hash,
                "form": revision.form,
                "name": revision.name,
                "marks": None if revision.marks is None else revision.marks.to_json(),
            }
            for revision in document.revisions
        ],
    }
    return json.dumps(written, ensure_ascii=False, indent=1).encode("utf-8")


def _file_stem(title: str) -> str:
    kept = "".join(c if c.isprintable() and c not in '/\\:*?"<>|' else " " for c in title)
    return " ".join(kept.split()).strip(". ")[:80] or "document"
