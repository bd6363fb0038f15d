"""Laws of a run over a real network, tiny and random: its arithmetic, not a script's answers."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.contract import JobFinished, PassCompleted, RefineJob
from engine.sampling.drafts import MASK_GLYPH
from engine.sampling.job import JobRun, Workshop
from engine.sampling.policies import COMMITMENTS, PRESETS
from engine.sampling.vocabulary import Vocabulary
from engine.worker.core import WorkerCore
from tests.engine.builders import IDENTITY, a_job, run_job, ticking
from tests.engine.denoisers.tiny import tiny_denoiser

# No blank stands behind a space: of the tiny tokens none is a space and a letter, and a canvas of
# one slot would have nothing to hold.
TEXTS = (
    "we ([___]) today",
    "the {plan}: ([___]) was seen by ([___]) again",
    "so <will wait {here} and> on",
    "[___]",
)
DENOISER = tiny_denoiser(scale=0.3)
WORDS = Vocabulary(DENOISER.codec, DENOISER.device)
# Few examples: each is several runs of a network. The scripted laws have the many.
FEW = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


def a_shop() -> Workshop:
    """A workshop of its own, so that no context is cached yet."""
    return Workshop(DENOISER, WORDS, 48, IDENTITY, {}, b"key", ticking())


@st.composite
def jobs(draw: st.DrawFn) -> RefineJob:
    return a_job(
        draw(st.sampled_from(TEXTS)),
        preset=draw(st.sampled_from(list(PRESETS))),
        length=draw(st.sampled_from([None, 3, 6])),
        strength=draw(st.sampled_from([0.5, 1.0])),
        temperature=draw(st.sampled_from([None, 0.9])),
        drawing=draw(st.sampled_from([None, "gumbel"])),
        guidance=draw(st.sampled_from([None, 0.5])),
        commitment=draw(st.sampled_from([None, *COMMITMENTS])),
        mode=draw(st.sampled_from([None, "monotone"])),
        seed=draw(st.integers(0, 9)),
    )


@FEW
@given(jobs())
def test_the_same_seed_gives_the_same_text_pass_by_pass(job):
    first, again = (run_job(job, a_shop()) for _ in range(2))

    assert first.regions == again.regions
    assert first.run_card.result_sha256 == again.run_card.result_sha256
    hashes = [[record.canvas_hash for record in run.telemetry] for run in (first, again)]
    assert hashes[0] == hashes[1]


@FEW
@given(st.lists(jobs(), min_size=2, max_size=4), st.integers(0, 2**16))
def test_a_job_gives_the_same_text_alone_and_among_others(chosen, order):
    batch = [replace(job, job_id=str(number)) for number, job in enumerate(chosen)]
    alone = {job.job_id: run_job(job, a_shop()).regions for job in batch}
    core, rng = WorkerCore(ticking(), max_waiting=8), random.Random(order)
    core.open(a_shop())
    rng.shuffle(batch)

    together = {}
    while batch or core.has_work:
        if batch and rng.random() < 0.4:
            core.submit(batch.pop())
        for event in core.step():
            if isinstance(event, JobFinished):
                together[event.job_id] = event.regions

    assert together == alone


@FEW
@given(jobs(), st.integers(1, 6))
def test_locks_stay_counts_add_up_and_what_was_stable_stays(job, stop_after):
    run, told, left = JobRun(a_shop(), job), dict[str, str](), None
    locked = [job.text[lock.start : lock.end] for lock in job.locks]
    for event in run.events():
        if isinstance(event, PassCompleted):
            for draft in event.regions:
                stable = draft.text[: draft.stable_prefix]
                assert stable.startswith(told.get(draft.region_id, ""))
                told[draft.region_id] = stable
            if event.pass_index == stop_after:
                held = [
                    one.text for region in run.cancelled().regions for one in region.alternatives
                ]
                assert all(MASK_GLYPH not in text for text in held)
        else:
            finished = event
    for record in finished.telemetry:
        if left is not None:
            assert record.masked_left == left - record.committed + record.remasked
        left = record.masked_left or None
        assert job.config.mode != "monotone" or record.remasked == record.edited == 0

    assert left is None
    for region, result in zip(job.regions, finished.regions, strict=True):
        inside = [text for text in locked if text in job.text[region.start : region.end]]
        assert result.alternatives[0].text.startswith(told.get(region.region_id, ""))
        assert all(text in one.text for text in inside for one in result.alternatives)


@pytest.mark.parametrize("preset", ["fast", "balanced"])
def test_more_alternatives_change_nothing_in_those_there_were(preset):
    job = a_job("we ([___]) today", length=4, preset=preset, alternatives=1)

    few = run_job(job, a_shop()).regions[0].alternatives
    many = run_job(replace(job, config=replace(job.config, alternatives=8)), a_shop())

    assert {one.text for one in few} <= {one.text for one in many.regions[0].alternatives}
