import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from editor.document.changes import replace
from editor.document.text import text_hash
from editor.errors import EditorError, NotFound, Unavailable
from editor.hub import commands
from editor.store import documents as store
from editor.store import log, runs
from editor.store.database import Database, database_url
from editor.store.schema import documents, edits, purges, revisions, snapshots, spans
from tests.editor.builders import NOW_S, finished
from tests.editor.store.stored import StoredSession


@pytest.fixture
def database(tmp_path):
    database = Database(database_url(tmp_path))
    yield database
    database.close()


def type_text(session, words, op_id="op", client_id="client"):
    change = replace(len(session.state.text), 0, 0, words)
    return session.do(commands.ApplyEdit(op_id, session.state.version, client_id, (change,)))


def refine(session, fillings):
    session.do(commands.RequestRefine("refine", session.state.version, None))
    run_id = next(iter(session.state.runs))
    session.do(commands.RunSucceeded(finished(run_id, fillings)))
    return run_id


def test_a_loaded_document_is_the_one_that_was_stored(database):
    session = StoredSession(database, "Give «5 mg» of ‹[___]› daily")
    type_text(session, "Note: ")

    loaded = session.loaded

    state = session.state
    assert (loaded.text, loaded.version, loaded.hash) == (state.text, state.version, state.hash)
    assert loaded.spans == state.spans
    assert loaded.head == state.head
    assert loaded.pending == state.pending
    assert dict(loaded.known_ops) == dict(state.known_ops)


def test_an_operation_sent_again_after_a_restart_applies_once(database):
    session = StoredSession(database)
    type_text(session, "Once. ", op_id="typed")
    session.state = session.loaded

    again = commands.ApplyEdit("typed", 0, "client", (replace(14, 0, 0, "Once. "),))
    decision = session.do(again)

    assert decision.store == ()
    assert session.state.text == "Once. One two three."


def test_suggestions_and_verdicts_survive(database):
    session = StoredSession(database, "A ‹[___]› b ‹[___]› c")
    refine(session, {"region1": ["red"], "region2": ["blue"]})
    first, second = session.state.open_suggestions
    session.do(commands.AcceptSuggestions("accept", (first.id,)))
    session.do(commands.RejectSuggestions("reject", (second.id,)))

    loaded = session.loaded

    assert loaded.text == "A red b [___] c"
    assert {s.id: s.state for s in loaded.suggestions.values()} == {
        first.id: "accepted",
        second.id: "rejected",
    }


def test_a_run_is_stored_without_text(database):
    session = StoredSession(database, "Canary words ‹[___]› here")
    run_id = refine(session, {"region1": ["red"]})

    row = database.read_now(lambda db: runs.find_run(db, run_id))

    assert (row.state, row.stop_reason, row.passes) == ("finished", "settled", 4)
    assert row.run_card is not None
    assert "Canary" not in str(row.job)
    assert "text" not in row.job


def test_runs_cut_by_the_end_of_the_server_are_marked_failed(database):
    session = StoredSession(database, "A ‹[___]› b")
    session.do(commands.RequestRefine("refine", 0, None))
    run_id = next(iter(session.state.runs))

    num_failed = database.write_now(
        lambda db: runs.fail_unfinished_runs(db, message="ended", now_s=NOW_S)
    )

    row = database.read_now(lambda db: runs.find_run(db, run_id))
    assert (num_failed, row.state, row.message) == (1, "failed", "ended")
    assert session.loaded.active_runs == ()


@pytest.mark.parametrize("log_table", [edits, revisions])
def test_S1_logs_refuse_update_and_delete(database, log_table):
    session = StoredSession(database)
    type_text(session, "More. ")

    for statement in (update(log_table).values(created_at="never"), delete(log_table)):
        with pytest.raises(IntegrityError, match="append-only"):
            database.write_now(lambda db, statement=statement: db.execute(statement))
    assert session.loaded.text == "More. One two three."


