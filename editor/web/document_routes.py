"""REST: documents, spans, revisions, export and import. Offsets are code points."""

from __future__ import annotations

import asyncio
import base64
import binascii
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import ValidationError
from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import Response

from editor.document.creation import NewDocument
from editor.document.differences import compare_texts
from editor.document.spans import Span
from editor.document.unfilled import find_unfilled
from editor.errors import InvalidInput, InvalidText
from editor.hub import commands
from editor.hub.hub import new_id
from editor.services.documents import (
    Exportable,
    Imported,
    check_final,
    export_document,
    import_file,
)
from editor.services.history import provenance_at, read_earlier, read_provenance
from editor.store import documents as store
from editor.store import log as edit_log
from editor.web.errors import ErrorBody, from_validation
from editor.web.schemas import (
    ComparisonOut,
    DocumentIn,
    DocumentList,
    DocumentOut,
    DocumentSummary,
    ImportIn,
    NameVersionIn,
    OriginRunOut,
    ProvenanceOut,
    RestoreIn,
    RevisionList,
    RevisionOut,
    RevisionSummary,
    SpanIn,
    SpanOut,
    SpansIn,
    SpansOut,
    TitleIn,
    UnfilledOut,
)
from editor.web.services import Services, find_services

__all__ = ["router"]

Answers = dict[int | str, dict[str, Any]]
REFUSED: Answers = {"default": {"model": ErrorBody, "description": "Refused; nothing was changed."}}

router = APIRouter(prefix="/api", tags=["documents"], responses=REFUSED)
Found = Annotated[Services, Depends(find_services)]
DocumentId = Annotated[str, Path(max_length=64, description="Id of the document.")]


@router.get("/documents", summary="All documents")
async def list_documents(services: Found) -> DocumentList:
    """List titles, versions and times, the last changed first."""
    rows = await services.database.read(store.list_documents)
    return DocumentList(documents=[DocumentSummary.of(row) for row in rows])


@router.post("/documents", status_code=201, summary="Create a document")
async def create_document(body: DocumentIn, services: Found) -> DocumentOut:
    """Store a new document with revision 0; its blanks become regions unless spans are given."""
    spans = None if body.spans is None else tuple(_new_span(span) for span in body.spans)
    state = await services.hub.create(NewDocument(body.text, body.title, spans))
    return DocumentOut.of(state)


@router.get("/documents/{document_id}", summary="One document")
async def show_document(document_id: DocumentId, services: Found) -> DocumentOut:
    """Return the accepted text at the newest version, with its spans."""
    async with services.hub.room(document_id) as room:
        return DocumentOut.of(room.state)


@router.patch("/documents/{document_id}", summary="Rename a document")
async def rename_document(document_id: DocumentId, body: TitleIn, services: Found) -> DocumentOut:
    """Change the title; open browsers are told."""
    async with services.hub.room(document_id) as room:
        await room.execute(commands.RenameDocument(body.title))
        return DocumentOut.of(room.state)


@router.delete("/documents/{document_id}", status_code=204, summary="Delete a document")
async def delete_document(document_id: DocumentId, services: Found) -> Response:
    """Remove the document with its whole history; only hashes and times stay."""
    await services.hub.delete(document_id)
    return Response(status_code=204)


@router.put("/documents/{document_id}/spans", summary="Set all spans")
async def replace_spans(
    document_id: DocumentId, body: SpansIn | list[SpanIn], services: Found
) -> SpansOut:
    """Put these spans for all there are, whole or not at all; a bare list is taken as `spans`."""
    asked = SpansIn(spans=body) if isinstance(body, list) else body
    async with services.hub.room(document_id) as room:
        version = room.state.version if asked.base_version is None else asked.base_version
        wanted = tuple(span.to_new_span() for span in asked.spans)
        command = commands.ReplaceSpans(asked.op_id or new_id(), version, wanted)
        state = (await room.execute(command)).state
    return SpansOut(version=state.version, spans=[SpanOut.of(span) for span in state.spans])


