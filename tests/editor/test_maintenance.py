import asyncio
import shutil
import sqlite3

import pytest

from editor import maintenance
from editor.errors import NotFound, StoreBusy, Unavailable, UnsupportedFormat
from editor.settings import EditorSettings
from editor.store.database import Database, database_url
from engine.settings import EngineSettings
from tests.editor.serving import ServerProcess

TABLES = ("edits", "revisions")


@pytest.fixture(scope="module")
def history(tmp_path_factory, nursery):
    """A data directory with a document of some history, and its id."""
    data_dir = tmp_path_factory.mktemp("history")
    with ServerProcess(nursery, data_dir, TIDELINE_WORKER_URL="") as server:
        made = server.create("Start ___.")
        server.refine(made["id"])
        add = [{"kind": "locked", "from": 0, "to": 5}]
        with server.browser(made["id"]) as browser:
            browser.send({"type": "spans", "op_id": "lock", "version": 0, "add": add})
            browser.take("spans_changed")
            for number in range(70):
                browser.insert(f" {number}")
                browser.take("edited")
        path = f"/api/documents/{made['id']}/restore"
        server.call("POST", path, json={"revision": 0})
        server.stop()
    return data_dir, made["id"]


@pytest.fixture
def written(history, tmp_path):
    data_dir, document_id = history
    shutil.copytree(data_dir, tmp_path / "data")
    return EditorSettings(data_dir=tmp_path / "data"), document_id


def tamper(settings, statement, *, drop=True):
    """Change the file behind the program's back; return the number of rows."""
    database = sqlite3.connect(settings.data_dir / "tideline.db")
    for table in TABLES if drop else ():
        database.execute(f"DROP TRIGGER {table}_refuse_update")
        database.execute(f"DROP TRIGGER {table}_refuse_delete")
    with database:
        num_changed = database.execute(statement).rowcount
    database.close()
    return num_changed


def test_C9_an_untouched_store_is_sound(written):
    settings, _ = written

    report = maintenance.verify_store(settings)

    assert report.is_sound
    assert (report.num_documents, report.num_revisions, report.num_edits) == (1, 3, 71)


@pytest.mark.parametrize(
    ("statement", "revision", "problem"),
    [
        ("UPDATE revisions SET created_at = 'then' WHERE n = 1", 1, "hash does not follow"),
        ("UPDATE revisions SET author_kind = 'model' WHERE n = 2", 2, "hash does not follow"),
        ("UPDATE revisions SET text_hash = 'x' WHERE n = 0", 0, "stored hash"),
        ("DELETE FROM revisions WHERE n = 1", 2, "number 2 where 1 is due"),
        ("UPDATE edits SET changes = '[10, [0, \" !\"]]' WHERE version = 1", 1, "differs"),
        ("DELETE FROM edits WHERE version = 5", None, "after version 4 is missing"),
        ("DELETE FROM edits WHERE version = 71", None, "head is not"),
        ("UPDATE edits SET changes = '[3]' WHERE version = 9", None, "version 9 does not fit"),
        ("UPDATE snapshots SET text = 'other'", None, "snapshot"),
        ("UPDATE documents SET text_hash = 'x'", None, "head is not"),
        ("DELETE FROM revisions WHERE n = 2", None, "newest revision is 2"),
        ("UPDATE revisions SET summary = 'Other' WHERE n = 1", 1, "hash does not follow"),
        ("UPDATE revisions SET name = 'Other' WHERE n = 2", 2, "hash does not follow"),
        ("UPDATE revisions SET form = 1 WHERE n = 0", 0, "hash does not follow"),
        ("UPDATE revisions SET changes = 'no json' WHERE n = 1", 1, "cannot be read"),
        ("UPDATE revisions SET changes = '{}' WHERE n = 1", 1, "cannot be read"),
        ("UPDATE revisions SET marks = '[]' WHERE n = 2", 2, "cannot be read"),
        ("UPDATE edits SET changes = 'no json' WHERE version = 9", None, "8 cannot be read"),
        ("UPDATE edits SET changes = '[[0]]' WHERE version = 9", None, "9 does not fit"),
        ("UPDATE edits SET origin = '{}' WHERE version = 9", None, "8 cannot be read"),
        ("UPDATE edits SET cause = 'accept' WHERE version = 9", None, "9 is not what its hash"),
        ("UPDATE edits SET client_id = 'x' WHERE version = 9", None, "9 is not what its hash"),
        ("UPDATE edits SET hash = NULL", None, "1 is not what its hash"),
        ("UPDATE documents SET log_hash = 'x'", None, "last edit"),
        ("DELETE FROM spans WHERE kind = 'locked'", None, "spans"),
        ("UPDATE spans SET start = 1 WHERE kind = 'locked'", None, "spans"),
        ("UPDATE spans SET settings = 'no json'", None, "spans cannot be read"),
        ("UPDATE documents SET spans_hash = NULL", None, "spans"),
        ("DELETE FROM suggestions", None, "0 suggestions, 1 were stored"),
        ("UPDATE suggestions SET original = 'x'", None, "is not what its seal says"),
        ("UPDATE suggestions SET alternatives = '[]'", None, "is not what its seal says"),
        ("UPDATE suggestions SET alternatives = 'no json'", None, "cannot be read"),
        ("UPDATE suggestions SET state = 'accepted'", None, "is not what its seal says"),
        ("UPDATE suggestions SET seal = NULL", None, "is not what its seal says"),
        ("UPDATE runs SET stop_reason = 'x'", None, "is not what its seal says"),
        ("UPDATE runs SET run_card = '{}'", None, "is not what its seal says"),
        ("UPDATE runs SET job = 'no json'", None, "cannot be read"),
        ("UPDATE passes SET committed = 99", None, "is not what its seal says"),
        ("DELETE FROM documents", None, "the document is missing"),
        ("UPDATE documents SET head_n = 'none'", None, "newest revision is none"),
        ("UPDATE documents SET version = 'none'", None, "head is not"),
        ("UPDATE revisions SET n = 'x' WHERE n = 2", "x", "number x where 2 is due"),
    ],
)
def test_C9_tampering_is_found_and_the_first_bad_revision_named(
    written, statement, revision, problem
):
    settings, document_id = written
    assert maintenance.verify_store(settings).is_sound
    assert tamper(settings, statement) > 0

    (fault,) = maintenance.verify_store(settings).faults

    assert (fault.document_id, fault.revision) == (document_id, revision)
    assert problem in fault.problem


