"""The append-only logs of a document, and the texts rebuilt from them.

Owns edits, revisions and snapshots. Revision 0 holds the first text, every edit leads to the
next version; snapshots only shorten the way and are never trusted by `verify`. Functions take
the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from editor.document.changes import ChangeSet
from editor.document.provenance import TYPED, EditOrigin, OriginRun
from editor.document.revisions import Revision, RevisionMarks, TakenSpan
from editor.document.spans import span_from_json
from editor.document.state import Edit
from editor.errors import NotFound
from editor.store.schema import documents, edits, revisions, snapshots
from editor.store.seals import edit_hash

__all__ = [
    "Rebuilt",
    "append_edits",
    "append_revision",
    "edits_after",
    "find_revision",
    "keep_snapshot",
    "latest_revision",
    "newest_revisions",
    "rebuild_text",
    "revision_text",
    "revisions_of",
]

SNAPSHOT_EVERY = 64  # edits: what one load replays at most
KEPT_SNAPSHOT_EVERY = 1_024  # edits between the snapshots that stay when newer ones come


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A text and the version it belongs to."""

    text: str
    version: int


def append_edits(db: Connection, document_id: str, entries: Sequence[Edit]) -> None:
    """Add entries to the log, chained to the last; a version that exists is refused."""
    found = db.execute(select(documents.c.log_hash).where(documents.c.id == document_id))
    chained: str = found.scalar_one() or ""
    rows: list[dict[str, Any]] = []
    for edit in entries:
        row = {
            "document_id": document_id,
            "version": edit.version,
            "op_id": edit.op_id,
            "client_id": edit.client_id,
            "cause": edit.cause,
            "changes": edit.changes.to_json(),
            "created_at": edit.created_at,
            "origin": _origin_to_json(edit.origin),
        }
        chained = edit_hash(chained, row)
        rows.append({**row, "hash": chained})
    if rows:
        db.execute(insert(edits), rows)
        db.execute(update(documents).where(documents.c.id == document_id).values(log_hash=chained))


def edits_after(db: Connection, document_id: str, version: int) -> Iterator[Edit]:
    """Yield what was committed after `version`, in order."""
    rows = db.execute(
        select(edits)
        .where(edits.c.document_id == document_id, edits.c.version > version)
        .order_by(edits.c.version)
    )
    for row in rows.mappings():
        yield Edit(
            version=row["version"],
            op_id=row["op_id"],
            client_id=row["client_id"],
            changes=ChangeSet.from_json(row["changes"]),
            cause=row["cause"],
            created_at=row["created_at"],
            origin=_origin_from_json(row["origin"]),
        )


def append_revision(db: Connection, document_id: str, revision: Revision) -> None:
    """Add a revision and make it the head; the primary key refuses a number that exists."""
    db.execute(
        insert(revisions).values(
            document_id=document_id,
            n=revision.n,
            parent=revision.parent,
            version=revision.version,
            author_kind=revision.author_kind,
            summary=revision.summary,
            created_at=revision.created_at,
            changes=revision.changes.to_json(),
            text_hash=revision.text_hash,
            hash=revision.hash,
            name=revision.name,
            marks=None if revision.marks is None else revision.marks.to_json(),
            form=revision.form,
        )
    )
    db.execute(
        update(documents)
        .where(documents.c.id == document_id)
        .values(head_n=revision.n, head_hash=revision.hash)
    )


def revisions_of(db: Connection, document_id: str) -> Iterator[Revision]:
    """Yield every revision from 0."""
    query = select(revisions).where(revisions.c.document_id == document_id)
    for row in db.execute(query.order_by(revisions.c.n)).mappings():
        yield _revision(row)


def newest_revisions(db: Connection, document_id: str, limit: int | None = 200) -> list[Revision]:
    """Return the last revisions in order (None: all), without change sets and marks for brevity."""
    columns = [column for column in revisions.c if column.name not in ("changes", "marks")]
    query = select(*columns).where(revisions.c.document_id == document_id)
    rows = db.execute(query.order_by(revisions.c.n.desc()).limit(limit)).mappings().all()
    return [_revision({**row, "changes": [], "marks": None}) for row in reversed(rows)]


