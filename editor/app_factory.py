"""Puts the web process together: store, worker client, hub, routes, access, shell.

`create_app` builds, `serve` runs. Nothing here decides about documents. The order matters: our
routes come before the shell, which answers every other address; access stands before both.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import uvicorn
from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse

from editor.auth.access import AccessGuard, stored_access_token
from editor.errors import EditorError, Unavailable
from editor.hub.hub import Hub
from editor.logging import get_logger
from editor.settings import EditorSettings
from editor.store.database import Database, database_url
from editor.web import document_routes, health, run_routes, websocket
from editor.web.access import AccessGate
from editor.web.error_shape import ErrorShape
from editor.web.errors import install_error_shape
from editor.web.metrics import Metrics
from editor.web.middleware import BodyLimit, ErrorBoundary, RequestLog, SecurityHeaders
from editor.web.reference import reference_page
from editor.web.services import Services
from engine.client import EngineClient
from engine.settings import EngineSettings

__all__ = ["create_app", "serve"]

log = get_logger(__name__)

GRACEFUL_SHUTDOWN_S = 4
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

_DESCRIPTION = """Documents whose locked words stay and whose marked regions a diffusion language \
model refines in parallel passes.

Offsets are Unicode code points of the text, ranges are half-open, line ends are `\\n`. Send \
`Authorization: Bearer TOKEN`. Every refusal has the one shape \
`{"code", "message", "retryable"}`, and changes nothing."""


def create_app(
    settings: EditorSettings,
    engine_settings: EngineSettings,
    *,
    client: EngineClient | None = None,
    database: Database | None = None,
    shell: bool = True,
) -> FastAPI:
    """Return the application; its lifespan opens what was not given, and closes everything.

    `shell=False` leaves Gradio out: REST, websocket and health only.
    """
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        store = database or Database(database_url(settings.data_dir, settings.database_url))
        try:
            async with client or EngineClient(engine_settings) as engine:
                hub = Hub(store, engine, settings=settings, figures=metrics)
                app.state.services = Services(settings, store, engine, hub, metrics)
                async with hub:
                    yield
        finally:
            await asyncio.to_thread(store.close)

    app = FastAPI(
        title="Tideline",
        version="0.1.0",
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        middleware=_middleware(settings, metrics),
    )
    install_error_shape(app)
    routers = [part.router for part in (document_routes, run_routes, health, websocket)]
    for router in routers:
        app.include_router(router)
    _add_reference(app)
    _refuse_other_calls(app, routers)
    if shell:
        from editor.ui import mount_shell  # Gradio takes seconds to import; tests do without it

        mount_shell(app, settings)
    return app


def serve(settings: EditorSettings, engine_settings: EngineSettings, *, shell: bool = True) -> int:
    """Serve until interrupted; print the link once listening. Returns the exit code.

    2 when it cannot begin: port in use, another instance on the database, front end not built.
    """
    try:
        access_token = settings.access_token or stored_access_token(settings.data_dir)
        settings = settings.model_copy(update={"access_token": access_token})
        listener = _listen(settings.host, settings.port)
        database = Database(database_url(settings.data_dir, settings.database_url))
        app = create_app(settings, engine_settings, database=database, shell=shell)
    except EditorError as error:
        print(f"tideline: {error}", file=sys.stderr)
        return 2
    with listener:
        return _run(app, listener, settings)


def _run(app: FastAPI, listener: socket.socket, settings: EditorSettings) -> int:
    host, port = settings.host, listener.getsockname()[1]
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    shown = f"[{shown}]" if ":" in shown else shown

    def announce() -> None:
        print("\n  Tideline is ready. Open this link (it holds your access token):\n")
        print(f"    http://{shown}:{port}/?token={settings.access_token}\n", flush=True)

    config = uvicorn.Config(
        app,
        ws="websockets-sansio",
        ws_max_size=settings.frame_limit_bytes,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_S,
        log_config=None,
        access_log=False,
        server_header=False,
    )
    server = _AnnouncingServer(config, announce)
    # uvicorn raises the signal again after a clean end; that end is then ours to report
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        return 0
    return 0 if server.started else 1


class _AnnouncingServer(uvicorn.Server):
    """Says so when it has begun to listen."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._announce()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise Unavailable(
                f"port {port} on {host} is in use; stop the other program, or set "
                "TIDELINE_PORT to another port (0 picks a free one)"
            ) from error
        raise Unavailable(f"cannot listen on {host}, port {port}: {error.strerror}") from error
    return listener


def _middleware(settings: EditorSettings, metrics: Metrics) -> list[Middleware]:
    access_token = settings.access_token or stored_access_token(settings.data_dir)
    return [
        Middleware(SecurityHeaders),
        Middleware(RequestLog, observe=metrics.observe_request),
        Middleware(ErrorBoundary),
        Middleware(ErrorShape),
        Middleware(BodyLimit, max_bytes=settings.frame_limit_bytes),
        Middleware(
            AccessGate,
            guard=AccessGuard(access_token),
            allowed_origins=tuple(settings.allowed_origins),
        ),
    ]


def _add_reference(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    async def show_reference() -> HTMLResponse:
        return HTMLResponse(reference_page(app.openapi()))


def _refuse_other_calls(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Answer what no route takes in our shape; the shell would take any address and method."""
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    ours = {route.path for route in routes if not route.path.startswith("/api/")}

    async def refuse(request: Request) -> None:
        allowed = {
            method
            for route in routes
            if route.path_regex.match(request.url.path)
            for method in route.methods or ()
        }
        if allowed:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(allowed))})
        raise HTTPException(404)

    for path in ("/api/{rest:path}", *sorted(ours)):
        app.add_api_route(path, refuse, methods=_METHODS, include_in_schema=False)
