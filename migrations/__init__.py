"""Alembic migrations of the editor's database; `editor.store.migrating` runs them."""
