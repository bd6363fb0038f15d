"""All open documents of a server: loads rooms when they are used, lets go when they are not.

Owns the life of rooms and the way between them and the engine: submits their jobs, turns the
engine's events back into commands, tells browsers how the worker is. One hub per server; the
database lock makes sure of that.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from editor.document.creation import NewDocument, create_document
from editor.document.state import DocumentState
from editor.errors import NotFound, Unavailable
from editor.hub.commands import Command, RunFailed, RunProgressed, RunStopped, RunSucceeded
from editor.hub.effects import CancelJob, EngineAction, SubmitJob
from editor.hub.jobs import check_settings
from editor.hub.outbox import Frame
from editor.hub.room import Figures, Room, RoomContext
from editor.logging import get_logger
from editor.protocol.messages import WorkerState
from editor.settings import EditorSettings
from editor.store import documents, runs
from editor.store.database import Database
from engine.client import EngineClient, WorkerHealth
from engine.contract import JobEvent, JobFailed, JobFinished, RefineJob
from engine.errors import EngineError

__all__ = ["Hub", "HubFigures"]

log = get_logger(__name__)

IDLE_S = 60.0
_RETRY_S = (0.5, 2.0, 10.0, 30.0)
_NOT_STORED = "the result could not be stored; start the run again"
_STOPPED = "the server was stopped while this ran; start it again"


class HubFigures(Figures, Protocol):
    """Where the hub reports its figures."""

    def set_rooms(self, count: int) -> None: ...


class Hub:
    """Use it as an async context manager: inside, documents can be opened."""

    def __init__(
        self,
        database: Database,
        client: EngineClient,
        *,
        settings: EditorSettings,
        figures: HubFigures,
        idle_s: float = IDLE_S,
    ) -> None:
        self._database = database
        self._client = client
        self._figures = figures
        self._idle_s = idle_s
        self._rooms: dict[str, Room] = {}
        self._loading: dict[str, asyncio.Task[Room]] = {}
        self._letting_go: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._told: tuple[str, str] | None = None
        self._context = RoomContext(
            database=database,
            limit=settings.max_document_code_points,
            now_s=time.time,
            new_id=new_id,
            act=self._act,
            figures=figures,
            worker_state=lambda: client.health().state,
        )

    async def __aenter__(self) -> Self:
        num_failed = await self._database.write(
            lambda db: runs.fail_unfinished_runs(
                db, message="the server ended while this ran; start it again", now_s=time.time()
            )
        )
        if num_failed:
            log.warning("hub.runs_were_cut", num_runs=num_failed)
        self._client.on_state(self._tell_worker_state)
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for timer in self._letting_go.values():
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for room in list(self._rooms.values()):
            await self._close_room(room)

    @property
    def num_rooms(self) -> int:
        """Documents in memory."""
        return len(self._rooms)

    @asynccontextmanager
    async def room(self, document_id: str) -> AsyncIterator[Room]:
        """Keep a document open for the time of the block. Raises: NotFound, Unavailable."""
        room = await self._find_room(document_id)
        self._hold(room)
        try:
            yield room
        finally:
            self._release(room)

    async def create(self, new: NewDocument) -> DocumentState:
        """Make and store a document. Raises: EditorError when it cannot be made or stored."""
        now_s = time.time()
        state = create_document(new, now_s=now_s, new_id=new_id, limit=self._context.limit)
        for span in state.spans:
            check_settings(span)
        await self._database.write(lambda db: documents.add_document(db, state, now_s=now_s))
        log.info("document.created", document_id=state.id, num_code_points=len(state.text))
        return state

    async def delete(self, document_id: str) -> None:
        """Remove a document, its history and its open browsers. Raises: NotFound."""
        async with self.room(document_id) as room:
            job_ids = [run.id for run in room.state.active_runs]
            now_s = time.time()
            await room.purge(lambda db: documents.purge_document(db, document_id, now_s=now_s))
            self._rooms.pop(document_id, None)
        for job_id in job_ids:
            self._start(self._cancel(job_id))
        await self._database.compact()
        log.info("document.deleted", document_id=document_id)

    # ---- rooms

    async def _find_room(self, document_id: str) -> Room:
        room = self._rooms.get(document_id)
        if room is not None:
            return room
        loading = self._loading.get(document_id)
        if loading is None:
            loading = asyncio.create_task(self._load(document_id))
            self._loading[document_id] = loading
            loading.add_done_callback(lambda _done: self._loading.pop(document_id, None))
        return await asyncio.shield(loading)

    async def _load(self, document_id: str) -> Room:
        state = await self._database.read(lambda db: documents.load_document(db, document_id))
        room = self._rooms[document_id] = Room(state, self._context)
        room.watch_quiet()
        self._figures.set_rooms(len(self._rooms))
        return room

    def _hold(self, room: Room) -> None:
        room.num_users += 1
        timer = self._letting_go.pop(room.state.id, None)
        if timer is not None:
            timer.cancel()

    def _release(self, room: Room) -> None:
        room.num_users -= 1
        if room.num_users == 0 and self._rooms.get(room.state.id) is room:
            loop = asyncio.get_running_loop()
            self._letting_go[room.state.id] = loop.call_later(
                self._idle_s, lambda: self._start(self._let_go(room))
            )

    async def _let_go(self, room: Room) -> None:
        """Seal an unused room; forget it unless somebody came meanwhile."""
        self._letting_go.pop(room.state.id, None)
        try:
            await room.seal()
        except (NotFound, Unavailable):
            log.warning("room.seal_failed", document_id=room.state.id, exc_info=True)
        # no await from here on: whoever opens the document next loads what was committed
        if room.num_users == 0 and not room.is_busy and self._rooms.get(room.state.id) is room:
            del self._rooms[room.state.id]
            room.stop_timer()
            self._figures.set_rooms(len(self._rooms))

    async def _close_room(self, room: Room) -> None:
        for run in room.state.active_runs:
            try:
                await room.execute(RunStopped(run.id, _STOPPED))
            except Unavailable:  # the next start marks it as failed
                log.warning("hub.run_not_closed", run_id=run.id, exc_info=True)
        try:
            await room.close()
        except Unavailable:
            log.warning("room.seal_failed", document_id=room.state.id, exc_info=True)

    # ---- engine

    def _act(self, room: Room, action: EngineAction) -> None:
        match action:
            case SubmitJob():
                self._hold(room)
                self._start(self._follow(room, action.job))
            case CancelJob():
                self._start(self._cancel(action.job_id))

    async def _follow(self, room: Room, job: RefineJob) -> None:
        """Turn a job's events into commands, up to its last word."""
        try:
            async for event in self._events(job):
                await self._tell(room, event)
        finally:
            self._release(room)

    async def _events(self, job: RefineJob) -> AsyncIterator[JobEvent]:
        try:
            async for event in self._client.submit(job):
                yield event
        except EngineError as error:
            yield JobFailed(job.job_id, error.code, str(error), error.retryable)
        except Exception:  # the engine's rim: a run must end, whatever broke
            log.error("hub.job_broke", run_id=job.job_id, exc_info=True)
            yield JobFailed(job.job_id, "engine_error", "the engine met a fault; try again", True)

    async def _tell(self, room: Room, event: JobEvent) -> None:
        """Carry an event in; a last word that cannot be stored now is tried again, then failed."""
        command, is_last = _command(event)
        for wait_s in (*_RETRY_S, None):
            try:
                await room.execute(command)
                return
            except NotFound:  # the document was deleted meanwhile
                return
            except Exception as error:  # the engine's rim: a run must end, whatever broke
                log.warning("hub.event_not_stored", run_id=event.job_id, exc_info=True)
                if wait_s is None or not is_last:
                    return
                if not isinstance(error, Unavailable):
                    command = RunFailed(
                        JobFailed(event.job_id, "internal_error", _NOT_STORED, retryable=True)
                    )
            await asyncio.sleep(wait_s)

    async def _cancel(self, job_id: str) -> None:
        try:
            await self._client.cancel(job_id)
        except EngineError:
            log.warning("hub.cancel_failed", run_id=job_id, exc_info=True)

    def _tell_worker_state(self, health: WorkerHealth) -> None:
        if (health.state, health.message) == self._told:
            return
        self._told = (health.state, health.message)
        frame = Frame.of(WorkerState(state=health.state, message=health.message or None))
        for room in self._rooms.values():
            room.broadcast(frame)

    def _start(self, act: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(act)
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("hub.task_failed", exc_info=task.exception())


def new_id() -> str:
    """Return a fresh id of 32 hex digits."""
    return uuid.uuid4().hex


def _command(event: JobEvent) -> tuple[Command, bool]:
    if isinstance(event, JobFinished):
        return RunSucceeded(event), True
    if isinstance(event, JobFailed):
        return RunFailed(event), True
    return RunProgressed(event), False