@router.get("/documents/{document_id}/revisions", summary="History")
async def list_revisions(document_id: DocumentId, services: Found) -> RevisionList:
    """List every revision from 0, without texts. What was typed last may not be one yet."""
    await services.database.read(lambda db: store.find_document(db, document_id))
    revisions = await services.database.read(
        lambda db: edit_log.newest_revisions(db, document_id, limit=None)
    )
    return RevisionList(revisions=[RevisionSummary.of(revision) for revision in revisions])


@router.get("/documents/{document_id}/revisions/{n}", summary="One revision with its text")
async def show_revision(
    document_id: DocumentId, n: Annotated[int, Path(ge=0, le=2**53)], services: Found
) -> RevisionOut:
    """Return the text as it was, rebuilt from the log."""
    revision = await services.database.read(lambda db: edit_log.find_revision(db, document_id, n))
    text = await services.database.read(lambda db: edit_log.revision_text(db, document_id, n))
    marks = revision.marks
    return RevisionOut(
        **RevisionSummary.of(revision).model_dump(),
        text=text,
        changes=revision.changes.to_json(),
        spans=None if marks is None else [SpanOut.of(span) for span in marks.spans],
        open_suggestions=list(marks.suggestions) if marks else [],
    )


@router.post("/documents/{document_id}/revisions", status_code=201, summary="Name this version")
async def name_version(
    document_id: DocumentId, body: NameVersionIn, services: Found
) -> RevisionSummary:
    """Write a revision of the text as it stands, under a name; revisions are never renamed."""
    op_id = body.op_id or new_id()
    async with services.hub.room(document_id) as room:
        decision = await room.execute(commands.NameRevision(op_id, body.name))
        n = int(decision.state.known_ops[op_id].subjects[0])
    revision = await services.database.read(lambda db: edit_log.find_revision(db, document_id, n))
    return RevisionSummary.of(revision)


@router.get("/documents/{document_id}/unfilled", summary="What is left to fill")
async def list_unfilled(document_id: DocumentId, services: Found) -> UnfilledOut:
    """List blanks, mask glyphs and required fields that keep the document from being final."""
    async with services.hub.room(document_id) as room:
        state = room.state
    return UnfilledOut.of(state.version, find_unfilled(state.text, state.spans))


@router.get("/documents/{document_id}/compare", summary="Compare two revisions")
async def compare_revisions(
    document_id: DocumentId,
    services: Found,
    earlier: Annotated[int, Query(alias="from", ge=0, le=2**53)],
    later: Annotated[int, Query(alias="to", ge=0, le=2**53)],
) -> ComparisonOut:
    """Return the words that lead from one revision's text to another's, in either direction."""

    def read(db: Connection) -> tuple[str, str]:
        return (
            edit_log.revision_text(db, document_id, earlier),
            edit_log.revision_text(db, document_id, later),
        )

    old, new = await services.database.read(read)
    parts = await asyncio.to_thread(compare_texts, old, new)
    return ComparisonOut.of((earlier, later), parts)


@router.get("/documents/{document_id}/provenance", summary="Where each character came from")
async def show_provenance(document_id: DocumentId, services: Found) -> ProvenanceOut:
    """Return stretches of one origin that cover the text, read from the log of edits."""
    version, runs = await services.database.read(lambda db: read_provenance(db, document_id))
    return ProvenanceOut(version=version, runs=[OriginRunOut.of(run) for run in runs])


@router.post("/documents/{document_id}/restore", summary="Restore a revision")
@router.post("/documents/{document_id}/revisions/restore", include_in_schema=False)
async def restore_revision(
    document_id: DocumentId, body: RestoreIn, services: Found
) -> DocumentOut:
    """Make the text what it was, as a new edit and a new revision; locks still hold."""
    op_id = body.op_id or new_id()
    earlier = await services.database.read(lambda db: read_earlier(db, document_id, body.revision))
    command = commands.RestoreRevision(
        op_id, earlier.n, earlier.text, version=earlier.version, spans=earlier.spans
    )
    async with services.hub.room(document_id) as room:
        decision = await room.execute(command)
    return DocumentOut.of(decision.state)


