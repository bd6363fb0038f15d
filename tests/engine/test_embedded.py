"""The embedded model as it ships. Fetches the base when the cache lacks it."""

from __future__ import annotations

import pytest

from engine.contract import (
    JobFinished,
    PassCompleted,
    RefineJob,
    RegionSpec,
    SamplerConfig,
    decode_from_worker,
    encode_from_worker,
)
from engine.sampling.job import JobRun
from engine.settings import EngineSettings
from engine.worker.core import WorkerCore
from engine.worker.opening import open_workshop
from tests.engine.builders import ticking

pytestmark = pytest.mark.model

TEXT = "The train was late, so we [___] until it finally arrived at the platform."


@pytest.fixture(scope="module")
def workshop():
    return open_workshop(EngineSettings(), lambda *_: None)


def fill(workshop, text=TEXT, *, job_id="job", **settings) -> JobFinished:
    start = text.index("[___]")
    region = RegionSpec("r", start, start + 5, is_blank=True)
    job = RefineJob(job_id, text, (region,), config=SamplerConfig(**settings))
    events = list(JobRun(workshop, job).events())
    assert isinstance(events[-1], JobFinished)
    return events[-1]


def test_a_blank_is_filled_with_words_that_join(workshop):
    result = fill(workshop)
    best = result.regions[0].alternatives[0].text

    assert best.strip()
    assert "\n" not in best
    assert "\ufffd" not in best
    assert not best.startswith(" ")
    assert len(result.regions[0].alternatives) >= 2


def test_same_seed_same_text_whatever_the_job_is_called(workshop):
    first, second = fill(workshop, job_id="a", seed=5), fill(workshop, job_id="b", seed=5)

    assert first.regions == second.regions
    assert first.run_card.result_sha256 == second.run_card.result_sha256


def test_a_job_gives_the_same_text_alone_and_among_others(workshop):
    texts = (TEXT, "Dear Anna, [___] on Monday.", "She opened the door and [___] in the hall.")
    alone = {str(i): fill(workshop, text, seed=i).regions for i, text in enumerate(texts)}
    core = WorkerCore(ticking(), max_waiting=8)
    core.open(workshop)

    together = {}
    for i, text in reversed(list(enumerate(texts))):
        start = text.index("[___]")
        region = RegionSpec("r", start, start + 5, is_blank=True)
        core.submit(RefineJob(str(i), text, (region,), config=SamplerConfig(seed=i)))
    while core.has_work:
        for event in core.step():
            if isinstance(event, JobFinished):
                together[event.job_id] = event.regions

    assert together == alone


def test_alternatives_are_ranked_and_differ(workshop):
    alternatives = fill(workshop, alternatives=4).regions[0].alternatives

    scores = [alternative.score for alternative in alternatives]
    assert scores == sorted(scores, reverse=True)
    assert len({alternative.text for alternative in alternatives}) == len(alternatives)


@pytest.mark.parametrize("spelling", ["[MASK]", "<|im_end|>", "<|endoftext|>"])
def test_text_that_spells_special_tokens_is_text(workshop, spelling):
    result = fill(workshop, f"The sign said {spelling} and so we [___] at once.", preset="fast")

    assert "<|" not in result.regions[0].alternatives[0].text


def test_right_context_is_in_view(workshop):
    """The same left side with two right sides: the model sees which one it is."""
    left = "She opened the door and "
    first = fill(workshop, f"{left}[___], wet from head to toe by the rain.", length=4)
    second = fill(workshop, f"{left}[___], because the soup needed more salt.", length=4)

    assert first.regions[0].alternatives != second.regions[0].alternatives
    assert second.run_card.canvas["windows"][0]["right_tokens"] > 0


def test_run_card_names_everything_needed_to_run_it_again(workshop):
    card = fill(workshop).run_card

    assert len(card.model_sha256) == len(card.adapter_sha256) == 64
    assert card.sampler
    assert card.versions["torch"]
    assert card.fact_checked is False


def test_a_region_over_the_whole_text_ends_with_figures_that_are_numbers(workshop):
    """The model may find that nothing stands there; that is no reason for a NaN."""
    job = RefineJob("job", "A fox.", (RegionSpec("r", 0, 6),))

    events = list(JobRun(workshop, job).events())

    assert isinstance(events[-1], JobFinished)
    assert all(0 <= e.mean_confidence <= 1 for e in events if isinstance(e, PassCompleted))
    assert all(decode_from_worker(encode_from_worker(event)) == event for event in events)
