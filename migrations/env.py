"""Runs migrations on the connection that `editor.store.migrating` hands over."""

from __future__ import annotations

from alembic import context

from editor.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