@router.get(
    "/documents/{document_id}/export",
    summary="Download a document",
    response_class=Response,
    responses={200: {"description": "The file, as an attachment."}},
)
async def export(
    document_id: DocumentId,
    services: Found,
    form: Annotated[str, Query(alias="format", description="txt, md, html, docx or json")] = "txt",
    final: Annotated[
        bool, Query(description="Refuse while a blank or required field is not filled.")
    ] = False,
) -> Response:
    """Write the accepted text; `json` also has spans, history, origins and hash."""
    async with services.hub.room(document_id) as room:
        state = room.state
    document = Exportable(state.id, state.title, state.text, state.version, state.spans)
    if final:
        check_final(document)
    if form.lower() == "json":
        document = await _with_history(services, document)
    exported = export_document(document, form)
    return Response(
        exported.body,
        media_type=exported.media_type,
        headers={"Content-Disposition": exported.content_disposition},
    )


@router.post(
    "/import",
    status_code=201,
    summary="Create a document from a file",
    openapi_extra={
        "requestBody": {
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "required": ["file"],
                        "properties": {
                            "file": {"type": "string", "format": "binary"},
                            "title": {"type": "string"},
                            "format": {"type": "string"},
                        },
                    }
                },
                "application/json": {"schema": ImportIn.model_json_schema()},
            }
        }
    },
)
async def import_document(
    request: Request,
    services: Found,
    filename: str = "",
    form: Annotated[str, Query(alias="format")] = "",
) -> DocumentOut:
    """Read txt, md, html, docx or an exported json.

    Send the file as `multipart/form-data`, inside JSON (`content`, `filename`), as the exported
    JSON itself, or raw with `?filename=` or `?format=`.
    """
    imported, title = await _read_import(request, filename, form)
    new = NewDocument(
        imported.text,
        (title if title is not None else imported.title)[:200],
        imported.spans,
        author_kind="import",
        summary="Imported",
        origins=imported.origins,
    )
    return DocumentOut.of(await services.hub.create(new))


async def _read_import(request: Request, filename: str, form: str) -> tuple[Imported, str | None]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _read_multipart(request, form)
    raw = await request.body()
    if kind == "application/json" and not filename and form in ("", "json"):
        return _read_json_body(raw)
    by_kind = {"text/html": "html", "text/markdown": "md"}.get(kind, "")
    return import_file(raw, filename=filename, form=form or ("" if filename else by_kind)), None


async def _read_multipart(request: Request, form: str) -> tuple[Imported, str | None]:
    async with request.form(max_files=1, max_fields=8) as fields:
        file, title, named = fields.get("file"), fields.get("title"), fields.get("format")
        if not isinstance(file, UploadFile):
            raise InvalidInput("the form has no file; its field must be named 'file'")
        raw = await file.read()
        form = form or (named if isinstance(named, str) else "")
        imported = import_file(raw, filename=file.filename or "", form=form)
        return imported, title if isinstance(title, str) and title else None


def _read_json_body(raw: bytes) -> tuple[Imported, str | None]:
    try:
        body = ImportIn.model_validate_json(raw)
    except ValidationError as fault:
        if b'"tideline-document-1"' in raw:
            return import_file(raw, form="json"), None
        raise from_validation(fault) from fault
    try:
        content = body.content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidText(
            f"the content has an unpaired surrogate at code point {error.start}; none is allowed"
        ) from error
    if body.encoding == "base64":
        try:
            content = base64.b64decode(body.content, validate=True)
        except binascii.Error as error:
            raise InvalidInput("content is not base64, as encoding says it is") from error
    return import_file(content, filename=body.filename, form=body.format), body.title


async def _with_history(services: Services, document: Exportable) -> Exportable:
    """Return the document with what only the JSON form holds: its history and its origins."""

    def read(db: Connection) -> Exportable:
        revisions = list(edit_log.revisions_of(db, document.id))
        origins = provenance_at(db, document.id, document.version)
        return replace(document, revisions=revisions, origins=origins)

    return await services.database.read(read)


def _new_span(given: SpanIn) -> Span:
    new = given.to_new_span()
    return Span(new.id or new_id(), new.kind, new.start, new.end, dict(new.settings))
