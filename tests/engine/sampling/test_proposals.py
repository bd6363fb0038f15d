"""Choices that are held back: parts of a window begin one after the other."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.canvas.canvas import Canvas
from engine.canvas.layout import lay_out_window
from engine.canvas.parts import find_parts
from engine.contract import StopReason
from engine.denoisers.scripted import Answer, ScriptedCodec, ScriptedDenoiser, Slot
from engine.sampling.commitment import SlotScores
from engine.sampling.drafts import MASK_GLYPH
from engine.sampling.job import JobRun
from engine.sampling.proposals import begin_in_turn
from tests.engine.builders import a_job, a_workshop, passes, run_job

CODEC = ScriptedCodec()


def a_canvas(num_candidates: int) -> Canvas:
    job = a_job("we [___] plan [___] today [___] soon")
    window = lay_out_window(job.text, find_parts(job, CODEC), [4] * 3, codec=CODEC, budget=64)
    return Canvas.masked_out(window, [[2, 3, 1]] * num_candidates)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3))
def test_one_blank_part_begins_in_a_pass_and_begun_ones_go_on(seed, num_candidates):
    rng = torch.Generator().manual_seed(seed)
    canvas = a_canvas(num_candidates)
    shape = canvas.masked.shape
    begun = canvas.masked & (torch.rand(shape, generator=rng) < 0.3)
    canvas.commit(begun, torch.full(shape, 7), -1)
    chosen = canvas.masked & (torch.rand(shape, generator=rng) < 0.7)
    sure = torch.rand(shape, generator=rng)
    scores = SlotScores(canvas.masked, canvas.tokens, sure, sure, sure)

    kept = begin_in_turn(chosen, scores, canvas)

    is_blank = ~begun.any(-1)
    assert not (kept & ~chosen).any()
    assert torch.equal(kept[~is_blank], chosen[~is_blank]), "what has begun goes on"
    begins = (kept.any(-1) & is_blank).sum(-1)
    could_begin = (chosen.any(-1) & is_blank).any(-1)
    assert torch.equal(begins == 1, could_begin)
    for candidate in torch.nonzero(could_begin).flatten().tolist():
        (part,) = torch.nonzero(kept[candidate].any(-1) & is_blank[candidate]).flatten().tolist()
        best = torch.where(chosen, sure, 0.0).amax(-1)[candidate]
        assert best[part] == best[is_blank[candidate]].max()


def test_of_two_gaps_the_less_certain_waits_a_pass():
    def script(slot: Slot) -> Answer:
        return Answer(" plan", 0.4 if slot.region == 0 else 0.9)

    job = a_job("we [___] when [___] today", length=1, alternatives=1)
    told = [
        [draft.text for draft in one.regions]
        for one in passes(job, a_workshop(ScriptedDenoiser(script)))
    ]

    assert MASK_GLYPH in told[0][0]
    assert MASK_GLYPH not in told[0][1]
    assert told[1] == ["plan", "plan"]


def test_waiting_is_within_the_passes_that_are_announced():
    blanks = "we [___] and [___] with [___] for [___] today"

    for config in ({}, {"steps": 2}, {"preset": "careful"}, {"length": 1}):
        events = list(JobRun(a_workshop(), a_job(blanks, **config)).events())
        assert all(e.pass_index <= e.max_passes for e in events[1:-1])

    assert run_job(a_job(blanks, length=1, steps=64)).stop_reason is StopReason.SETTLED
    assert run_job(a_job(blanks, steps=1)).passes == 1
