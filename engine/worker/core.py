"""The worker without its rim: jobs in, events out, one pass per `step`.

Synchronous and single-threaded; the transport calls it from one compute thread. A job's
failure ends that job only. It must not know sockets, threads or processes.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import structlog

from engine.canvas.parts import check_job
from engine.constraints.rules import check_constraints
from engine.contract import (
    JobEvent,
    JobFailed,
    JobFinished,
    PassCompleted,
    RefineJob,
)
from engine.errors import EngineBusy, EngineError
from engine.sampling.job import JobRun, Workshop, cancelled_job, check_runnable
from engine.scheduler.plan import (
    RunningJob,
    WaitingJob,
    admit,
    choose_next,
    choose_to_start,
)
from engine.telemetry.card import NO_MODEL

__all__ = ["WorkerCore"]

log = structlog.get_logger()

MAX_RUNNING = 8  # contexts held at once
FIRST_GUESS_JOB_S = 1.0
SMOOTHING = 0.2


@dataclass(slots=True)
class _Job:
    job: RefineJob
    order: int
    submitted_s: float
    turn: int = 0
    run: JobRun | None = None
    events: Iterator[JobEvent] | None = None
    passes: int = 0

    @property
    def deadline_at_s(self) -> float | None:
        return None if self.job.deadline_s is None else self.submitted_s + self.job.deadline_s


class WorkerCore:
    """All jobs of a worker. `now_s` is a monotonic clock in seconds."""

    def __init__(self, now_s: Callable[[], float], *, max_waiting: int) -> None:
        self._now_s = now_s
        self._max_waiting = max_waiting
        self._workshop: Workshop | None = None
        self._failure: EngineError | None = None
        self._waiting: dict[str, _Job] = {}
        self._running: dict[str, _Job] = {}
        self._num_submitted = 0
        self._mean_job_s = FIRST_GUESS_JOB_S

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @property
    def num_running(self) -> int:
        return len(self._running)

    @property
    def has_work(self) -> bool:
        """Whether `step` would do anything now."""
        return self._workshop is not None and bool(self._waiting or self._running)

    def open(self, workshop: Workshop) -> None:
        """The model is loaded: waiting jobs may start."""
        self._workshop = workshop

    def fail(self, error: EngineError) -> list[JobEvent]:
        """The model cannot be loaded: every job, waiting or to come, fails with `error`."""
        self._failure = error
        waiting = list(self._waiting)
        self._waiting.clear()
        return [_failed(job_id, error) for job_id in waiting]

    def submit(self, job: RefineJob) -> list[JobEvent]:
        """Take a job in; a refusal is returned as its JobFailed.

        A job that cannot be run is refused here, not when its turn comes. Before the model is
        there only what needs no tokenizer is known.
        """
        if self._failure is not None:
            return [_failed(job.job_id, self._failure)]
        if job.job_id in self._waiting or job.job_id in self._running:
            return []  # a retry of a job that is already here
        admission = admit(
            len(self._waiting),
            len(self._running),
            max_waiting=self._max_waiting,
            mean_job_s=self._mean_job_s,
        )
        if not admission.is_admitted:
            busy = EngineBusy(
                f"{len(self._waiting)} jobs wait; at most {self._max_waiting}. "
                f"Expected wait {admission.wait_s:.0f} s"
            )
            return [_failed(job.job_id, busy)]
        try:
            self._check(job)
        except EngineError as error:
            return [_failed(job.job_id, error)]
        except Exception as error:  # the rim of a job: its failure never stops the loop
            return [_crashed(job.job_id, error)]
        self._num_submitted += 1
        self._waiting[job.job_id] = _Job(job, self._num_submitted, self._now_s())
        return []

    def _check(self, job: RefineJob) -> None:
        if self._workshop is not None:
            check_runnable(self._workshop, job)
        else:
            check_job(job)
            check_constraints(job)

    def cancel(self, job_id: str) -> list[JobEvent]:
        """End a job now; no further pass of it runs. Unknown ids are ignored."""
        entry = self._waiting.pop(job_id, None) or self._running.pop(job_id, None)
        if entry is None:
            return []
        log.info("job.cancelled", job_id=job_id, passes=entry.passes)
        if entry.run is not None:
            return [entry.run.cancelled()]
        identity = NO_MODEL if self._workshop is None else self._workshop.identity
        queue_ms = (self._now_s() - entry.submitted_s) * 1e3
        return [cancelled_job(entry.job, identity, queue_ms=queue_ms)]

    def step(self) -> list[JobEvent]:
        """Start what may start, then run one pass of one job; return the events of it."""
        if self._workshop is None:
            return []
        events = self._start_waiting(self._workshop)
        chosen = choose_next(
            RunningJob(job_id, entry.order, entry.turn, entry.deadline_at_s)
            for job_id, entry in self._running.items()
        )
        if chosen is not None:
            events.extend(self._advance(self._running[chosen]))
        return events

    def _start_waiting(self, workshop: Workshop) -> list[JobEvent]:
        events: list[JobEvent] = []
        while True:
            chosen = choose_to_start(
                [WaitingJob(key, e.order, e.deadline_at_s) for key, e in self._waiting.items()],
                num_running=len(self._running),
                max_running=MAX_RUNNING,
            )
            if chosen is None:
                return events
            entry = self._waiting.pop(chosen)
            # A newcomer joins at the present turn: it neither catches up nor waits for others.
            entry.turn = min((other.turn for other in self._running.values()), default=0)
            queue_ms = (self._now_s() - entry.submitted_s) * 1e3
            try:
                entry.run = JobRun(workshop, entry.job, queue_ms=queue_ms)
                entry.events = entry.run.events()
                events.append(next(entry.events))
            except EngineError as error:
                events.append(_failed(chosen, error))
                continue
            except Exception as error:  # the rim of a job: its failure never stops the loop
                events.append(_crashed(chosen, error))
                continue
            self._running[chosen] = entry

    def _advance(self, entry: _Job) -> list[JobEvent]:
        job_id = entry.job.job_id
        assert entry.events is not None
        entry.turn += 1
        try:
            event = next(entry.events)
        except EngineError as error:
            del self._running[job_id]
            return [_failed(job_id, error)]
        except Exception as error:  # the rim of a job: its failure never stops the loop
            del self._running[job_id]
            return [_crashed(job_id, error)]
        if isinstance(event, PassCompleted):
            entry.passes = event.pass_index
        if isinstance(event, JobFinished):
            del self._running[job_id]
            self._note_finished(event)
        return [event]

    def _note_finished(self, event: JobFinished) -> None:
        job_s = event.timings.complete_ms / 1e3
        self._mean_job_s += SMOOTHING * (job_s - self._mean_job_s)
        log.info(
            "job.finished",
            job_id=event.job_id,
            nfe=event.run_card.sampler.get("nfe"),
            passes=event.passes,
            num_committed=sum(record.committed for record in event.telemetry),
            stop_reason=str(event.stop_reason),
            queue_ms=event.timings.queue_ms,
            first_stable_ms=event.timings.first_stable_ms,
            total_ms=event.timings.complete_ms,
        )


def _failed(job_id: str, error: EngineError) -> JobFailed:
    return JobFailed(job_id, error.code, str(error), error.retryable)


def _crashed(job_id: str, error: Exception) -> JobFailed:
    # Where, not what: an exception's message may quote the user's text.
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{frame.filename}:{frame.lineno}" for frame in frames[-4:]]
    log.error("job.crashed", job_id=job_id, error=type(error).__name__, where=where)
    return JobFailed(
        job_id, EngineError.code, "the engine failed on this job; its log has the reason", False
    )
