"""Bans and biases of a slot's tokens: here, how far PAD may shorten a canvas."""

import pytest
import torch

from engine.canvas.canvas import Canvas
from engine.canvas.layout import lay_out_window
from engine.canvas.slots import SlotState
from engine.denoisers.scripted import ScriptedDenoiser
from engine.sampling.admissible import SHORT_BIAS, Admissible
from engine.sampling.plan import plan_job
from engine.sampling.vocabulary import Vocabulary
from tests.engine.builders import a_job

TRIED = (2, 4, 8)


@pytest.mark.parametrize(
    ("slots", "floor"),
    [(8, 4), (4, 2), (2, 2)],
    ids=["down to the next shorter", "the same", "the shortest not at all"],
)
def test_pad_costs_more_where_a_shorter_canvas_would_do(slots, floor):
    denoiser = ScriptedDenoiser()
    job = a_job("we [___] today")
    words = Vocabulary(denoiser.codec, denoiser.device)
    parts = plan_job(job, denoiser.codec, is_causal=False).parts
    window = lay_out_window(job.text, parts, [8], codec=denoiser.codec, budget=64)
    canvas = Canvas.masked_out(window, [[slots]])
    admissible = Admissible(window, words, has_pad=True, lengths=[TRIED])

    logits = admissible.apply(torch.zeros(slots, words.size + 1), canvas, [0])

    assert int((canvas.state == SlotState.MASK).sum()) == slots
    biases = logits[1:, words.pad].tolist()  # the first slot may not be PAD at all
    assert biases == [SHORT_BIAS if slot <= floor else 0.0 for slot in range(1, slots)]
