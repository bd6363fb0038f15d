"""Names, spans and origins of revisions; seals by which every stored row can be checked.

What exists keeps its hashes and counts as it is: head pointers are taken from it, and rows
without a seal are accepted in documents that are not marked as sealed from their beginning.
Going down again drops names, spans of revisions, origins and seals; revisions written meanwhile
then fail the older program's check, since its hashes cannot say what they covered.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def _columns() -> dict[str, list[sa.Column[object]]]:
    return {
        "documents": [
            sa.Column("head_n", sa.Integer),
            sa.Column("head_hash", sa.String(64)),
            sa.Column("spans_hash", sa.String(64)),
            sa.Column("log_hash", sa.String(64)),
            sa.Column("num_runs", sa.Integer, nullable=False, server_default="0"),
            sa.Column("num_suggestions", sa.Integer, nullable=False, server_default="0"),
            sa.Column("is_sealed", sa.Boolean, nullable=False, server_default=sa.false()),
        ],
        "edits": [sa.Column("origin", sa.JSON), sa.Column("hash", sa.String(64))],
        "revisions": [
            sa.Column("name", sa.Text),
            sa.Column("marks", sa.JSON),
            sa.Column("form", sa.Integer, nullable=False, server_default="1"),
        ],
        "runs": [sa.Column("seal", sa.String(64))],
        "suggestions": [sa.Column("seal", sa.String(64))],
        "ops": [sa.Column("kind", sa.String(16)), sa.Column("subjects", sa.JSON)],
    }


def upgrade() -> None:
    for table, columns in _columns().items():
        for column in columns:
            op.add_column(table, column)
    op.execute(
        "UPDATE documents SET "
        "head_n = (SELECT max(n) FROM revisions WHERE revisions.document_id = documents.id), "
        "num_runs = (SELECT count(*) FROM runs WHERE runs.document_id = documents.id), "
        "num_suggestions = "
        "(SELECT count(*) FROM suggestions WHERE suggestions.document_id = documents.id)"
    )
    op.execute(
        "UPDATE documents SET head_hash = (SELECT hash FROM revisions "
        "WHERE revisions.document_id = documents.id AND revisions.n = documents.head_n)"
    )


def downgrade() -> None:
    for table, columns in _columns().items():
        for column in columns:
            op.drop_column(table, column.name)