def test_a_version_is_written_once(database):
    session = StoredSession(database)
    type_text(session, "More. ")
    edit = next(database.read_now(lambda db: list(log.edits_after(db, "document", 0))).__iter__())

    with pytest.raises(IntegrityError):
        database.write_now(lambda db: log.append_edits(db, "document", [edit]))


def test_A7_creating_an_existing_document_fails_and_changes_nothing(database):
    session = StoredSession(database)

    with pytest.raises(IntegrityError):
        StoredSession(database, "Other text")
    assert session.loaded.text == "One two three."


def test_purging_leaves_hashes_and_no_text(database, tmp_path):
    session = StoredSession(database, "The canary sings ‹[___]›")
    refine(session, {"region1": ["canary song"]})
    type_text(session, "canary ")

    database.write_now(lambda db: store.purge_document(db, "document", now_s=NOW_S))

    tables = (documents, edits, revisions, spans, snapshots)
    left = database.read_now(lambda db: [db.execute(select(table)).all() for table in tables])
    assert left == [[], [], [], [], []]
    tombstone = database.read_now(lambda db: db.execute(select(purges)).one())
    assert (tombstone.text_hash, tombstone.revision_hash) == (
        session.state.hash,
        session.state.head.hash,
    )
    database.close()
    assert b"canary" not in (tmp_path / "tideline.db").read_bytes()


def test_loading_what_does_not_match_its_log_is_refused(database):
    StoredSession(database)
    database.write_now(lambda db: db.execute(update(documents).values(text_hash=text_hash("else"))))

    with pytest.raises(Unavailable, match="does not match its log"):
        database.read_now(lambda db: store.load_document(db, "document"))


@pytest.mark.parametrize(
    "read",
    [
        lambda db: store.load_document(db, "nope"),
        lambda db: log.find_revision(db, "document", 9),
        lambda db: log.rebuild_text(db, "document", 7),
        lambda db: runs.find_run(db, "nope"),
        lambda db: runs.find_suggestion(db, "nope"),
    ],
)
def test_what_does_not_exist_is_not_found(database, read):
    StoredSession(database)

    with pytest.raises(NotFound):
        database.read_now(read)


def test_a_title_is_changed_and_listed(database):
    session = StoredSession(database)
    session.do(commands.RenameDocument("Discharge letter"))

    (row,) = database.read_now(store.list_documents)

    assert (row.title, row.version) == ("Discharge letter", 0)


words = st.text(st.sampled_from("ab \n😀é"), max_size=4)
steps = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), words), min_size=1, max_size=150)


@settings(max_examples=15, deadline=None)
@given(steps=steps, seals=st.sets(st.integers(0, 150)))
def test_S6_every_text_is_the_same_with_and_without_snapshots(steps, seals):
    """Text at a version = replay of the log = nearest snapshot plus the edits after it."""
    with tempfile.TemporaryDirectory() as place:
        database = Database(database_url(Path(place)))
        session = StoredSession(database, "Start.")
        texts = [session.state.text]
        for number, (at, share, inserted) in enumerate(steps):
            length = len(session.state.text)
            start = round(at * length)
            end = start + round(share * min(3, length - start))
            change = replace(length, start, end, inserted)
            try:
                session.do(commands.ApplyEdit(f"op{number}", session.state.version, "c", (change,)))
            except EditorError:
                continue
            if session.state.version == len(texts):
                texts.append(session.state.text)
            if number in seals:
                session.do(commands.SealTyping())

        def rebuild(db, *, use_snapshots):
            return [
                log.rebuild_text(db, "document", version, use_snapshots=use_snapshots).text
                for version in range(len(texts))
            ]

        assert database.read_now(lambda db: rebuild(db, use_snapshots=True)) == texts
        assert database.read_now(lambda db: rebuild(db, use_snapshots=False)) == texts
        assert session.loaded.text == session.state.text
        assert session.loaded.pending == session.state.pending
        for revision in database.read_now(lambda db: list(log.revisions_of(db, "document"))):
            assert revision.text_hash == text_hash(texts[revision.version])
        database.close()
