"""Checks everything a database holds against its hashes, and names the first fault per document.

Owns what `verify` looks at and in which order: the chain of revisions, the texts that the edits
lead to, the chain of edits, the head, spans, runs, suggestions, and last the snapshots, which
are only a cache. A row that cannot even be read is a fault like any other, never an exception.
It reads in the caller's transaction, trusts no snapshot, and says nothing of the user's words.

Documents begun before the second schema have rows without seals; those are accepted there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, func, select

from editor.document.revisions import NEWEST_FORM, Revision, verify_chain
from editor.document.state import Edit
from editor.document.text import text_hash
from editor.errors import EditorError, InvalidChange
from editor.store import documents, log, seals
from editor.store.schema import documents as documents_table
from editor.store.schema import edits, purges, revisions, runs, snapshots, suggestions

__all__ = ["Fault", "VerifyReport", "verify_database"]

# What reading a damaged row raises: JSON that is none, a form that does not fit, a change set.
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, EditorError)


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing in a document that is not what its hashes say; `revision` if it is one."""

    document_id: str
    revision: int | None
    problem: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was checked, and what was found wrong: at most one fault for each document."""

    num_documents: int
    num_revisions: int
    num_edits: int
    faults: tuple[Fault, ...]

    @property
    def is_sound(self) -> bool:
        return not self.faults


class _Found(Exception):
    """Carries the first fault of a document out of its checks."""

    def __init__(self, problem: str, revision: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.revision = revision


def verify_database(db: Connection) -> VerifyReport:
    """Rebuild every text from the logs and check every hash, chain, seal and count."""
    faults: list[Fault] = []
    ids = list(db.execute(select(documents_table.c.id).order_by(documents_table.c.id)).scalars())
    for document_id in ids:
        try:
            _check_document(db, document_id)
        except _Found as found:
            faults.append(Fault(document_id, found.revision, found.problem))
    faults += _orphans(db, set(ids))
    return VerifyReport(len(ids), _count(db, revisions), _count(db, edits), tuple(faults))


def _check_document(db: Connection, document_id: str) -> None:
    try:
        query = select(documents_table).where(documents_table.c.id == document_id)
        row = dict(db.execute(query).mappings().one())
    except _UNREADABLE as error:
        raise _Found("its row cannot be read") from error
    history = _read_history(db, row["id"])
    _check_chain(history, row)
    stale_snapshot = _check_texts(db, row, history)
    _check_edits(db, row)
    _check_head(history, row)
    _check_spans(db, row)
    _check_sealed(db, row, runs, lambda one: _run_seal(db, one))
    _check_sealed(db, row, suggestions, seals.suggestion_seal)
    if stale_snapshot is not None:
        raise _Found(stale_snapshot)


def _read_history(db: Connection, document_id: str) -> list[Revision]:
    try:
        return list(log.revisions_of(db, document_id))
    except _UNREADABLE as unreadable:
        for n in _keys(db, revisions, "n", document_id):
            try:
                log.find_revision(db, document_id, n)
            except _UNREADABLE as error:
                raise _Found("its row cannot be read", n) from error
        raise _Found("its revisions cannot be read") from unreadable


def _check_chain(history: Sequence[Revision], row: Mapping[str, Any]) -> None:
    if not history:
        raise _Found("it has no revision")
    broken = verify_chain(history)
    if broken is not None:
        raise _Found(broken.problem, broken.n)
    if row["is_sealed"] and history[0].form != NEWEST_FORM:
        raise _Found("its hash has an older form than the document", 0)


def _check_head(history: Sequence[Revision], row: Mapping[str, Any]) -> None:
    newest = history[-1]
    if (newest.n, newest.hash) != (row["head_n"], row["head_hash"]):
        raise _Found(
            f"the document's newest revision is {row['head_n']}, but {newest.n} is the last "
            "there is, or another took its place"
        )


def _check_texts(db: Connection, row: Mapping[str, Any], history: Sequence[Revision]) -> str | None:
    """Replay the edits; compare with every revision, snapshot and the head."""
    query = select(snapshots).where(snapshots.c.document_id == row["id"])
    cached = {found.version: found.text for found in db.execute(query)}
    text = history[0].changes.apply("")
    due = {revision.version: revision for revision in history}
    version, stale = 0, None
    entries = _read_edits(db, row["id"])
    while True:
        revision = due.get(version)
        if revision is not None and revision.text_hash != text_hash(text):
            raise _Found("its text differs from what the edits lead to", revision.n)
        if stale is None and cached.get(version, text) != text:
            stale = f"the snapshot at version {version} differs from the edits"
        edit = next(entries, None)
        if edit is None:
            break
        if edit.version != version + 1:
            raise _Found(f"the edit after version {version} is missing")
        try:
            text, version = edit.changes.apply(text), edit.version
        except InvalidChange as error:
            raise _Found(f"the edit of version {edit.version} does not fit its text") from error
    if (version, text_hash(text)) != (row["version"], row["text_hash"]):
        raise _Found(f"the head is not what the edits lead to at version {version}")
    return stale


def _read_edits(db: Connection, document_id: str) -> Iterator[Edit]:
    version = 0
    try:
        for edit in log.edits_after(db, document_id, 0):
            yield edit
            version = edit.version
    except _UNREADABLE as error:
        raise _Found(f"the edit after version {version} cannot be read") from error


def _check_edits(db: Connection, row: Mapping[str, Any]) -> None:
    """Follow the chain of edits; without a hash are only those of before the second schema."""
    chained = ""
    must_be_sealed = bool(row["is_sealed"])
    query = select(edits).where(edits.c.document_id == row["id"]).order_by(edits.c.version)
    for edit in db.execute(query).mappings():
        if edit["hash"] is None and not must_be_sealed:
            continue
        must_be_sealed = True
        chained = seals.edit_hash(chained, dict(edit))
        if edit["hash"] != chained:
            raise _Found(f"the edit of version {edit['version']} is not what its hash says")
    if (row["log_hash"] or "") != chained:
        raise _Found("the last edit is not the one the document names")


def _check_spans(db: Connection, row: Mapping[str, Any]) -> None:
    if row["spans_hash"] is None and not row["is_sealed"]:
        return
    try:
        spans = documents.spans_of(db, row["id"])
    except _UNREADABLE as error:
        raise _Found("its spans cannot be read") from error
    if seals.spans_hash(spans) != row["spans_hash"]:
        raise _Found("its spans are not those that were stored: locks, regions or fields differ")


def _check_sealed(
    db: Connection,
    row: Mapping[str, Any],
    table: Table,
    seal_of: Callable[[Mapping[str, Any]], str],
) -> None:
    kind, document_id = table.name.removesuffix("s"), row["id"]
    ids = _keys(db, table, "id", document_id)
    expected = row[f"num_{table.name}"]
    if len(ids) != expected:
        raise _Found(f"it has {len(ids)} {table.name}, {expected} were stored")
    for row_id in ids:
        try:
            found = db.execute(select(table).where(table.c.id == row_id)).mappings().one()
            is_sound = found["seal"] == seal_of(dict(found))
        except _UNREADABLE as error:
            raise _Found(f"{kind} {row_id} cannot be read") from error
        if not is_sound and (found["seal"] is not None or row["is_sealed"]):
            raise _Found(f"{kind} {row_id} is not what its seal says")


def _run_seal(db: Connection, run: Mapping[str, Any]) -> str:
    return seals.run_seal(run, seals.telemetry_rows(db, run["id"]))


def _count(db: Connection, table: Table) -> int:
    return db.execute(select(func.count()).select_from(table)).scalar_one()


def _keys(db: Connection, table: Table, name: str, document_id: str) -> list[Any]:
    column = table.c[name]
    query = select(column).where(table.c.document_id == document_id).order_by(column)
    return list(db.execute(query).scalars())


def _orphans(db: Connection, known: set[str]) -> list[Fault]:
    """Return a fault for each log whose document is gone without having been deleted."""
    known |= set(db.execute(select(purges.c.document_id)).scalars())
    found: set[str] = set()
    for table in (edits, revisions):
        found |= set(db.execute(select(table.c.document_id).distinct()).scalars())
    return [
        Fault(document_id, None, "its log is there, but the document is missing")
        for document_id in sorted(found - known)
    ]
