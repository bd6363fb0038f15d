"""Documents: their head, spans and known operations; creating, loading and purging them.

The head's text is not a column: it is the newest snapshot plus the edits after it, checked
against the stored hash whenever a document is loaded. Functions take the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from editor.document.revisions import Revision, TakenSpan
from editor.document.spans import Span
from editor.document.state import (
    MAX_KNOWN_OPS,
    DocumentState,
    Edit,
    KnownOp,
    Pending,
    compose_pending,
)
from editor.document.taken import move_taken
from editor.document.text import text_hash
from editor.errors import NotFound, Unavailable
from editor.store.log import (
    SNAPSHOT_EVERY,
    append_edits,
    append_revision,
    edits_after,
    find_revision,
    keep_snapshot,
    latest_revision,
    rebuild_text,
)
from editor.store.runs import recent_suggestions
from editor.store.schema import documents, edits, ops, purges, revisions, spans
from editor.store.seals import spans_hash

__all__ = [
    "DocumentRow",
    "Head",
    "add_document",
    "find_document",
    "list_documents",
    "load_document",
    "move_head",
    "purge_document",
    "remember_ops",
    "rename_document",
    "replace_spans",
    "spans_of",
]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document without its text. Times are seconds since 1970."""

    id: str
    title: str
    version: int
    hash: str
    created_s: float
    updated_s: float


@dataclass(frozen=True, slots=True)
class Head:
    """The newest text and its SHA-256."""

    text: str
    hash: str


def add_document(db: Connection, state: DocumentState, *, now_s: float) -> None:
    """Store a new document with its first revision, text and spans."""
    db.execute(
        insert(documents).values(
            id=state.id,
            title=state.title,
            version=state.version,
            text_hash=state.hash,
            created_s=now_s,
            updated_s=now_s,
            is_sealed=True,
        )
    )
    append_revision(db, state.id, state.head)
    keep_snapshot(db, state.id, state.text, state.version)
    replace_spans(db, state.id, state.spans)


def list_documents(db: Connection) -> list[DocumentRow]:
    """Return every document, the last changed first."""
    rows = db.execute(select(documents).order_by(documents.c.updated_s.desc(), documents.c.id))
    return [_row(row) for row in rows.mappings()]


def find_document(db: Connection, document_id: str) -> DocumentRow:
    """Return one document. Raises: NotFound."""
    row = db.execute(select(documents).where(documents.c.id == document_id)).mappings().first()
    if row is None:
        raise NotFound(f"there is no document {document_id!r}")
    return _row(row)


def load_document(db: Connection, document_id: str) -> DocumentState:
    """Return the state that its authority starts from; no run is active in it.

    Raises: NotFound; Unavailable when the log does not lead to the stored head.
    """
    row = find_document(db, document_id)
    head = latest_revision(db, document_id)
    rebuilt = rebuild_text(db, document_id)
    if (rebuilt.version, text_hash(rebuilt.text)) != (row.version, row.hash):
        raise Unavailable(
            f"document {document_id!r} does not match its log; `python app.py verify` says where"
        )
    unsealed = list(edits_after(db, document_id, head.version))
    return DocumentState(
        id=row.id,
        title=row.title,
        text=rebuilt.text,
        version=row.version,
        hash=row.hash,
        head=head,
        spans=spans_of(db, document_id),
        suggestions={found.id: found for found in recent_suggestions(db, document_id)},
        pending=_pending(unsealed),
        known_ops=_known_ops(db, document_id),
        loaded_version=row.version,
        earlier_hash=_earlier_hash(db, document_id, head),
        taken=_taken(head, unsealed),
    )


def move_head(
    db: Connection, document_id: str, entries: Sequence[Edit], *, head: Head, now_s: float
) -> None:
    """Append edits and move the head behind the last of them."""
    append_edits(db, document_id, entries)
    version = entries[-1].version
    db.execute(
        update(documents)
        .where(documents.c.id == document_id)
        .values(version=version, text_hash=head.hash, updated_s=now_s)
    )
    if version // SNAPSHOT_EVERY != (version - len(entries)) // SNAPSHOT_EVERY:
        keep_snapshot(db, document_id, head.text, version)


