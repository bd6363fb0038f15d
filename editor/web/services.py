"""What the routes share: built once per server, reached through the request, never a global."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import text
from starlette.requests import HTTPConnection

from editor.errors import Unavailable
from editor.hub.hub import Hub
from editor.settings import EditorSettings
from editor.store.database import Database
from editor.web.metrics import Metrics
from engine.client import EngineClient

__all__ = ["Services", "find_services"]


@dataclass(frozen=True, slots=True)
class Services:
    """One server's parts."""

    settings: EditorSettings
    database: Database
    client: EngineClient
    hub: Hub
    metrics: Metrics

    async def is_store_ready(self) -> bool:
        """Whether a read from the database succeeds now."""
        try:
            await self.database.read(lambda connection: connection.execute(text("SELECT 1")))
        except Unavailable:
            return False
        return True


def find_services(connection: HTTPConnection) -> Services:
    """Return the parts of the server that serves `connection`."""
    services = connection.app.state.services
    assert isinstance(services, Services)
    return services
