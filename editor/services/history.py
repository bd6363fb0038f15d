"""What a document's past says: what to restore, and where its characters came from.

Functions read in the caller's transaction. The log of edits is the only source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from editor.document.provenance import LoggedEdit, OriginKind, OriginRun, trace_origins
from editor.document.revisions import Revision
from editor.document.spans import Span
from editor.store import documents, log

__all__ = ["Earlier", "first_origins", "provenance_at", "read_earlier", "read_provenance"]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a document was at revision `n`; `spans` is None when the revision does not say."""

    n: int
    version: int
    text: str
    spans: tuple[Span, ...] | None


def read_earlier(db: Connection, document_id: str, n: int) -> Earlier:
    """Return a revision's text and spans. Raises: NotFound."""
    revision = log.find_revision(db, document_id, n)
    text = log.rebuild_text(db, document_id, revision.version).text
    spans = None if revision.marks is None else revision.marks.spans
    return Earlier(n, revision.version, text, spans)


def read_provenance(db: Connection, document_id: str) -> tuple[int, tuple[OriginRun, ...]]:
    """Return (version, origins of the text at it). Raises: NotFound."""
    version = documents.find_document(db, document_id).version
    return version, provenance_at(db, document_id, version)


def provenance_at(db: Connection, document_id: str, version: int) -> tuple[OriginRun, ...]:
    """Return the origins of the text at a version. Raises: NotFound."""
    first = log.find_revision(db, document_id, 0)
    text = first.changes.apply("")
    edits = [
        LoggedEdit(
            edit.version,
            edit.changes,
            edit.origin,
        )
        for edit in log.edits_after(db, document_id, 0)
        if edit.version <= version
    ]
    return trace_origins(text, first_origins(first, text), edits)


def first_origins(first: Revision, text: str) -> Sequence[OriginRun]:
    """Return the origins of revision 0: what it says, or by its author in older ones."""
    if not text:
        return ()
    if first.marks is not None and first.marks.origins:
        return first.marks.origins
    kind: OriginKind = "import" if first.author_kind == "import" else "typed"
    return (OriginRun(0, len(text), kind),)
