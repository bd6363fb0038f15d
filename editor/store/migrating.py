"""Bringing a database to the newest schema, and telling which one it has."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

import migrations
from editor.errors import Unavailable

__all__ = ["current", "downgrade", "newest", "upgrade"]


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Migrate up to `revision` within the caller's transaction.

    Raises: Unavailable for a schema that this program does not know.
    """
    try:
        command.upgrade(_config(connection), revision)
    except CommandError as error:
        raise Unavailable(
            f"the database has schema {current(connection)}, which is newer than this program's "
            f"{newest()}; use the newer program"
        ) from error


def downgrade(connection: Connection, revision: str) -> None:
    """Migrate down to `revision` ("base" drops every table) within the caller's transaction."""
    command.downgrade(_config(connection), revision)


def current(connection: Connection) -> str | None:
    """Return the schema revision of the database, None when it is empty."""
    return MigrationContext.configure(connection).get_current_revision()


def newest() -> str:
    """Return the schema revision that this program needs."""
    head = ScriptDirectory.from_config(_config(None)).get_current_head()
    assert head is not None
    return head


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option(
        "script_location", str(Path(migrations.__file__).parent).replace("%", "%%")
    )
    config.attributes["connection"] = connection
    return config