def rename_document(db: Connection, document_id: str, title: str, *, now_s: float) -> None:
    """Change the title."""
    db.execute(
        update(documents).where(documents.c.id == document_id).values(title=title, updated_s=now_s)
    )


def replace_spans(db: Connection, document_id: str, wanted: Sequence[Span]) -> None:
    """Make `wanted` all the spans there are."""
    db.execute(delete(spans).where(spans.c.document_id == document_id))
    rows = [
        {
            "document_id": document_id,
            "id": span.id,
            "kind": span.kind,
            "start": span.start,
            "end": span.end,
            "settings": dict(span.settings),
        }
        for span in wanted
    ]
    if rows:
        db.execute(insert(spans), rows)
    db.execute(
        update(documents).where(documents.c.id == document_id).values(spans_hash=spans_hash(wanted))
    )


def spans_of(db: Connection, document_id: str) -> tuple[Span, ...]:
    """Return the document's spans in the order of the text."""
    query = select(spans).where(spans.c.document_id == document_id)
    return tuple(
        Span(row["id"], row["kind"], row["start"], row["end"], row["settings"])
        for row in db.execute(query.order_by(spans.c.start, spans.c.end, spans.c.id)).mappings()
    )


def remember_ops(
    db: Connection, document_id: str, applied: Mapping[str, KnownOp], *, now_s: float
) -> None:
    """Note which operations were applied, by op id."""
    rows = [
        {
            "document_id": document_id,
            "op_id": op_id,
            "version": op.version,
            "created_s": now_s,
            "kind": op.kind,
            "subjects": list(op.subjects),
        }
        for op_id, op in applied.items()
    ]
    if rows:
        # an id that the authority has forgotten by now may come again
        db.execute(
            delete(ops).where(ops.c.document_id == document_id, ops.c.op_id.in_(list(applied)))
        )
        db.execute(insert(ops), rows)


def purge_document(db: Connection, document_id: str, *, now_s: float) -> None:
    """Remove a document with every text of it; only hashes and times stay. Raises: NotFound."""
    row = find_document(db, document_id)
    head = latest_revision(db, document_id)
    db.execute(
        insert(purges).values(
            document_id=document_id,
            version=row.version,
            text_hash=row.hash,
            revision_hash=head.hash,
            purged_s=now_s,
        )
    )
    for log in (edits, revisions):
        db.execute(delete(log).where(log.c.document_id == document_id))
    db.execute(delete(documents).where(documents.c.id == document_id))


def _known_ops(db: Connection, document_id: str) -> dict[str, KnownOp]:
    query = select(ops).where(ops.c.document_id == document_id)
    newest = db.execute(query.order_by(ops.c.created_s.desc()).limit(MAX_KNOWN_OPS)).all()
    return {
        row.op_id: KnownOp(row.version, row.kind, tuple(row.subjects or ()))
        for row in reversed(newest)
    }


def _earlier_hash(db: Connection, document_id: str, head: Revision) -> str | None:
    return None if head.parent is None else find_revision(db, document_id, head.parent).text_hash


def _taken(head: Revision, unsealed: Iterable[Edit]) -> tuple[TakenSpan, ...]:
    taken = head.marks.taken if head.marks else ()
    for edit in unsealed:
        taken = move_taken(taken, edit.changes)
    return taken


def _pending(unsealed: Sequence[Edit]) -> Pending | None:
    if not unsealed:
        return None
    times_s = [datetime.fromisoformat(edit.created_at).timestamp() for edit in unsealed]
    return compose_pending(
        (edit.changes for edit in unsealed), first_s=times_s[0], last_s=times_s[-1]
    )


def _row(row: RowMapping) -> DocumentRow:
    return DocumentRow(
        id=row["id"],
        title=row["title"],
        version=row["version"],
        hash=row["text_hash"],
        created_s=row["created_s"],
        updated_s=row["updated_s"],
    )
