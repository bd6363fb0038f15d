"""Tables. Times are seconds since 1970 UTC, offsets code points, nested values JSON.

`documents` and `spans` describe the head, without its text; `edits` and `revisions` are the
append-only logs from which every text can be rebuilt; `snapshots` is a cache of that and may be
emptied. `purges` remembers what was removed by its hashes only: a row there is what lets the
triggers of the logs pass. `head_n` to `num_suggestions` of a document, the hashes of edits and
the seals of runs and suggestions say what must be there (`editor.store.seals`).
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
)

__all__ = [
    "documents",
    "edits",
    "metadata",
    "ops",
    "passes",
    "purges",
    "revisions",
    "runs",
    "snapshots",
    "spans",
    "suggestions",
]

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


def _document_id(*, primary_key: bool = False) -> Column[str]:
    return Column(
        "document_id",
        String(64),
        ForeignKey("documents.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


documents = Table(
    "documents",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("title", Text, nullable=False),
    Column("version", Integer, nullable=False),  # of the head
    Column("text_hash", String(64), nullable=False),  # of the head
    Column("created_s", Float, nullable=False),
    Column("updated_s", Float, nullable=False),
    Column("head_n", Integer),  # the newest revision
    Column("head_hash", String(64)),
    Column("spans_hash", String(64)),  # of all rows in `spans`
    Column("log_hash", String(64)),  # of the newest edit
    Column("num_runs", Integer, nullable=False, server_default="0"),
    Column("num_suggestions", Integer, nullable=False, server_default="0"),
    Column("is_sealed", Boolean, nullable=False, server_default=false()),  # from its beginning
)

edits = Table(
    "edits",
    metadata,
    _document_id(primary_key=True),
    Column("version", Integer, primary_key=True),  # after the edit
    Column("op_id", String(64), nullable=False),
    Column("client_id", String(64), nullable=False),
    Column("cause", String(16), nullable=False),
    Column("changes", JSON, nullable=False),  # code points
    Column("created_at", String(40), nullable=False),  # ISO 8601
    Column("origin", JSON),  # where its insertions came from
    Column("hash", String(64)),  # chained to the edit before
)

revisions = Table(
    "revisions",
    metadata,
    _document_id(primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("parent", Integer),
    Column("version", Integer, nullable=False),
    Column("author_kind", String(16), nullable=False),
    Column("summary", Text, nullable=False),
    Column("created_at", String(40), nullable=False),  # ISO 8601; part of the hash as written
    Column("changes", JSON, nullable=False),  # from the parent's text, or from nothing
    Column("text_hash", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("name", Text),
    Column("marks", JSON),  # spans, open suggestions, origins
    Column("form", Integer, nullable=False, server_default="1"),  # of the hash
)

spans = Table(
    "spans",
    metadata,
    _document_id(primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("settings", JSON, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(64), primary_key=True),
    _document_id(),
    Column("base_version", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("route", String(32), nullable=False),
    Column("span_ids", JSON, nullable=False),
    Column("job", JSON, nullable=False),  # as sent to the worker, less the text
    Column("passes", Integer, nullable=False),
    Column("max_passes", Integer, nullable=False),
    Column("stop_reason", String(32)),
    Column("code", String(64)),
    Column("message", Text),
    Column("tokens_per_pass", Float, nullable=False),
    Column("timings", JSON),
    Column("run_card", JSON),
    Column("created_s", Float, nullable=False),
    Column("ended_s", Float),
    Column("seal", String(64)),
    Index("ix_runs_document_id", "document_id"),
)

passes = Table(
    "passes",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True),  # order of the engine's records, from 0
    Column("pass_index", Integer, nullable=False),  # of one canvas; a run may have several
    Column("committed", Integer, nullable=False),
    Column("remasked", Integer, nullable=False),
    Column("edited", Integer, nullable=False),
    Column("masked_left", Integer, nullable=False),
    Column("mean_confidence", Float, nullable=False),
    Column("mean_entropy", Float, nullable=False),
    Column("pass_ms", Float, nullable=False),
    Column("canvas_hash", String(128), nullable=False),
)

suggestions = Table(
    "suggestions",
    metadata,
    Column("id", String(64), primary_key=True),
    _document_id(),
    Column("run_id", String(64), ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("span_id", String(64), nullable=False),
    Column("base_version", Integer, nullable=False),
    Column("original", Text, nullable=False),
    Column("alternatives", JSON, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_s", Float, nullable=False),
    Column("decided_s", Float),
    Column("seal", String(64)),
    Index("ix_suggestions_document_id", "document_id"),
    Index("ix_suggestions_run_id", "run_id"),
)

ops = Table(
    "ops",
    metadata,
    _document_id(primary_key=True),
    Column("op_id", String(64), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("created_s", Float, nullable=False),
    Column("kind", String(16)),
    Column("subjects", JSON),  # ids of what it made or decided
)

snapshots = Table(
    "snapshots",
    metadata,
    _document_id(primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("text", Text, nullable=False),
)

purges = Table(
    "purges",
    metadata,
    Column("document_id", String(64), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("text_hash", String(64), nullable=False),
    Column("revision_hash", String(64), nullable=False),
    Column("purged_s", Float, nullable=False),
)
