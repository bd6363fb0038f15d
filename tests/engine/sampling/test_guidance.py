"""Guidance: the base's opinion at each part's first open slot, a mixture, nothing elsewhere."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.canvas.canvas import Canvas
from engine.canvas.layout import Window
from engine.denoisers.scripted import ScriptedDenoiser
from engine.sampling.guidance import Guidance

LENGTHS = [[3, 2], [2, 4]]  # candidates by parts


class Opinion(ScriptedDenoiser):
    """Its base always says token 7 with probability one half; it keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[list[int], int]] = []

    def score_causal(self, context, stream, num_before, wanted):
        for row in range(wanted.shape[0]):
            end = int(torch.nonzero(wanted[row])[0])
            self.asked.append((stream.tokens[row, :end].tolist(), int(num_before[row])))
        size = self.codec.vocab_size
        logits = torch.full((int(wanted.sum()), size), math.log(0.5 / (size - 1)))
        logits[:, 7] = math.log(0.5)
        return logits


def a_canvas(denoiser: ScriptedDenoiser) -> tuple[Canvas, object]:
    left, first, second = (denoiser.codec.encode(text) for text in (" we", " the plan", " and"))
    start, end = len(left), len(left) + 4 + len(first)
    window = Window(
        parts=(object(), object()),
        widths=(4, 4),
        anchors=(left[-1], first[-1]),
        bases=(start, end),
        left=tuple(left),
        runs=(tuple(first), tuple(second)),
    )
    context = denoiser.encode_context(torch.tensor(window.tokens), torch.tensor(window.positions))
    return Canvas.masked_out(window, LENGTHS), context


def test_without_weight_nothing_is_asked_and_nothing_changes():
    denoiser = Opinion()
    canvas, context = a_canvas(denoiser)
    logits = torch.randn(int(canvas.masked.sum()), denoiser.codec.vocab_size + 1)

    same, nfe = Guidance().apply(denoiser, context, canvas, logits)

    assert same is logits
    assert (nfe, denoiser.asked) == (0, [])


def test_the_base_is_asked_after_everything_known_on_the_left():
    denoiser = Opinion()
    canvas, context = a_canvas(denoiser)
    chosen = torch.zeros_like(canvas.masked)
    chosen[0, 0, :2] = True
    canvas.commit(chosen, torch.full_like(canvas.tokens, 9), pad_token=-1)
    logits = torch.zeros(int(canvas.masked.sum()), denoiser.codec.vocab_size + 1)

    _, nfe = Guidance(0.5).apply(denoiser, context, canvas, logits)

    first, second = canvas.window.anchors
    num_left = len(canvas.window.left)
    behind = num_left + len(canvas.window.runs[0])
    assert denoiser.asked == [
        ([first, 9, 9], num_left - 1),
        ([second], behind - 1),
        ([first], num_left - 1),
        ([second], behind - 1),
    ]
    assert nfe == 2, "one for each candidate"


@given(weight=st.floats(0.05, 0.95), seed=st.integers(0, 99))
def test_the_mixture_is_of_probabilities_at_first_slots_only_and_leaves_pad_alone(weight, seed):
    denoiser = Opinion()
    canvas, context = a_canvas(denoiser)
    generator = torch.Generator().manual_seed(seed)
    size = denoiser.codec.vocab_size + 1
    logits = torch.randn(int(canvas.masked.sum()), size, generator=generator)

    mixed, _ = Guidance(weight).apply(denoiser, context, canvas, logits)

    firsts = [0, 3, 5, 7]  # rows of slot 0 of each candidate's parts
    others = [row for row in range(len(logits)) if row not in firsts]
    assert torch.equal(mixed[others], logits[others])
    plain, found = logits[firsts].softmax(-1), mixed[firsts].exp()
    assert found.sum(-1) == pytest.approx(1.0, abs=1e-4)
    assert found[:, -1] == pytest.approx(plain[:, -1], abs=1e-5)
    words = 1 - plain[:, -1]
    assert found[:, 7] == pytest.approx((1 - weight) * plain[:, 7] + weight * 0.5 * words, abs=1e-5)
