"""The application's door to workers: start or connect one, submit, cancel, follow events.

asyncio only, no torch. Owns the worker process and the connection: a dead worker fails its
jobs with `worker_died` and is started again with growing pauses. It must not know documents.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

import structlog
from pydantic import ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from engine.contract import (
    CONTRACT_VERSION,
    CancelJob,
    FromWorker,
    JobEvent,
    JobFailed,
    JobFinished,
    JobStarted,
    PassCompleted,
    Ping,
    Pong,
    RefineJob,
    WorkerReady,
    decode_from_worker,
    encode_to_worker,
)
from engine.errors import EngineError, WorkerDied, WorkerError, WorkerRefused, WorkerUnavailable
from engine.settings import EngineSettings
from engine.spawn import WorkerAddress, WorkerProcess

__all__ = ["EngineClient", "WorkerHealth"]

log = structlog.get_logger()

CONTRACT_HEADER = "X-Tideline-Contract"
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
STEADY_S = 30.0  # a worker that lived this long starts the pauses afresh
CONNECT_S = 30.0
REFUSED = (401, 403, 426)


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """What the application may say of its worker."""

    state: Literal["ready", "loading", "down"]
    message: str
    ready: WorkerReady | None
    waiting: int = 0
    running: int = 0


class EngineClient:
    """A connection to one worker that mends itself; use as an async context manager."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._health = WorkerHealth("down", "the worker has not been started", None)
        self._listeners: list[Callable[[WorkerHealth], None]] = []
        self._queues: dict[str, _JobQueue] = {}
        self._connection: ClientConnection | None = None
        self._is_up = asyncio.Event()
        self._refusal: EngineError | None = None
        self._process: WorkerProcess | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._keeper = asyncio.create_task(self._keep_connected(), name="engine-client")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        await self._end_process()
        self._fail_all(WorkerDied("the worker was stopped"))

    def on_state(self, callback: Callable[[WorkerHealth], None]) -> None:
        """Call `callback` on the event loop whenever the worker's state changes."""
        self._listeners.append(callback)

    def health(self) -> WorkerHealth:
        """Return the worker's state as it is known now."""
        return self._health

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker this client started, None for a remote or absent one."""
        return None if self._process is None else self._process.pid

    async def ready(self) -> WorkerReady:
        """Wait until the model is loaded. Raises: WorkerUnavailable, WorkerRefused."""
        changed = asyncio.Event()

        def note(_: WorkerHealth) -> None:
            changed.set()

        self.on_state(note)
        try:
            while True:
                changed.clear()
                found = self._health.ready
                if found is not None and found.is_loaded:
                    return found
                if self._refusal is not None:
                    raise self._refusal
                if found is not None and found.problem is not None:
                    raise WorkerUnavailable(found.problem)
                await changed.wait()
        finally:
            self._listeners.remove(note)

    async def submit(self, job: RefineJob) -> AsyncIterator[JobEvent]:
        """Run a job: yield JobStarted, PassCompleted..., then one JobFinished or JobFailed.

        A slow reader misses passes, never the rest. Leaving the iterator early cancels the
        job. A worker that cannot be reached or dies gives a retryable JobFailed.
        """
        queue = self._queues[job.job_id] = _JobQueue()
        is_over = False
        try:
            try:
                await self._send(encode_to_worker(job))
            except EngineError as error:
                queue.put(_failed(job.job_id, error))
            while not is_over:
                event = await queue.get()
                is_over = isinstance(event, JobFinished | JobFailed)
                yield event
        finally:
            self._queues.pop(job.job_id, None)
            if not is_over:
                await self.cancel(job.job_id)

    async def cancel(self, job_id: str) -> None:
        """Ask for the end of a job: at most one more pass of it runs."""
        with contextlib.suppress(EngineError, ConnectionClosed):
            if self._connection is not None:
                await self._connection.send(encode_to_worker(CancelJob(job_id)), text=True)

    async def ping(self) -> None:
        """Ask the worker how busy it is; the answer shows in `health()`."""
        await self._send(encode_to_worker(Ping()))

    async def _send(self, raw: bytes) -> None:
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._is_up.wait()
        except TimeoutError as error:
            raise WorkerUnavailable(
                f"no worker after {CONNECT_S:.0f} s: {self._health.message}"
            ) from error
        if self._refusal is not None:
            raise self._refusal
        if self._connection is None:
            raise WorkerUnavailable(self._health.message)
        try:
            await self._connection.send(raw, text=True)
        except ConnectionClosed as error:
            raise WorkerDied("the worker ended before it took the job") from error

    async def _keep_connected(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            started_s = time.monotonic()
            try:
                address = await self._find_worker()
                await self._talk(address)
                reason = "the worker closed the connection"
            except WorkerRefused as error:
                self._refuse(error)
                return
            except (OSError, WebSocketException, EngineError) as error:
                reason = str(error) or type(error).__name__
            await self._end_process()
            self._lose(reason)
            if time.monotonic() - started_s > STEADY_S:
                pause_s = FIRST_PAUSE_S
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _find_worker(self) -> WorkerAddress:
        url = self._settings.worker_url
        if url is not None:
            return WorkerAddress(url, self._settings.worker_token or "")
        self._process = await WorkerProcess.start(self._settings)
        log.info("worker.started", pid=self._process.pid)
        return self._process.address

    async def _talk(self, address: WorkerAddress) -> None:
        headers = {
            "Authorization": f"Bearer {address.access_token}",
            CONTRACT_HEADER: str(CONTRACT_VERSION),
        }
        try:
            connection = await connect(
                address.url,
                additional_headers=headers,
                compression=None,
                max_size=MAX_MESSAGE_BYTES,
                proxy=None,
            )
        except InvalidStatus as error:
            status = error.response.status_code
            if status in REFUSED:
                raise WorkerRefused(_refusal_text(address.url, status)) from error
            raise
        async with connection:
            self._connection = connection
            self._is_up.set()
            with contextlib.suppress(ConnectionClosed):
                async for raw in connection:
                    self._receive(_decode(raw))

    def _receive(self, message: FromWorker) -> None:
        match message:
            case WorkerReady():
                self._note_ready(message)
            case Pong():
                self._set_health(
                    WorkerHealth(
                        self._health.state,
                        self._health.message,
                        self._health.ready,
                        message.waiting,
                        message.running,
                    )
                )
            case JobStarted() | PassCompleted() | JobFinished() | JobFailed():
                queue = self._queues.get(message.job_id)
                if queue is not None:
                    queue.put(message)

    def _note_ready(self, ready: WorkerReady) -> None:
        if ready.contract_version != CONTRACT_VERSION:
            raise WorkerRefused(
                f"the worker speaks contract version {ready.contract_version}; "
                f"this application speaks {CONTRACT_VERSION}"
            )
        if ready.problem is not None:
            self._set_health(WorkerHealth("down", ready.problem, ready))
        elif ready.is_loaded:
            self._set_health(WorkerHealth("ready", f"{ready.model} is ready", ready))
        else:
            doing = ready.progress or "loading the model"
            self._set_health(WorkerHealth("loading", doing, ready))

    def _refuse(self, error: WorkerRefused) -> None:
        log.error("worker.refused", reason=str(error))
        self._refusal = error
        self._connection = None
        self._is_up.set()
        self._set_health(WorkerHealth("down", str(error), None))
        self._fail_all(error)

    def _lose(self, reason: str) -> None:
        self._connection = None
        self._is_up.clear()
        log.warning("worker.lost", reason=reason)
        self._set_health(WorkerHealth("down", f"the worker is restarted: {reason}", None))
        self._fail_all(WorkerDied("the worker process ended; it is being restarted"))

    def _fail_all(self, error: EngineError) -> None:
        for job_id, queue in self._queues.items():
            queue.put(_failed(job_id, error))

    def _set_health(self, health: WorkerHealth) -> None:
        self._health = health
        for callback in list(self._listeners):
            callback(health)

    async def _end_process(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            await process.stop()


class _JobQueue:
    """Events of one job for one reader; an unread pass gives way to a newer one."""

    def __init__(self) -> None:
        self._events: list[JobEvent] = []
        self._has_some = asyncio.Event()

    def put(self, event: JobEvent) -> None:
        is_pass = isinstance(event, PassCompleted)
        if is_pass and self._events and isinstance(self._events[-1], PassCompleted):
            self._events[-1] = event
        else:
            self._events.append(event)
        self._has_some.set()

    async def get(self) -> JobEvent:
        while not self._events:
            self._has_some.clear()
            await self._has_some.wait()
        return self._events.pop(0)


def _failed(job_id: str, error: EngineError) -> JobFailed:
    return JobFailed(job_id, error.code, str(error), error.retryable)


def _refusal_text(url: str, status: int) -> str:
    if status == 426:
        return f"the worker at {url} speaks another contract version than {CONTRACT_VERSION}"
    return f"the worker at {url} refused the access token; set TIDELINE_WORKER_TOKEN to its token"


def _decode(raw: bytes | str) -> FromWorker:
    """Read a worker's message. Raises: WorkerError, so that the worker is replaced.

    Whatever a worker sends must not end the task that keeps the connection.
    """
    try:
        return decode_from_worker(raw)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, item["loc"])) for item in error.errors())
        raise WorkerError(f"the worker sent a message that cannot be read: {fields}") from error
