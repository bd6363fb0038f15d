"""The compute thread: the only place that runs the model, so the socket stays responsive.

Commands come in over a thread-safe queue and are taken between passes; events go out through
a callback. Owns the core; knows neither sockets nor files.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import structlog

from engine.contract import CancelJob, JobEvent, JobFailed, JobFinished, RefineJob
from engine.errors import EngineError, ModelError
from engine.sampling.job import Workshop
from engine.worker.core import WorkerCore

__all__ = ["ComputeThread", "LoadState"]

log = structlog.get_logger()

Deliver = Callable[[JobEvent], None]
_Command = RefineJob | CancelJob | Workshop | EngineError | None  # None: stop


@dataclass(frozen=True, slots=True)
class LoadState:
    """How far the model is."""

    state: Literal["loading", "ready", "failed"]
    load_ms: float = 0.0
    progress: str | None = None
    error: EngineError | None = None


class ComputeThread:
    """Runs `load` once, then passes for as long as there are jobs."""

    def __init__(
        self,
        core: WorkerCore,
        load: Callable[[], Workshop],
        on_load: Callable[[LoadState, Workshop | None], None],
        now_s: Callable[[], float],
    ) -> None:
        self._core = core
        self._load = load
        self._on_load = on_load
        self._now_s = now_s
        self._inbox: queue.SimpleQueue[_Command] = queue.SimpleQueue()
        self._deliver: dict[str, Deliver] = {}
        self._threads = [
            threading.Thread(target=self._run, name="compute", daemon=True),
            threading.Thread(target=self._load_model, name="load", daemon=True),
        ]

    @property
    def num_waiting(self) -> int:
        return self._core.num_waiting

    @property
    def num_running(self) -> int:
        return self._core.num_running

    def start(self) -> None:
        """Begin loading and computing."""
        for thread in self._threads:
            thread.start()

    def stop(self, limit_s: float) -> bool:
        """End after the pass that runs now; return whether that took less than `limit_s`."""
        self._inbox.put(None)
        until_s = self._now_s() + limit_s
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until_s - self._now_s()))
        return not any(thread.is_alive() for thread in self._threads)

    def submit(self, job: RefineJob, deliver: Deliver) -> None:
        """Queue a job; `deliver` is called from the compute thread with each of its events."""
        self._deliver[job.job_id] = deliver
        self._inbox.put(job)

    def cancel(self, job_id: str) -> None:
        """Queue a cancel: at most the pass that runs now is finished."""
        self._inbox.put(CancelJob(job_id))

    def _run(self) -> None:
        # Loading has a thread of its own, so that jobs can be refused or cancelled meanwhile.
        while self._take_commands():
            if self._core.has_work:
                self._send(self._core.step())

    def _take_commands(self) -> bool:
        """Carry out what has come in, waiting for it when there is no pass to run."""
        may_wait = not self._core.has_work
        while True:
            try:
                command = self._inbox.get(block=may_wait)
            except queue.Empty:
                return True
            may_wait = False
            match command:
                case None:
                    return False
                case RefineJob():
                    self._send(self._core.submit(command))
                case CancelJob():
                    self._send(self._core.cancel(command.job_id))
                case Workshop():
                    self._core.open(command)
                case EngineError():
                    self._send(self._core.fail(command))

    def _load_model(self) -> None:
        started_s = self._now_s()
        try:
            workshop = self._load()
        except EngineError as error:
            self._give_up(error)
            return
        except Exception as error:  # the rim of loading: the worker stays up to say why
            log.exception("model.load_crashed")
            self._give_up(ModelError(f"the model cannot be loaded: {type(error).__name__}"))
            return
        load_ms = (self._now_s() - started_s) * 1e3
        log.info("model.loaded", model=workshop.identity.model, load_ms=round(load_ms))
        self._inbox.put(workshop)
        self._on_load(LoadState("ready", load_ms=load_ms), workshop)

    def _give_up(self, error: EngineError) -> None:
        log.error("model.load_failed", code=error.code, reason=str(error))
        self._inbox.put(error)
        self._on_load(LoadState("failed", error=error), None)

    def _send(self, events: list[JobEvent]) -> None:
        for event in events:
            deliver = self._deliver.get(event.job_id)
            if isinstance(event, JobFinished | JobFailed):
                self._deliver.pop(event.job_id, None)
            if deliver is not None:
                deliver(event)
