"""Who runs the next pass, and who is let in. Pure: plain data in, a decision out.

Unit of work is one pass of one job. Fairness is round-robin in virtual time: a job that has
had fewer passes since it came in goes first, and of equals the earliest deadline. A batch holds
the candidates of one job only, so a job's result cannot depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Admission", "RunningJob", "WaitingJob", "admit", "choose_next", "choose_to_start"]


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that has not started; `order` counts submissions."""

    job_id: str
    order: int
    deadline_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job between passes; `turn` is its place in virtual time (passes had, plus its start)."""

    job_id: str
    order: int
    turn: int
    deadline_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a job may wait, and how long that is likely to be."""

    is_admitted: bool
    wait_s: float


def choose_next(running: Iterable[RunningJob]) -> str | None:
    """Return the id of the job to give the next pass to, None when nothing runs."""
    best = min(running, key=lambda job: (job.turn, *_urgency(job)), default=None)
    return None if best is None else best.job_id


def choose_to_start(
    waiting: Iterable[WaitingJob], *, num_running: int, max_running: int
) -> str | None:
    """Return the id of the waiting job to start now, None when there is no room or no job."""
    if num_running >= max_running:
        return None
    best = min(waiting, key=_urgency, default=None)
    return None if best is None else best.job_id


def admit(num_waiting: int, num_running: int, *, max_waiting: int, mean_job_s: float) -> Admission:
    """Decide whether one more job may wait; its wait is the jobs before it at the mean time."""
    wait_s = (num_waiting + num_running) * mean_job_s
    return Admission(num_waiting < max_waiting, wait_s)


def _urgency(job: RunningJob | WaitingJob) -> tuple[float, int]:
    deadline = float("inf") if job.deadline_at_s is None else job.deadline_at_s
    return deadline, job.order
