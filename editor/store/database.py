"""The database door: one writer thread, several readers, one instance per database file.

Every write is one `BEGIN IMMEDIATE` transaction on the only writer thread, so order is
defined and a caller that got an answer knows that the commit is on disk (WAL with
`synchronous=FULL`). Readers see committed states only. It knows tables and transactions,
nothing of documents' rules. Statements' parameters never reach a log or an error text.
"""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError

from editor.errors import DiskFull, NotFound, StoreBusy, Unavailable
from editor.store.migrating import upgrade

__all__ = ["Database", "database_url"]

T = TypeVar("T")
Work = Callable[[Connection], T]

_BUSY_TIMEOUT_MS = 5_000
_NUM_READERS = 4


def database_url(data_dir: Path, url: str | None = None) -> str:
    """Return the SQLAlchemy URL: `url` if given, else SQLite in `data_dir`."""
    return url or f"sqlite:///{data_dir / 'tideline.db'}"


class Database:
    """An open database. Close it to let another instance in."""

    def __init__(self, url: str, *, exclusive: bool = True) -> None:
        """Open, lock and migrate the database at `url`.

        `exclusive=False` opens for reading beside a running instance and migrates nothing.
        Raises: StoreBusy when another instance holds it, NotFound when there is nothing to
        read, DiskFull, Unavailable.
        """
        if not exclusive:
            _check_exists(url)
        self.url = url
        self._lock = _hold(url) if exclusive else None
        try:
            self._writer = _engine(url, immediate=True)
            self._reader = _engine(url, immediate=False)
            if exclusive:
                self._transact(upgrade)
        except BaseException:
            self._release()
            raise
        self._write_thread = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._read_threads = ThreadPoolExecutor(_NUM_READERS, thread_name_prefix="store-reader")

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one transaction on the writer thread; return after the commit.

        Raises: what `work` raises (nothing is kept then), DiskFull, Unavailable.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._write_thread, self._transact, work)

    async def read(self, work: Work[T]) -> T:
        """Run `work` against one committed state, off the event loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._read_threads, self.read_now, work)

    async def compact(self) -> None:
        """Empty the write-ahead log, so that it keeps nothing that was purged."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._write_thread, self._checkpoint)

    def compact_now(self) -> None:
        """As `compact`, for callers without an event loop."""
        self._write_thread.submit(self._checkpoint).result()

    def back_up(self, target: Path) -> None:
        """Write the newest committed state into a new file, beside running instances.

        Raises: Unavailable for a database other than SQLite, or when the file cannot be written.
        """
        if self._reader.dialect.name != "sqlite":
            raise Unavailable("only SQLite is backed up here; use the database's own tool")
        with _store_errors(), self._reader.connect() as connection:
            cursor = connection.connection.cursor()
            cursor.execute("PRAGMA query_only = OFF")  # it would refuse the other file too
            try:
                cursor.execute("VACUUM INTO ?", (str(target),))
            finally:
                cursor.execute("PRAGMA query_only = ON")
                cursor.close()

    def write_now(self, work: Work[T]) -> T:
        """As `write`, for callers without an event loop; waits its turn."""
        return self._write_thread.submit(self._transact, work).result()

    def read_now(self, work: Work[T]) -> T:
        """As `read`, for callers without an event loop."""
        with _store_errors(), self._reader.connect() as connection:
            return work(connection)

    def close(self) -> None:
        """Finish queued writes, close every connection and release the lock."""
        self._write_thread.shutdown(wait=True)
        self._read_threads.shutdown(wait=True)
        self._release()

    def _transact(self, work: Work[T]) -> T:
        with _store_errors(), self._writer.begin() as connection:
            return work(connection)

    def _checkpoint(self) -> None:
        if self._writer.dialect.name == "sqlite":
            with _store_errors(), self._writer.connect() as connection:
                connection.connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _release(self) -> None:
        for engine in (getattr(self, "_reader", None), getattr(self, "_writer", None)):
            if engine is not None:
                engine.dispose()
        if self._lock is not None:
            self._lock.release()


def _hold(url: str) -> FileLock | None:
    database = make_url(url).database
    if not url.startswith("sqlite") or database in (None, "", ":memory:"):
        return None
    assert database is not None
    path = Path(f"{database}.lock")
    with _store_errors():
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreBusy(
                f"another instance holds {database}; stop it, or set TIDELINE_DATA_DIR "
                "to another directory"
            ) from error
    return lock


def _check_exists(url: str) -> None:
    database = make_url(url).database
    if url.startswith("sqlite") and database and not Path(database).exists():
        raise NotFound(f"there is no database at {database}; TIDELINE_DATA_DIR says where to look")


def _engine(url: str, *, immediate: bool) -> Engine:
    engine = create_engine(
        url,
        hide_parameters=True,  # parameters are the user's words
        json_serializer=partial(json.dumps, ensure_ascii=False, separators=(",", ":")),
        **({"pool_size": _NUM_READERS} if not immediate else {"pool_size": 1, "max_overflow": 0}),
    )
    if engine.dialect.name == "sqlite":
        _set_up_sqlite(engine, immediate=immediate)
    return engine


def _set_up_sqlite(engine: Engine, *, immediate: bool) -> None:
    begin = "BEGIN IMMEDIATE" if immediate else "BEGIN"

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, sqlite3 must not
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        if immediate:
            cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA secure_delete = ON")  # a purge must not leave text in free pages
        if not immediate:
            cursor.execute("PRAGMA query_only = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def say_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)


@contextmanager
def _store_errors() -> Iterator[None]:
    """Turn the driver's refusals into the application's errors."""
    try:
        yield
    except OSError as error:
        raise _from_os_error(error) from error
    except DBAPIError as error:
        known = _from_driver(error)
        if known is None:
            raise
        raise known from error


def _from_os_error(error: OSError) -> Unavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("no space left on the disk of the database; nothing was changed")
    return Unavailable(f"the database cannot be used: {error.strerror}: {error.filename}")


def _from_driver(error: DBAPIError) -> Unavailable | None:
    reason = str(error.orig)
    if "database or disk is full" in reason:
        return DiskFull("no space left on the disk of the database; nothing was changed")
    if "locked" in reason or "busy" in reason:
        return StoreBusy("another program holds the database; nothing was changed")
    if isinstance(error, OperationalError) or type(error) is DatabaseError:
        return Unavailable(f"the database cannot be used: {reason}")
    return None
