"""A text that the longest canvas cuts short gets more slots, and PAD ends it."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.canvas.parts import find_parts
from engine.contract import Constraint, JobFinished, PassCompleted, RefineJob, StopReason
from engine.denoisers.scripted import PAD_TEXT, POOL, Answer, ScriptedCodec, ScriptedDenoiser, Slot
from engine.sampling.growth import MAX_GROWTH, find_room
from engine.sampling.job import JobRun
from tests.engine.builders import a_job, a_workshop, run_job

LONGEST = 16  # of the lengths that are tried when nobody told one


def writing(*words: str) -> ScriptedDenoiser:
    """Wants these words and then nothing, and is surest of the longest canvas."""

    def script(slot: Slot) -> Answer:
        sure = 0.9 if slot.num_slots >= LONGEST else 0.02
        text = f" {words[slot.index]}" if slot.index < len(words) else PAD_TEXT
        return Answer(text.replace(" .", "."), sure)

    return ScriptedDenoiser(script)


def texts(finished: JobFinished) -> list[str]:
    return [one.text for one in finished.regions[0].alternatives]


def first(finished: JobFinished) -> str:
    return texts(finished)[0]


def a_blank(marked: str = "we [___]", **config) -> RefineJob:
    return a_job(marked, **({"preset": "fast", "alternatives": 4} | config))


def test_a_sentence_that_does_not_fit_is_written_to_its_end_as_well():
    words = [*POOL[:20], "."]

    finished = run_job(a_blank(), a_workshop(writing(*words)))

    whole = " ".join(POOL[:20]) + "."
    assert {whole, " ".join(POOL[:LONGEST])} <= set(texts(finished))
    assert finished.run_card.canvas["windows"][0]["grown_slots"] == 8
    assert finished.stop_reason is StopReason.SETTLED


def test_the_join_decides_between_the_text_as_it_was_and_as_it_went_on():
    job = a_blank("we [___]\nnext")

    finished = run_job(job, a_workshop(writing(*POOL[:20], ".")))

    scores = [one.score for one in finished.regions[0].alternatives]
    both = [one for one in finished.regions[0].alternatives if len(one.text.split()) >= LONGEST]
    assert len(both) == 2
    assert scores[0] == max(one.score for one in both)


def test_growth_is_bounded():
    finished = run_job(a_blank(), a_workshop(writing(*POOL[:40])))

    assert finished.run_card.canvas["windows"][0]["grown_slots"] == MAX_GROWTH
    assert max(len(text.split()) for text in texts(finished)) == LONGEST + MAX_GROWTH
    assert finished.passes <= LONGEST + MAX_GROWTH


@pytest.mark.parametrize(
    "words",
    [POOL[:15], (*POOL[:15], ".")],
    ids=["its last slot is PAD", "its last slot ends the sentence"],
)
def test_a_canvas_that_holds_its_sentence_does_not_grow(words):
    finished = run_job(a_blank(), a_workshop(writing(*words)))

    assert finished.run_card.canvas["windows"][0]["grown_slots"] == 0


@pytest.mark.parametrize(
    ("marked", "config"),
    [
        ("we [___] today", {}),
        ("we [___].", {}),
        ("we [___]", {"length": 12}),
        ("we [___] [___]", {}),
        ("<we will see>", {}),
        ("we [___]{x}", {}),
        ("we [___]day", {}),
    ],
    ids=["goes on", "ends", "length told", "a blank behind", "text", "a lock", "half a word"],
)
def test_there_is_no_room_where_a_text_is_bound(marked, config):
    job = a_blank(marked, **config)
    parts = find_parts(job, ScriptedCodec())

    assert find_room(job.text, parts[0], frozenset(part.start for part in parts)) == 0


@pytest.mark.parametrize("marked", ["we [___]", "we [___]\nnext", "we [___] Then"])
def test_there_is_room_where_no_sentence_goes_on(marked):
    job = a_blank(marked)
    (part,) = find_parts(job, ScriptedCodec())

    assert find_room(job.text, part, frozenset({part.start})) == MAX_GROWTH


def test_a_rule_keeps_its_canvas():
    job = a_blank()
    rules = (Constraint("must_contain", ("plan",)),)
    job = replace(job, regions=(replace(job.regions[0], constraints=rules),))

    finished = run_job(job, a_workshop(writing(*POOL[:40])))

    assert finished.run_card.canvas["windows"][0]["grown_slots"] == 0
    assert "plan" in first(finished)


def test_steps_bound_growth_too():
    finished = run_job(a_blank(steps=4), a_workshop(writing(*POOL[:40])))

    assert finished.passes <= 4
    assert max(len(text.split()) for text in texts(finished)) >= LONGEST


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**16),
    st.sampled_from(["fast", "balanced", "careful"]),
    st.sampled_from([None, "top_k", "random"]),
    st.sampled_from([None, 0.8]),
)
def test_a_growing_canvas_keeps_the_laws_of_a_run(noise, preset, commitment, temperature):
    def babble(slot: Slot) -> Answer:
        key = hash((noise, slot.index, slot.num_slots))
        sure = 0.9 if slot.num_slots >= LONGEST else 0.02
        return Answer((" plan", " staff", " week", "", ".")[key % 5], sure - (key // 7 % 9) / 1000)

    job = a_blank("we [___]\nand", preset=preset, commitment=commitment, temperature=temperature)
    workshop = a_workshop(ScriptedDenoiser(babble))

    told, left, finished = "", None, None
    for event in JobRun(workshop, job).events():
        if isinstance(event, PassCompleted):
            draft = event.regions[0]
            assert draft.text[: draft.stable_prefix].startswith(told)
            told = draft.text[: draft.stable_prefix]
            assert event.pass_index <= event.max_passes
        finished = event
    for record in finished.telemetry:
        if left is not None:
            assert record.masked_left == left - record.committed + record.remasked
        left = record.masked_left or None

    assert first(finished).startswith(told)
    assert left is None