def latest_revision(db: Connection, document_id: str) -> Revision:
    """Return the head revision. Raises: NotFound."""
    newest = select(func.max(revisions.c.n)).where(revisions.c.document_id == document_id)
    n = db.execute(newest).scalar()
    if n is None:
        raise NotFound(f"there is no document {document_id!r}")
    return find_revision(db, document_id, n)


def find_revision(db: Connection, document_id: str, n: int) -> Revision:
    """Return one revision. Raises: NotFound."""
    query = select(revisions).where(revisions.c.document_id == document_id, revisions.c.n == n)
    row = db.execute(query).mappings().first()
    if row is None:
        raise NotFound(f"document {document_id!r} has no revision {n}")
    return _revision(row)


def rebuild_text(
    db: Connection, document_id: str, version: int | None = None, *, use_snapshots: bool = True
) -> Rebuilt:
    """Return the text at `version`, or at the newest one, by replaying the log.

    Raises: NotFound for a document or version that does not exist; InvalidChange when the log
    does not fit together.
    """
    start = _nearest_snapshot(db, document_id, version) if use_snapshots else None
    if start is None:
        start = Rebuilt(find_revision(db, document_id, 0).changes.apply(""), 0)
    text, reached = start.text, start.version
    for edit in edits_after(db, document_id, reached):
        if version is not None and edit.version > version:
            break
        text, reached = edit.changes.apply(text), edit.version
    if version is not None and reached != version:
        raise NotFound(f"document {document_id!r} has no version {version}; newest is {reached}")
    return Rebuilt(text, reached)


def revision_text(db: Connection, document_id: str, n: int) -> str:
    """Return the text of a revision. Raises: NotFound."""
    return rebuild_text(db, document_id, find_revision(db, document_id, n).version).text


def keep_snapshot(db: Connection, document_id: str, text: str, version: int) -> None:
    """Remember the text at `version` and forget those before it, but for sparse ones."""
    db.execute(
        delete(snapshots).where(
            snapshots.c.document_id == document_id,
            (snapshots.c.version % KEPT_SNAPSHOT_EVERY != 0) | (snapshots.c.version == version),
        )
    )
    db.execute(insert(snapshots).values(document_id=document_id, version=version, text=text))


def _nearest_snapshot(db: Connection, document_id: str, version: int | None) -> Rebuilt | None:
    query = select(snapshots.c.text, snapshots.c.version).where(
        snapshots.c.document_id == document_id
    )
    if version is not None:
        query = query.where(snapshots.c.version <= version)
    row = db.execute(query.order_by(snapshots.c.version.desc()).limit(1)).first()
    return None if row is None else Rebuilt(row.text, row.version)


def _revision(row: RowMapping | dict[str, Any]) -> Revision:
    return Revision(
        n=row["n"],
        parent=row["parent"],
        version=row["version"],
        author_kind=row["author_kind"],
        summary=row["summary"],
        created_at=row["created_at"],
        changes=ChangeSet.from_json(row["changes"]),
        text_hash=row["text_hash"],
        hash=row["hash"],
        name=row["name"],
        marks=None if row["marks"] is None else _marks_from_json(row["marks"]),
        form=row["form"],
    )


def _marks_from_json(given: dict[str, Any]) -> RevisionMarks:
    return RevisionMarks(
        spans=tuple(span_from_json(one) for one in given["spans"]),
        suggestions=tuple(given["suggestions"]),
        taken=tuple(TakenSpan(span_from_json(one), one["original"]) for one in given["taken"]),
        origins=tuple(OriginRun(**one) for one in given["origins"]),
    )


def _origin_to_json(origin: EditOrigin) -> dict[str, Any] | None:
    if origin == TYPED:
        return None
    return {
        "kind": origin.kind,
        "written": [[run.start, run.end, run.run_id] for run in origin.written],
        "restored": origin.restored,
    }


def _origin_from_json(given: dict[str, Any] | None) -> EditOrigin:
    if given is None:
        return TYPED
    written = (OriginRun(start, end, "model", run_id) for start, end, run_id in given["written"])
    return EditOrigin(given["kind"], tuple(written), given["restored"])
