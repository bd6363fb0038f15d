"""Documents with their logs, spans, runs, suggestions and idempotent operations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_LOGS = ("edits", "revisions")


def upgrade() -> None:
    _create_documents()
    _create_logs()
    _create_spans()
    _create_runs()
    _create_suggestions()
    _create_bookkeeping()
    if op.get_bind().dialect.name == "sqlite":
        for table in _LOGS:
            _guard_log(table)


def downgrade() -> None:
    for table in (
        "ops",
        "snapshots",
        "suggestions",
        "passes",
        "runs",
        "spans",
        "revisions",
        "edits",
        "documents",
        "purges",
    ):
        op.drop_table(table)


def _document_id(*, primary_key: bool = False) -> sa.Column[str]:
    return sa.Column(
        "document_id",
        sa.String(64),
        sa.ForeignKey("documents.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


def _create_documents() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("text_hash", sa.String(64), nullable=False),
        sa.Column("created_s", sa.Float, nullable=False),
        sa.Column("updated_s", sa.Float, nullable=False),
    )


def _create_logs() -> None:
    op.create_table(
        "edits",
        _document_id(primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("op_id", sa.String(64), nullable=False),
        sa.Column("client_id", sa.String(64), nullable=False),
        sa.Column("cause", sa.String(16), nullable=False),
        sa.Column("changes", sa.JSON, nullable=False),
        sa.Column("created_at", sa.String(40), nullable=False),
    )
    op.create_table(
        "revisions",
        _document_id(primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("parent", sa.Integer),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("author_kind", sa.String(16), nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("created_at", sa.String(40), nullable=False),
        sa.Column("changes", sa.JSON, nullable=False),
        sa.Column("text_hash", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )


def _create_spans() -> None:
    op.create_table(
        "spans",
        _document_id(primary_key=True),
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
    )


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(64), primary_key=True),
        _document_id(),
        sa.Column("base_version", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("route", sa.String(32), nullable=False),
        sa.Column("span_ids", sa.JSON, nullable=False),
        sa.Column("job", sa.JSON, nullable=False),
        sa.Column("passes", sa.Integer, nullable=False),
        sa.Column("max_passes", sa.Integer, nullable=False),
        sa.Column("stop_reason", sa.String(32)),
        sa.Column("code", sa.String(64)),
        sa.Column("message", sa.Text),
        sa.Column("tokens_per_pass", sa.Float, nullable=False),
        sa.Column("timings", sa.JSON),
        sa.Column("run_card", sa.JSON),
        sa.Column("created_s", sa.Float, nullable=False),
        sa.Column("ended_s", sa.Float),
    )
    op.create_index("ix_runs_document_id", "runs", ["document_id"])
    op.create_table(
        "passes",
        sa.Column(
            "run_id", sa.String(64), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("pass_index", sa.Integer, nullable=False),
        sa.Column("committed", sa.Integer, nullable=False),
        sa.Column("remasked", sa.Integer, nullable=False),
        sa.Column("edited", sa.Integer, nullable=False),
        sa.Column("masked_left", sa.Integer, nullable=False),
        sa.Column("mean_confidence", sa.Float, nullable=False),
        sa.Column("mean_entropy", sa.Float, nullable=False),
        sa.Column("pass_ms", sa.Float, nullable=False),
        sa.Column("canvas_hash", sa.String(128), nullable=False),
    )


def _create_suggestions() -> None:
    op.create_table(
        "suggestions",
        sa.Column("id", sa.String(64), primary_key=True),
        _document_id(),
        sa.Column(
            "run_id", sa.String(64), sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("span_id", sa.String(64), nullable=False),
        sa.Column("base_version", sa.Integer, nullable=False),
        sa.Column("original", sa.Text, nullable=False),
        sa.Column("alternatives", sa.JSON, nullable=False),
        sa.Column("confidence", sa.Float, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_s", sa.Float, nullable=False),
        sa.Column("decided_s", sa.Float),
    )
    op.create_index("ix_suggestions_document_id", "suggestions", ["document_id"])
    op.create_index("ix_suggestions_run_id", "suggestions", ["run_id"])


def _create_bookkeeping() -> None:
    op.create_table(
        "ops",
        _document_id(primary_key=True),
        sa.Column("op_id", sa.String(64), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_s", sa.Float, nullable=False),
    )
    op.create_table(
        "snapshots",
        _document_id(primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "purges",
        sa.Column("document_id", sa.String(64), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("text_hash", sa.String(64), nullable=False),
        sa.Column("revision_hash", sa.String(64), nullable=False),
        sa.Column("purged_s", sa.Float, nullable=False),
    )


def _guard_log(table: str) -> None:
    """Refuse UPDATE always, and DELETE unless a purge of the document was recorded first."""
    op.execute(
        f"CREATE TRIGGER {table}_refuse_update BEFORE UPDATE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    )
    op.execute(
        f"CREATE TRIGGER {table}_refuse_delete BEFORE DELETE ON {table} "
        "WHEN NOT EXISTS (SELECT 1 FROM purges WHERE purges.document_id = OLD.document_id) "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    )
