"""What a stopped run offers: settled words, never a mask, never what breaks a rule."""

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.contract import Constraint, JobFinished, PassCompleted, RefineJob, StopReason
from engine.denoisers.scripted import Answer, ScriptedDenoiser, Slot
from engine.sampling.drafts import MASK_GLYPH
from engine.sampling.job import JobRun, Workshop
from engine.sampling.offers import fair_ending
from engine.telemetry.card import text_digest
from tests.engine.builders import a_job, a_workshop, run_job, saying

ONE_A_PASS = {"preset": "careful", "mode": "monotone", "alternatives": 1}


def stop(
    job: RefineJob, passes: int, workshop: Workshop | None = None
) -> tuple[PassCompleted | None, JobFinished]:
    """Stop a run after so many passes; return its last pass and its end."""
    run, last = JobRun(workshop or a_workshop(), job), None
    for event in run.events():
        last = event if isinstance(event, PassCompleted) else last
        if passes == 0 or (last is not None and last.pass_index == passes):
            break
    return last, run.cancelled()


def offered(finished: JobFinished, region: int = 0) -> list[str]:
    return [one.text for one in finished.regions[region].alternatives]


def test_a_blank_offers_its_words_up_to_the_first_mask():
    job = a_job("we [___] today", length=6, **ONE_A_PASS)

    draft, ended = stop(job, 3, a_workshop(saying(" will see you all again soon")))

    assert ended.stop_reason is StopReason.CANCELLED
    assert draft.regions[0].text == "will see you" + MASK_GLYPH * 3
    assert offered(ended) == ["will see you"]
    assert 0 < ended.regions[0].confidence <= 1


def test_words_behind_a_mask_are_left_out():
    def ends_first(slot: Slot) -> Answer:
        return Answer(f" {('will', 'see', 'you', 'all')[slot.index % 4]}", 0.4 + slot.index / 10)

    job = a_job("we [___] today", length=4, commitment="top_k", **ONE_A_PASS)

    draft, ended = stop(job, 2, a_workshop(ScriptedDenoiser(ends_first, words=("see", "you"))))

    assert draft.regions[0].text == "will" + MASK_GLYPH * 3 + " will"
    assert offered(ended) == ["will"]


def test_a_run_that_has_not_begun_offers_nothing():
    _, ended = stop(a_job("we [___] today"), 0)

    assert offered(ended) == []
    assert ended.run_card.result_sha256 == text_digest("we [___] today")


def test_a_rewrite_that_is_not_written_to_its_end_leaves_the_text_as_it_is():
    words = "will review this plan again soon"

    _, early = stop(a_job(f"so <{words}> now", **ONE_A_PASS), 2)
    whole = run_job(a_job(f"so <{words}> now", **ONE_A_PASS))
    _, late = stop(a_job(f"so <{words}> now", **ONE_A_PASS), whole.passes)

    assert offered(early) == []
    assert offered(late) == offered(whole)


def test_a_partial_rewrite_keeps_the_words_that_are_still_open():
    words = ("alpha", "beta", "gamma", "delta")

    def script(slot: Slot) -> Answer:
        return Answer(f" {('plan', 'staff', 'week', 'office')[slot.index]}", 0.9)

    job = a_job("we <alpha beta gamma delta> today", strength=0.75, **ONE_A_PASS)

    _, ended = stop(job, 1, a_workshop(ScriptedDenoiser(script, words=words)))

    (text,) = offered(ended)
    assert sum(old != new for old, new in zip(words, text.split(), strict=True)) == 1


def test_windows_that_are_finished_offer_all_they_have():
    far = "we [___]" + " plan" * 100 + " [___] today"
    job = a_job(far, length=3, preset="careful", alternatives=3)
    whole = run_job(job)
    first_window = next(record.pass_index for record in whole.telemetry if record.masked_left == 0)

    _, ended = stop(job, first_window + 2)

    assert ended.regions[0] == whole.regions[0]
    assert len(offered(ended, 1)) == 1
    assert len(offered(whole, 1)) > 1


def test_blocks_that_are_not_begun_hold_nothing():
    job = a_job("we [___] today", length=600, preset="fast", alternatives=1)

    draft, ended = stop(job, 4)

    assert draft.regions[0].text.startswith(offered(ended)[0])
    assert "..." not in offered(ended)[0]


def test_the_autoregressive_route_offers_what_it_has_written():
    job = a_job("we [___] today", route="autoregressive", alternatives=1)

    draft, ended = stop(job, 3)

    assert offered(ended) == [draft.regions[0].text]


def test_a_draft_that_breaks_its_rule_is_not_offered():
    job = a_job("we [___] today", length=4, **ONE_A_PASS)
    rules = (Constraint("regex", pattern="[a-z]+ [a-z]+ [a-z]+"),)
    job = replace(job, regions=(replace(job.regions[0], constraints=rules),))

    whole = run_job(job)

    ends = [offered(stop(job, passes)[1]) for passes in range(1, whole.passes + 1)]

    assert ends[0] == []
    assert ends[-1] == offered(whole)
    assert all(re.fullmatch("[a-z]+ [a-z]+ [a-z]+", text) for end in ends for text in end)


def test_the_card_of_a_stopped_run_tells_what_it_took():
    _, ended = stop(a_job("we [___] today", length=6, **ONE_A_PASS), 3)

    assert ended.passes == len(ended.telemetry) == 3
    assert ended.run_card.sampler["nfe"] > 0
    assert ended.run_card.route == "diffusion"
    assert ended.tokens_per_pass == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("will see", " today", "will see"),
        ("will see ", " today", "will see"),
        ("none.", ".", "none"),
        ("none .", ".", "none"),
        ("none.", " Then", "none."),
        ("will se", "en", "will "),
        ("see", "n", ""),
        ("", "", ""),
    ],
)
def test_an_unfinished_text_ends_where_what_stands_behind_it_joins_on(text, after, expected):
    assert fair_ending(text, after) == expected


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**16),
    st.sampled_from(["we [___] today", "[___]day and <will wait here> on", "<old {keep} plan>."]),
    st.sampled_from(["fast", "balanced", "careful"]),
    st.sampled_from([0.4, 1.0]),
    st.integers(0, 9),
)
def test_whatever_is_offered_is_text_that_keeps_locks_and_promises(
    noise, marked, preset, strength, passes
):
    def babble(slot: Slot) -> Answer:
        key = hash((noise, slot.index, slot.num_slots, slot.call))
        return Answer((" plan", " staff", "", ".", "today")[key % 5], 0.2 + (key // 7 % 79) / 100)

    job = a_job(marked, preset=preset, strength=strength)
    draft, ended = stop(job, passes, a_workshop(ScriptedDenoiser(babble)))

    for region, result in zip(job.regions, ended.regions, strict=True):
        for one in result.alternatives:
            assert one.text.strip()
            assert MASK_GLYPH not in one.text
            assert "keep" in one.text or "keep" not in job.text[region.start : region.end]
        told = [d for d in draft.regions if d.region_id == region.region_id] if draft else []
        if told and result.alternatives:
            stable = told[0].text[: told[0].stable_prefix]
            held = result.alternatives[0].text
            # Only an end that cannot stand before what follows is left out.
            assert held.startswith(stable) or stable.startswith(held)
