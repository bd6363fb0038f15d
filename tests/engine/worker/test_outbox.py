from dataclasses import replace

from engine.contract import JobStarted, Pong
from engine.worker.outbox import Outbox
from tests.engine.builders import a_job, passes, run_job

FIRST, SECOND = passes(a_job("we [___] today", length=8))[:2]
END = run_job(a_job("we [___] today"))


def take_all(outbox: Outbox) -> list:
    return [outbox.take() for _ in range(len(outbox))]


def test_a_newer_pass_replaces_an_unsent_one():
    outbox = Outbox(8)
    for message in (JobStarted("job", "diffusion", 8, 0.0), FIRST, SECOND):
        outbox.put(message)

    assert [type(m).__name__ for m in take_all(outbox)] == ["JobStarted", "PassCompleted"]


def test_passes_of_other_jobs_stay():
    outbox = Outbox(8)
    outbox.put(FIRST)
    outbox.put(replace(FIRST, job_id="other"))

    assert len(outbox) == 2


def test_the_end_of_a_job_removes_its_unsent_pass():
    outbox = Outbox(8)
    outbox.put(FIRST)
    outbox.put(END)

    assert take_all(outbox) == [END]


def test_a_sent_pass_is_not_replaced():
    outbox = Outbox(8)
    outbox.put(FIRST)

    assert outbox.take() == FIRST
    outbox.put(SECOND)
    assert outbox.take() == SECOND
    assert outbox.take() is None


def test_a_client_that_does_not_read_fills_it():
    outbox = Outbox(2)
    outbox.put(Pong(0, 0))
    assert not outbox.is_full
    outbox.put(Pong(0, 0))
    assert outbox.is_full
