"""The websocket rim of a worker: token, contract version, size cap, slow clients.

Every connection has its own jobs; they are cancelled when it goes. One writer per connection
drains a bounded outbox, so a stalled client delays nobody else. It must not know the model.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator
from http import HTTPStatus

import structlog
from pydantic import ValidationError
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from engine.contract import (
    CONTRACT_VERSION,
    CancelJob,
    FromWorker,
    JobEvent,
    JobFailed,
    JobFinished,
    Ping,
    Pong,
    RefineJob,
    WorkerReady,
    decode_to_worker,
    encode_from_worker,
)
from engine.errors import InvalidJob
from engine.worker.compute import ComputeThread
from engine.worker.outbox import Outbox

__all__ = ["CONTRACT_HEADER", "MAX_MESSAGE_BYTES", "WorkerServer"]

log = structlog.get_logger()

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
MAX_UNSENT = 256
CONTRACT_HEADER = "X-Tideline-Contract"
POLICY_VIOLATION = 1008


class _Client:
    """One connection: its outbox, its jobs."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection
        self.jobs: set[str] = set()
        self.outbox = Outbox(MAX_UNSENT)
        self.has_mail = asyncio.Event()

    def post(self, message: FromWorker) -> None:
        """Queue a message; called on the event loop only."""
        if isinstance(message, JobFinished | JobFailed):
            self.jobs.discard(message.job_id)
        self.outbox.put(message)
        self.has_mail.set()

    async def write(self) -> None:
        """Send what is queued until the connection closes."""
        while True:
            await self.has_mail.wait()
            if self.outbox.is_full:
                await self.connection.close(POLICY_VIOLATION, "too many unsent messages")
                return
            message = self.outbox.take()
            if message is None:
                self.has_mail.clear()
            else:
                await self.connection.send(encode_from_worker(message), text=True)


class WorkerServer:
    """Serves one compute thread to any number of clients."""

    def __init__(self, compute: ComputeThread, ready: WorkerReady, access_token: str) -> None:
        self._compute = compute
        self._ready = ready
        self._access_token = access_token
        self._clients: set[_Client] = set()
        self._loop = asyncio.get_running_loop()

    @contextlib.asynccontextmanager
    async def listen(self, host: str, port: int) -> AsyncIterator[Server]:
        """Accept connections while the context is open."""
        async with serve(
            self._serve_client,
            host,
            port,
            process_request=self._check_request,
            compression=None,  # loopback or a LAN: deflate costs more than it saves
            max_size=MAX_MESSAGE_BYTES,
        ) as server:
            yield server

    def announce(self, ready: WorkerReady) -> None:
        """Tell every client how far the model is; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._announce, ready)

    def _announce(self, ready: WorkerReady) -> None:
        self._ready = ready
        for client in self._clients:
            client.post(ready)

    def _check_request(self, connection: ServerConnection, request: Request) -> Response | None:
        given = request.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self._access_token}".encode()):
            log.warning("client.refused", reason="access token")
            return connection.respond(HTTPStatus.UNAUTHORIZED, "wrong or missing access token\n")
        version = request.headers.get(CONTRACT_HEADER, str(CONTRACT_VERSION))
        if version != str(CONTRACT_VERSION):
            log.warning("client.refused", reason="contract version")
            return connection.respond(
                HTTPStatus.UPGRADE_REQUIRED,
                f"this worker speaks contract version {CONTRACT_VERSION}\n",
            )
        return None

    async def _serve_client(self, connection: ServerConnection) -> None:
        client = _Client(connection)
        self._clients.add(client)
        client.post(self._ready)
        writer = asyncio.create_task(client.write())
        try:
            async for raw in connection:
                self._receive(client, raw)
        except ConnectionClosed:
            pass
        finally:
            self._clients.discard(client)
            writer.cancel()
            for job_id in list(client.jobs):
                self._compute.cancel(job_id)
            # Its result says how the writer ended; a closed socket is no news here.
            await asyncio.gather(writer, return_exceptions=True)

    def _receive(self, client: _Client, raw: str | bytes) -> None:
        try:
            message = decode_to_worker(raw)
        except ValidationError as error:
            # The first error's place and kind only: its input may be the user's text.
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(str(item) for item in first["loc"])
            log.warning("message.refused", where=where, kind=first["type"])
            client.post(JobFailed("", InvalidJob.code, f"{where}: {first['type']}", False))
            return
        match message:
            case RefineJob():
                client.jobs.add(message.job_id)
                self._compute.submit(message, lambda event: self._deliver(client, event))
            case CancelJob():
                if message.job_id in client.jobs:
                    self._compute.cancel(message.job_id)
            case Ping():
                client.post(Pong(self._compute.num_waiting, self._compute.num_running))

    def _deliver(self, client: _Client, event: JobEvent) -> None:
        # After the loop has closed there is nobody left to tell.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(client.post, event)