def test_export_and_import_round_trip(written, tmp_path):
    settings, document_id = written
    exported = maintenance.export_stored(settings, document_id)
    path = tmp_path / exported.filename
    path.write_bytes(exported.body)

    row = maintenance.import_path(settings, path)

    assert row.id != document_id
    assert maintenance.export_stored(settings, row.id, form="txt").body == b"Start ___."
    assert maintenance.verify_store(settings).is_sound


def test_what_cannot_be_exported_or_imported_is_told(written, tmp_path):
    settings, document_id = written

    with pytest.raises(NotFound):
        maintenance.export_stored(settings, "nope")
    with pytest.raises(UnsupportedFormat):
        maintenance.export_stored(settings, document_id, form="pdf")
    with pytest.raises(NotFound):
        maintenance.import_path(settings, tmp_path / "nope.txt")


def test_I4_purge_leaves_hashes_and_times_and_no_words(written):
    settings, document_id = written
    canary = b"Start "
    files = [settings.data_dir / name for name in ("tideline.db", "tideline.db-wal")]
    assert any(canary in file.read_bytes() for file in files if file.exists())

    report = maintenance.purge_document(settings, document_id)

    assert (report.document_id, report.version, len(report.text_hash)) == (document_id, 71, 64)
    assert not any(canary in file.read_bytes() for file in files if file.exists())
    assert maintenance.verify_store(settings).is_sound
    with pytest.raises(NotFound):
        maintenance.purge_document(settings, document_id)


def test_S12_a_backup_beside_a_running_server_is_whole(written, tmp_path):
    settings, document_id = written
    running = Database(database_url(settings.data_dir))
    target = tmp_path / "copy" / "tideline.db"
    target.parent.mkdir()

    report = maintenance.back_up_store(settings, target)

    running.close()
    assert report.is_sound
    assert (report.num_documents, report.num_edits) == (1, 71)
    copy = EditorSettings(data_dir=target.parent)
    shown = maintenance.export_stored(copy, document_id, form="txt").body
    assert shown == maintenance.export_stored(settings, document_id, form="txt").body


def test_S12_a_backup_writes_over_nothing(written, tmp_path):
    settings, _ = written
    (tmp_path / "there.db").write_text("mine")

    with pytest.raises(Unavailable, match="never writes over"):
        maintenance.back_up_store(settings, tmp_path / "there.db")

    assert (tmp_path / "there.db").read_text() == "mine"


def test_reading_works_beside_a_running_server_and_writing_does_not(written, tmp_path):
    settings, document_id = written
    running = Database(database_url(settings.data_dir))
    (tmp_path / "a.txt").write_text("a")

    assert maintenance.verify_store(settings).is_sound
    assert maintenance.export_stored(settings, document_id, form="md").body
    with pytest.raises(StoreBusy):
        maintenance.import_path(settings, tmp_path / "a.txt")
    with pytest.raises(StoreBusy):
        maintenance.upgrade_schema(settings)
    running.close()


def test_the_schema_is_made_shown_and_checked(tmp_path):
    settings = EditorSettings(data_dir=tmp_path)
    with pytest.raises(NotFound):
        maintenance.show_schema(settings)

    made = maintenance.upgrade_schema(settings)

    assert made.current == made.newest == maintenance.show_schema(settings).current
    tamper(settings, "UPDATE alembic_version SET version_num = '0000'", drop=False)
    with pytest.raises(Unavailable, match="db upgrade"):
        maintenance.verify_store(settings)


def test_a_run_replayed_gives_the_same_text(tmp_path, nursery):
    with ServerProcess(nursery, tmp_path, TIDELINE_WORKER_URL="") as server:
        made = server.create("Dear [___], thank you for ___ today.")
        run = server.refine(made["id"], settings={"seed": 5, "preset": "fast"})
        server.stop()
    settings = EditorSettings(data_dir=tmp_path)
    engine = EngineSettings(denoiser="scripted")

    report = asyncio.run(maintenance.replay_run(settings, engine, run["id"]))

    assert report.has_matched
    assert report.differences == ()
    assert report.stored_sha256 == run["run_card"]["result_sha256"]


def test_replaying_what_does_not_exist_is_told(written):
    settings, _ = written
    with pytest.raises(NotFound):
        asyncio.run(maintenance.replay_run(settings, EngineSettings(), "nope"))
