import asyncio
import errno
import threading
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from editor.errors import DiskFull, NotFound, StoreBusy, Unavailable
from editor.store import migrating
from editor.store.database import Database, database_url
from editor.store.schema import metadata, purges


@pytest.fixture
def database(tmp_path):
    database = Database(database_url(tmp_path))
    yield database
    database.close()


def a_purge(document_id, revision_hash=""):
    return insert(purges).values(
        document_id=document_id, version=0, text_hash="", revision_hash=revision_hash, purged_s=0.0
    )


def num_purges(database):
    return len(database.read_now(lambda db: db.execute(select(purges)).all()))


def test_settings_that_keep_committed_work_are_on(database):
    def pragmas(db):
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "secure_delete")
        return [db.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    for found in (database.read_now(pragmas), database.write_now(pragmas)):
        assert found == ["wal", 2, 1, 5000, 1]


def test_readers_cannot_write(database):
    with pytest.raises(Unavailable, match="readonly"):
        database.read_now(lambda db: db.execute(a_purge("x")))


def test_a_failing_write_keeps_nothing(database):
    def write(db):
        db.execute(a_purge("x"))
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        database.write_now(write)
    assert num_purges(database) == 0


def test_writes_happen_one_after_the_other_on_one_thread(database):
    async def write_many():
        return await asyncio.gather(
            *(database.write(lambda _db: threading.get_ident()) for _ in range(20))
        )

    threads = asyncio.run(write_many())

    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


def test_a_read_sees_the_committed_state_only(database):
    seen = []

    def write(db):
        db.execute(a_purge("x"))
        seen.append(num_purges(database))

    database.write_now(write)

    assert [*seen, num_purges(database)] == [0, 1]


def test_second_instance_is_refused_and_named(tmp_path, database):
    with pytest.raises(StoreBusy) as caught:
        Database(database_url(tmp_path))
    assert str(tmp_path / "tideline.db") in str(caught.value)


def test_closing_lets_the_next_instance_in(tmp_path):
    Database(database_url(tmp_path)).close()
    Database(database_url(tmp_path)).close()


def test_reading_beside_an_instance_is_allowed(tmp_path, database):
    database.write_now(lambda db: db.execute(a_purge("x")))

    reader = Database(database_url(tmp_path), exclusive=False)

    assert num_purges(reader) == 1
    reader.close()


def test_reading_where_no_database_is_makes_none(tmp_path):
    with pytest.raises(NotFound, match="there is no database"):
        Database(database_url(tmp_path), exclusive=False)
    assert list(tmp_path.iterdir()) == []


def test_a_full_database_is_told_and_the_old_state_stays(database):
    database.write_now(lambda db: db.execute(a_purge("before")))
    pages = database.write_now(lambda db: db.exec_driver_sql("PRAGMA page_count").scalar())
    database.write_now(lambda db: db.exec_driver_sql(f"PRAGMA max_page_count = {pages}"))

    with pytest.raises(DiskFull, match="nothing was changed"):
        database.write_now(lambda db: db.execute(a_purge("x" * 60, "y" * 200_000)))

    assert num_purges(database) == 1
    database.write_now(lambda db: db.exec_driver_sql("PRAGMA max_page_count = 1000000"))
    database.write_now(lambda db: db.execute(a_purge("after")))
    assert num_purges(database) == 2


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull), (errno.EIO, Unavailable)],
)
def test_errors_of_the_disk_become_ours(database, number, kind):
    def fail(_db):
        raise OSError(number, "no")

    with pytest.raises(kind):
        database.write_now(fail)


def test_errors_name_no_values(database):
    with pytest.raises(Exception, match="purges") as caught:
        database.write_now(lambda db: [db.execute(a_purge("secret words")) for _ in range(2)])
    assert "secret" not in str(caught.value)


def test_a_directory_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(Unavailable, match="cannot be used"):
        Database(database_url(tmp_path / "file" / "below"))


def test_a_file_that_is_no_database_is_told(tmp_path: Path):
    (tmp_path / "tideline.db").write_text("no database" * 1000)

    with pytest.raises(Unavailable, match="not a database"):
        Database(database_url(tmp_path))
    (tmp_path / "tideline.db").unlink()
    Database(database_url(tmp_path)).close()  # and the lock is free again


def test_migration_goes_up_down_and_up_and_leaves_nothing_behind(database):
    def tables(db):
        names = db.exec_driver_sql("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
        return set(names.scalars()) - {"alembic_version"}

    up = database.read_now(tables)
    database.write_now(lambda db: migrating.downgrade(db, "base"))
    down = database.read_now(tables)
    database.write_now(migrating.upgrade)

    assert down == set()
    assert database.read_now(tables) == up
    assert set(metadata.tables) <= up


def test_migrations_lead_to_the_schema_that_the_program_uses(database):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    def differences(db):
        return compare_metadata(MigrationContext.configure(db), metadata)

    assert database.read_now(differences) == []
    assert database.read_now(migrating.current) == migrating.newest()


def test_a_schema_of_a_newer_program_is_refused(tmp_path):
    database = Database(database_url(tmp_path))
    database.write_now(lambda db: db.execute(text("UPDATE alembic_version SET version_num='9999'")))
    database.close()

    with pytest.raises(Unavailable, match="9999, which is newer"):
        Database(database_url(tmp_path))
