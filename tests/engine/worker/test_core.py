import itertools
from dataclasses import replace

import pytest

from engine.contract import (
    Constraint,
    JobFailed,
    JobFinished,
    JobStarted,
    PassCompleted,
    StopReason,
)
from engine.denoisers.scripted import ScriptedDenoiser, Slot
from engine.errors import ModelMissing
from engine.worker.core import MAX_RUNNING, WorkerCore
from tests.engine.builders import a_job, a_workshop, run_job, ticking

TEXTS = ("we [___] today", "the plan [___] was seen by [___] again", "[___]", "we <will wait> on")


def a_core(*, max_waiting: int = 8, denoiser: ScriptedDenoiser | None = None) -> WorkerCore:
    core = WorkerCore(ticking(), max_waiting=max_waiting)
    core.open(a_workshop(denoiser))
    return core


def drain(core: WorkerCore) -> list:
    events = []
    while core.has_work:
        events.extend(core.step())
    return events


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_alone_and_interleaved_give_the_same_text(order):
    jobs = [a_job(text, job_id=str(i), temperature=0.9) for i, text in enumerate(TEXTS)]
    alone = {job.job_id: run_job(job).regions for job in jobs}
    core = a_core()

    for index in order:
        core.submit(jobs[index])
    events = drain(core)

    together = {e.job_id: e.regions for e in events if isinstance(e, JobFinished)}
    assert together == alone


def test_jobs_share_passes_in_turns():
    core = a_core()
    core.submit(a_job("we [___] today", job_id="a", length=12))
    core.submit(a_job("we [___] today", job_id="b", length=12))

    order = [event.job_id for event in drain(core) if isinstance(event, PassCompleted)]

    assert order[:6] == ["a", "b"] * 3


def test_a_short_job_that_comes_late_is_not_stuck_behind_a_long_one():
    core = a_core()
    core.submit(a_job("we [___] today", job_id="long", length=64))
    for _ in range(4):
        core.step()

    core.submit(a_job("we [___] today", job_id="short", length=1))
    ends = [event.job_id for event in drain(core) if isinstance(event, JobFinished)]

    assert ends == ["short", "long"]


def test_every_job_starts_and_ends_once():
    core = a_core()
    for i, text in enumerate(TEXTS):
        core.submit(a_job(text, job_id=str(i)))

    events = drain(core)

    for i in range(len(TEXTS)):
        own = [event for event in events if event.job_id == str(i)]
        assert isinstance(own[0], JobStarted)
        assert [isinstance(e, JobFinished) for e in own].index(True) == len(own) - 1


def test_G4_no_pass_runs_after_a_cancel():
    denoiser = ScriptedDenoiser()
    core = a_core(denoiser=denoiser)
    core.submit(a_job("we [___] today", length=16))
    core.step()
    before = denoiser.num_calls

    (ended,) = core.cancel("job")

    assert isinstance(ended, JobFinished)
    assert ended.stop_reason is StopReason.CANCELLED
    assert len(ended.regions[0].alternatives) == 1, "what its draft held"
    assert drain(core) == []
    assert denoiser.num_calls == before


def test_a_waiting_job_can_be_cancelled_before_the_model_is_there():
    core = WorkerCore(ticking(), max_waiting=2)
    core.submit(a_job("we [___] today"))

    (ended,) = core.cancel("job")

    assert ended.stop_reason is StopReason.CANCELLED
    assert ended.regions[0].alternatives == ()
    assert core.num_waiting == 0


def test_cancelling_an_unknown_job_does_nothing():
    assert a_core().cancel("nobody") == []


def test_a_full_queue_refuses_with_a_wait():
    core = WorkerCore(ticking(), max_waiting=1)
    core.submit(a_job("we [___] today", job_id="first"))

    (refused,) = core.submit(a_job("we [___] today", job_id="second"))

    assert isinstance(refused, JobFailed)
    assert (refused.code, refused.retryable) == ("engine_busy", True)
    assert "at most 1" in refused.message


def test_a_retry_of_a_job_that_is_here_starts_it_once():
    core = a_core()
    core.submit(a_job("we [___] today"))

    assert core.submit(a_job("we [___] today")) == []
    assert sum(isinstance(event, JobFinished) for event in drain(core)) == 1


def test_a_bad_job_is_refused_at_once_and_alone():
    core = a_core()

    (refused,) = core.submit(a_job("no region", job_id="bad"))
    core.submit(a_job("we [___] today", job_id="good"))
    events = drain(core)

    assert (refused.job_id, refused.code) == ("bad", "invalid_job")
    assert any(isinstance(e, JobFinished) and e.job_id == "good" for e in events)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_rule_that_nothing_meets_is_refused_at_once_with_or_without_a_model(is_open):
    core = a_core() if is_open else WorkerCore(ticking(), max_waiting=2)
    job = a_job("we [___] today")
    rules = (Constraint("choices", ("a", "b")), Constraint("must_contain", ("c",)))

    (refused,) = core.submit(replace(job, regions=(replace(job.regions[0], constraints=rules),)))

    assert isinstance(refused, JobFailed)
    assert refused.code == "unsatisfiable_constraint"
    assert core.num_waiting == 0


def test_a_crash_fails_its_job_alone_and_does_not_quote_the_text(capsys):
    def crash(slot: Slot):
        raise ValueError("canary-text")

    core = a_core(denoiser=ScriptedDenoiser(crash))
    core.submit(a_job("we [___] today"))

    (started, failed) = drain(core)

    assert isinstance(started, JobStarted)
    assert failed.code == "engine_error"
    assert "canary" not in failed.message
    assert "canary" not in "".join(capsys.readouterr())


def test_a_model_that_cannot_be_loaded_fails_all_jobs():
    core = WorkerCore(ticking(), max_waiting=2)
    core.submit(a_job("we [___] today", job_id="before"))

    (before,) = core.fail(ModelMissing("no model"))
    (after,) = core.submit(a_job("we [___] today", job_id="after"))

    assert {before.code, after.code} == {"model_missing"}


def test_at_most_so_many_jobs_run_at_once():
    core = a_core(max_waiting=99)
    for i in range(MAX_RUNNING + 3):
        core.submit(a_job("we [___] today", job_id=str(i), length=16))

    core.step()

    assert (core.num_running, core.num_waiting) == (MAX_RUNNING, 3)


def test_a_finished_job_is_one_log_line_without_text(capsys):
    core = a_core()
    core.submit(a_job("canarytext [___] today"))
    drain(core)

    printed = "".join(capsys.readouterr())
    lines = [line for line in printed.splitlines() if "job.finished" in line]
    assert len(lines) == 1
    assert all(name in lines[0] for name in ("passes", "num_committed", "stop_reason", "total_ms"))
    assert "canarytext" not in printed


def test_turns_never_starve_anyone():
    core = a_core(max_waiting=99)
    core.submit(a_job("we [___] today", job_id="long", length=24))
    done = itertools.count()
    finished = []
    while core.has_work and len(finished) < 40:
        if core.num_running < 2:
            core.submit(a_job("we [___] today", job_id=f"short{next(done)}", length=2))
        finished += [e.job_id for e in core.step() if isinstance(e, JobFinished)]

    assert "long" in finished
