"""Laws of a run's passes: counts add up, monotone takes nothing back, batches do not matter."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.contract import Constraint, JobFinished, RefineJob
from engine.denoisers.scripted import Answer, ScriptedDenoiser, Slot
from engine.sampling.policies import COMMITMENTS, REMASKINGS, SCHEDULES
from engine.worker.core import WorkerCore
from tests.engine.builders import a_job, a_workshop, run_job, ticking

WORDS = (" plan", " staff", " week", "today", " and", ".", "")
TEXTS = ("we [___] today", "the plan [___] was seen by [___] again", "we <will wait> on")


def babbling(noise: int) -> ScriptedDenoiser:
    """Answers depend on slot, surroundings and context, not on how often it was asked."""

    def babble(slot: Slot) -> Answer:
        key = hash((noise, slot.index, slot.region, slot.num_slots, slot.context))
        seen = sum(text is not None for text in slot.visible)
        return Answer(WORDS[(key + seen // 2) % len(WORDS)], 0.2 + (key // 7 % 79) / 100)

    return ScriptedDenoiser(babble)


@st.composite
def jobs(draw: st.DrawFn, job_id: str = "job") -> RefineJob:
    job = a_job(
        draw(st.sampled_from(TEXTS)),
        job_id=job_id,
        preset=draw(st.sampled_from(["fast", "balanced"])),
        length=draw(st.sampled_from([2, 5])),
        strength=draw(st.sampled_from([0.4, 1.0])),
        temperature=draw(st.sampled_from([None, 0.8])),
        alternatives=draw(st.sampled_from([1, 3])),
        seed=draw(st.integers(0, 9)),
        commitment=draw(st.sampled_from([None, *COMMITMENTS])),
        schedule=draw(st.sampled_from([None, *SCHEDULES])),
        remasking=draw(st.sampled_from([None, *REMASKINGS])),
    )
    rules = draw(st.sampled_from([(), (Constraint("regex", pattern="[a-z]+ [0-9]"),)]))
    return replace(job, regions=tuple(replace(r, constraints=rules) for r in job.regions[:1]))


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(jobs(), st.integers(0, 2**16))
def test_committed_less_taken_back_is_what_masks_lose(job, noise):
    finished = run_job(job, a_workshop(babbling(noise)))

    left: int | None = None
    for record in finished.telemetry:
        if left is not None:
            assert record.masked_left == left - record.committed + record.remasked
        left = record.masked_left or None  # the next window or attempt starts afresh
        assert record.remasked <= record.committed
    assert left is None


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(jobs(), st.integers(0, 2**16))
def test_monotone_mode_changes_nothing_that_was_committed(job, noise):
    config = replace(job.config, mode="monotone", remasking=None)

    finished = run_job(replace(job, config=config), a_workshop(babbling(noise)))

    assert all(record.remasked == record.edited == 0 for record in finished.telemetry)
    assert not any(window["late_reversals"] for window in finished.run_card.sampler["revision"])


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(
    st.lists(jobs(), min_size=2, max_size=3),
    st.randoms(use_true_random=False),
    st.integers(0, 2**16),
)
def test_a_job_gives_the_same_text_in_any_batch_and_order(chosen, random, noise):
    batch = [replace(job, job_id=str(number)) for number, job in enumerate(chosen)]
    alone = {job.job_id: run_job(job, a_workshop(babbling(noise))).regions for job in batch}
    core = WorkerCore(ticking(), max_waiting=8)
    core.open(a_workshop(babbling(noise)))
    random.shuffle(batch)

    together = {}
    waiting = list(batch)
    while waiting or core.has_work:
        if waiting and random.random() < 0.4:
            core.submit(waiting.pop())
        for event in core.step():
            if isinstance(event, JobFinished):
                together[event.job_id] = event.regions

    assert together == alone


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**16),
    st.sampled_from(["so: [___].", "so: [___] then", "so: [___]{X} then"]),
    st.sampled_from(list(COMMITMENTS)),
    st.sampled_from([1, 2, 40]),
)
def test_what_stands_behind_a_fill_joins_on_however_many_tokens_a_pass_commits(
    noise, marked, commitment, steps
):
    def hasty(slot: Slot) -> Answer:
        key = hash((noise, slot.index, slot.num_slots, slot.call))
        return Answer(("", " none", ".", ", ", " ", " plan")[key % 6], 0.97 - (key // 7 % 5) / 10)

    job = a_job(marked, length=5, preset="fast", commitment=commitment, steps=steps)

    finished = run_job(job, a_workshop(ScriptedDenoiser(hasty)))

    after = marked[marked.index("]") + 1 :].strip("{")
    for one in finished.regions[0].alternatives:
        assert not (after[0] == "." and one.text[-1] in ".,"), "no closing mark is doubled"
        assert not (after[0] in ". " and one.text[-1] == " "), "no space before a stop or a space"
        assert not (after[0] == "X" and one.text[-1].isalnum()), "a locked word stays a word"


@pytest.mark.parametrize("name", COMMITMENTS)
def test_candidates_do_not_depend_on_how_many_there_are(name):
    job = a_job("we [___] today", length=6, preset="fast", alternatives=2, commitment=name)

    few = run_job(job).regions[0].alternatives
    many = run_job(replace(job, config=replace(job.config, alternatives=6))).regions[0].alternatives

    assert {one.text for one in few} <= {one.text for one in many}
