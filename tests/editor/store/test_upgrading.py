"""A database of the first schema goes on where it stood, and stays verifiable."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text

from editor.document.changes import replace
from editor.document.text import text_hash
from editor.hub.commands import ApplyEdit, NameRevision, RestoreRevision, SealTyping
from editor.services.verifying import verify_database
from editor.store import migrating
from editor.store.database import Database
from editor.store.documents import load_document
from editor.store.seals import spans_hash
from tests.editor.store.stored import StoredSession

TIME = "2025-01-01T00:00:00.000Z"


def first_hash(parent: str, changes: list[object], after: str) -> str:
    """Return a revision's hash as the first release made it."""
    fields = [parent, "person", TIME, changes, text_hash(after)]
    written = json.dumps(fields, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def fill_as_the_first_release(db: Connection) -> None:
    """Store "one" and, typed behind it, " two", with a lock on the first word."""
    db.execute(text("INSERT INTO documents VALUES ('old', '', 1, :hash, 0, 0)"),
               {"hash": text_hash("one two")})  # fmt: skip
    zero, one = [[0, "one"]], [3, [0, " two"]]
    hashes = [first_hash("", zero, "one")]
    hashes.append(first_hash(hashes[0], one, "one two"))
    for n, (changes, after) in enumerate([(zero, "one"), (one, "one two")]):
        db.execute(
            text(
                "INSERT INTO revisions VALUES ('old', :n, :parent, :n, 'person', 'Typed', :time, "
                ":changes, :text_hash, :hash)"
            ),
            {
                "n": n,
                "parent": n - 1 if n else None,
                "time": TIME,
                "changes": json.dumps(changes),
                "text_hash": text_hash(after),
                "hash": hashes[n],
            },
        )
    db.execute(
        text("INSERT INTO edits VALUES ('old', 1, 'op', 'c', 'edit', :changes, :time)"),
        {"changes": json.dumps(one), "time": TIME},
    )
    db.execute(text("INSERT INTO spans VALUES ('old', 'lock', 'locked', 0, 3, '{}')"))
    db.execute(text("INSERT INTO snapshots VALUES ('old', 0, 'one')"))
    db.execute(text("INSERT INTO ops VALUES ('old', 'op', 1, 0)"))


@pytest.fixture
def upgraded(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'tideline.db'}"
    engine = create_engine(url)
    with engine.begin() as db:
        migrating.upgrade(db, "0001")
        fill_as_the_first_release(db)
    engine.dispose()
    database = Database(url)
    yield database
    database.close()


class OldSession(StoredSession):
    """The session of the document that was there."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.state = database.read_now(lambda db: load_document(db, "old"))


def test_old_document_is_sound_after_the_upgrade(upgraded):
    report = upgraded.read_now(verify_database)

    assert report.faults == ()
    assert (report.num_revisions, report.num_edits) == (2, 1)


def test_old_document_goes_on_and_its_chain_with_it(upgraded):
    session = OldSession(upgraded)

    session.do(ApplyEdit("new", 1, "browser", (replace(7, 7, 7, "!"),)))
    session.do(SealTyping())
    session.do(NameRevision("name", "later"))

    assert [session.state.head.form, session.state.head.n] == [2, 3]
    assert session.loaded.head == session.state.head
    assert upgraded.read_now(verify_database).faults == ()


def test_restoring_an_old_revision_leaves_the_spans_as_they_are(upgraded):
    session = OldSession(upgraded)

    session.do(RestoreRevision("restore", 0, "one", version=0, spans=None))

    assert session.shown == "«one»"


def test_operation_of_before_the_upgrade_is_still_known(upgraded):
    session = OldSession(upgraded)

    decision = session.do(ApplyEdit("op", 0, "browser", ()))

    assert decision.store == ()
    assert len(decision.send) == 1


def test_what_is_sealed_in_an_old_document_is_checked(upgraded):
    session = OldSession(upgraded)
    session.do(ApplyEdit("new", 1, "browser", (replace(7, 7, 7, "!"),)))
    session.do(ApplyEdit("more", 2, "browser", (replace(8, 0, 0, "- "),)))
    spans = upgraded.read_now(lambda db: load_document(db, "old").spans)

    upgraded.write_now(lambda db: db.execute(text("UPDATE spans SET start = 0")))

    (fault,) = upgraded.read_now(verify_database).faults
    assert "spans" in fault.problem
    assert spans_hash(spans) == upgraded.read_now(
        lambda db: db.execute(text("SELECT spans_hash FROM documents WHERE id = 'old'")).scalar()
    )


def test_going_down_keeps_texts_and_lets_the_first_schema_be(upgraded):
    upgraded.write_now(lambda db: migrating.downgrade(db, "0001"))

    columns = upgraded.read_now(
        lambda db: [row.name for row in db.execute(text("PRAGMA table_info(revisions)"))]
    )
    assert "marks" not in columns
    upgraded.write_now(migrating.upgrade)
    assert upgraded.read_now(verify_database).faults == ()
