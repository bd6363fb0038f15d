"""What the command line does with stored documents: schema, verify, replay, export, import,
purge, backup.

Plain functions with their results as frozen values; `app.py` prints them. Reading functions
work beside a running server, writing ones need the database for themselves.
"""

from __future__ import annotations

import dataclasses
import json
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from editor.document.creation import NewDocument, create_document
from editor.document.revisions import format_time
from editor.errors import NotFound, Unavailable
from editor.hub.jobs import check_settings
from editor.services.documents import Exportable, Exported, export_document, import_file
from editor.services.history import provenance_at
from editor.services.verifying import Fault, VerifyReport, verify_database
from editor.settings import EditorSettings
from editor.store import documents, log, migrating, runs
from editor.store.database import Database, database_url
from engine.client import EngineClient
from engine.contract import JobFailed, JobFinished, RefineJob, decode_to_worker
from engine.settings import EngineSettings

__all__ = [
    "Fault",
    "PurgeReport",
    "ReplayReport",
    "SchemaReport",
    "VerifyReport",
    "back_up_store",
    "export_stored",
    "import_path",
    "purge_document",
    "replay_run",
    "show_schema",
    "upgrade_schema",
    "verify_store",
]


@dataclass(frozen=True, slots=True)
class SchemaReport:
    """Schema revisions: of the database (None: it is empty), and of this program."""

    current: str | None
    newest: str


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What stays of a purged document: version and hashes of its head, and when it was removed."""

    document_id: str
    version: int
    text_hash: str
    revision_hash: str
    purged_at: str  # ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """Whether a run, run again, gave the same text. `differences` are run card fields."""

    run_id: str
    has_matched: bool
    stored_sha256: str
    replayed_sha256: str
    differences: tuple[str, ...]


def show_schema(settings: EditorSettings) -> SchemaReport:
    """Tell which schema the database has. Raises: NotFound when there is none, Unavailable."""
    with _opened(settings, exclusive=False, any_schema=True) as database:
        return SchemaReport(database.read_now(migrating.current), migrating.newest())


def upgrade_schema(settings: EditorSettings) -> SchemaReport:
    """Create the database or bring it to the newest schema. Raises: StoreBusy, DiskFull."""
    with _opened(settings, exclusive=True) as database:
        return SchemaReport(database.read_now(migrating.current), migrating.newest())


def verify_store(settings: EditorSettings) -> VerifyReport:
    """Rebuild every text from the logs; check every hash, chain, seal and count."""
    with _opened(settings, exclusive=False) as database:
        return database.read_now(verify_database)


async def replay_run(
    settings: EditorSettings, engine_settings: EngineSettings, run_id: str
) -> ReplayReport:
    """Run a stored run's job again and compare the hashes of the results.

    Raises: NotFound; Unavailable when the run has no result or the engine cannot run it.
    """
    with _opened(settings, exclusive=False) as database:
        row, job = database.read_now(lambda db: _stored_job(db, run_id))
    if row.run_card is None:
        raise Unavailable(f"run {run_id!r} ended as {row.state} and has no result to compare")
    result = await _run_again(engine_settings, job)
    card = json.loads(json.dumps(dataclasses.asdict(result.run_card)))
    stored = row.run_card
    differences = tuple(key for key in card if card[key] != stored.get(key))
    return ReplayReport(
        run_id=run_id,
        has_matched=result.run_card.result_sha256 == stored["result_sha256"],
        stored_sha256=stored["result_sha256"],
        replayed_sha256=result.run_card.result_sha256,
        differences=differences,
    )


def export_stored(settings: EditorSettings, document_id: str, *, form: str = "json") -> Exported:
    """Return a document's file. Raises: NotFound, UnsupportedFormat."""

    def read(db: Connection) -> Exportable:
        state = documents.load_document(db, document_id)
        history = list(log.revisions_of(db, document_id))
        origins = provenance_at(db, document_id, state.version)
        return Exportable(
            state.id, state.title, state.text, state.version, state.spans, history, origins
        )

    with _opened(settings, exclusive=False) as database:
        return export_document(database.read_now(read), form)


def import_path(settings: EditorSettings, path: Path) -> documents.DocumentRow:
    """Store a file as a new document. Raises: StoreBusy, UnsupportedFormat, InvalidText..."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error
    imported = import_file(raw, filename=path.name)
    now_s = time.time()
    new = NewDocument(
        imported.text,
        imported.title[:200],
        imported.spans,
        "import",
        f"Imported {path.suffix}",
        imported.origins,
    )
    state = create_document(
        new,
        now_s=now_s,
        new_id=lambda: uuid.uuid4().hex,
        limit=settings.max_document_code_points,
    )
    for span in state.spans:
        check_settings(span)
    with _opened(settings, exclusive=True) as database:
        database.write_now(lambda db: documents.add_document(db, state, now_s=now_s))
        return database.read_now(lambda db: documents.find_document(db, state.id))


def purge_document(settings: EditorSettings, document_id: str) -> PurgeReport:
    """Remove a document with every text of it; its hashes and times stay (BEHAVIOURS I4).

    Raises: NotFound; StoreBusy while a server runs, which deletes documents itself.
    """
    now_s = time.time()
    with _opened(settings, exclusive=True) as database:
        row = database.read_now(lambda db: documents.find_document(db, document_id))
        head = database.read_now(lambda db: log.latest_revision(db, document_id))
        database.write_now(lambda db: documents.purge_document(db, document_id, now_s=now_s))
        database.compact_now()
    return PurgeReport(document_id, row.version, row.hash, head.hash, format_time(now_s))


def back_up_store(settings: EditorSettings, target: Path) -> VerifyReport:
    """Write a copy of the database to a new file and verify the copy (store rule S12).

    Works beside a running server. Raises: NotFound; Unavailable when the file exists or cannot
    be written.
    """
    if target.exists():
        raise Unavailable(f"{target} exists; a backup never writes over a file")
    with _opened(settings, exclusive=False) as database:
        database.back_up(target)
    copied = Database(f"sqlite:///{target}", exclusive=False)
    try:
        return copied.read_now(verify_database)
    finally:
        copied.close()


@contextmanager
def _opened(
    settings: EditorSettings, *, exclusive: bool, any_schema: bool = False
) -> Iterator[Database]:
    url = database_url(settings.data_dir, settings.database_url)
    database = Database(url, exclusive=exclusive)
    try:
        if not any_schema:
            _check_schema(database)
        yield database
    finally:
        database.close()


def _check_schema(database: Database) -> None:
    current, newest = database.read_now(migrating.current), migrating.newest()
    if current != newest:
        raise Unavailable(
            f"the database has schema {current}, this program needs {newest}; "
            "run `python app.py db upgrade`"
        )


def _stored_job(db: Connection, run_id: str) -> tuple[runs.RunRow, RefineJob]:
    row = runs.find_run(db, run_id)
    text = log.rebuild_text(db, row.document_id, row.base_version).text
    job = decode_to_worker(json.dumps({**row.job, "text": text}))
    assert isinstance(job, RefineJob), "what is stored for a run is a refine job"
    return row, job


async def _run_again(settings: EngineSettings, job: RefineJob) -> JobFinished:
    async with EngineClient(settings) as client:
        async for event in client.submit(job):
            if isinstance(event, JobFailed):
                raise Unavailable(f"the run failed when run again: {event.message}")
            if isinstance(event, JobFinished):
                return event
    raise Unavailable("the run had no end when run again")
