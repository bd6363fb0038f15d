import pytest
import torch

from engine.canvas.canvas import Canvas
from engine.canvas.layout import lay_out_window
from engine.canvas.length import LengthPrior, candidate_lengths, fit_width, rank_lengths
from engine.canvas.parts import find_parts
from engine.canvas.slots import SlotState
from engine.canvas.splice import splice
from engine.contract import RegionSpec
from engine.denoisers.scripted import ScriptedCodec
from tests.engine.builders import a_job

PAD = 999


def a_canvas(*lengths: list[int]) -> Canvas:
    job = a_job("we [___] plan [___] today")
    codec = ScriptedCodec()
    window = lay_out_window(job.text, find_parts(job, codec), [8, 8], codec=codec, budget=64)
    return Canvas.masked_out(window, lengths)


def only(canvas: Canvas, *place: int) -> torch.Tensor:
    chosen = torch.zeros_like(canvas.masked)
    chosen[place] = True
    return chosen


def test_a_new_canvas_is_masked_up_to_each_length():
    canvas = a_canvas([2, 3], [1, 4])

    assert canvas.masked.sum(-1).tolist() == [[2, 3], [1, 4]]
    assert canvas.lengths.tolist() == [[2, 3], [1, 4]]


def test_commit_writes_tokens_and_pads():
    canvas = a_canvas([2, 2])
    tokens = torch.full(canvas.tokens.shape, 7)
    tokens[0, 0, 1] = PAD

    canvas.commit(canvas.masked, tokens, PAD)

    assert canvas.part_tokens(0, 0) == [7]
    assert canvas.part_tokens(0, 1) == [7, 7]


def test_a_part_grows_by_masks_and_others_stay():
    canvas = a_canvas([2, 2], [1, 4])
    canvas.commit(only(canvas, 0, 0, 0), torch.full(canvas.tokens.shape, 7), PAD)
    canvas.freeze(only(canvas, 0, 0, 0))

    canvas.grow(0, 0, 4)

    assert canvas.lengths.tolist() == [[6, 2], [1, 4]]
    assert canvas.part_tokens(0, 0) == [7, None, None, None, None, None]
    assert canvas.frozen[0, 0].tolist() == [True] + [False] * 5
    assert (canvas.committed.sum(-1) + canvas.masked.sum(-1)).tolist() == [[6, 2], [1, 4]]
    canvas.commit(canvas.masked, torch.full(canvas.tokens.shape, PAD), PAD)
    assert (canvas.state == SlotState.PAD).sum(-1).tolist() == [[5, 2], [1, 4]]


def test_only_masks_can_be_committed():
    canvas = a_canvas([2, 2])
    canvas.commit(only(canvas, 0, 0, 0), canvas.tokens, PAD)

    with pytest.raises(AssertionError):
        canvas.commit(only(canvas, 0, 0, 0), canvas.tokens, PAD)


def test_a_frozen_slot_is_never_remasked():
    canvas = a_canvas([2, 2])
    canvas.commit(canvas.masked, canvas.tokens, PAD)
    canvas.freeze(only(canvas, 0, 0, 0))

    with pytest.raises(AssertionError):
        canvas.remask(only(canvas, 0, 0, 0))
    canvas.remask(only(canvas, 0, 0, 1))

    assert canvas.masked.sum() == 1
    assert canvas.flips[0, 0, 1] == 1


def test_given_text_is_frozen_where_it_is_not_masked():
    canvas = a_canvas([3, 1])

    canvas.give(0, [4, 5, 6], [False, True, False])

    assert canvas.part_tokens(0, 0) == [4, None, 6]
    assert canvas.frozen[0, 0].tolist() == [True, False, True]


def test_selected_candidates_are_copies():
    canvas = a_canvas([1, 1], [2, 2])

    twice = canvas.select([1, 1])
    twice.commit(only(twice, 0, 0, 0), twice.tokens, PAD)

    assert twice.num_candidates == 2
    assert canvas.masked.sum() == 6


def test_the_settled_prefix_ends_at_the_first_mask():
    canvas = a_canvas([4, 1])
    canvas.commit(only(canvas, 0, 0, 0), canvas.tokens, PAD)
    canvas.commit(only(canvas, 0, 0, 2), canvas.tokens, PAD)

    assert canvas.settled_prefix()[0, 0].tolist() == [True, False, False, False]


def test_a_stream_is_anchor_then_slots_for_each_part():
    canvas = a_canvas([1, 2], [3, 1])

    stream = canvas.stream([0, 1], torch.device("cpu"))

    assert stream.tokens.shape == (2, 2 * (1 + 3))
    assert stream.tokens[0, 0] == canvas.window.anchors[0]
    assert stream.positions[0, :4].tolist() == [canvas.window.bases[0] - 1 + i for i in range(4)]
    absent = (stream.state == SlotState.ABSENT).sum(-1).tolist()
    assert absent == [3, 2]


def test_candidate_lengths_surround_a_hint():
    assert candidate_lengths(8) == (6, 8, 10)
    assert candidate_lengths(1) == (1,)
    assert max(candidate_lengths(256)) == 256
    assert candidate_lengths(None)[0] == 1


def test_the_width_holds_the_longest():
    assert [fit_width(n) for n in (1, 4, 5, 33, 256)] == [4, 4, 8, 64, 320]


def test_lengths_are_ranked_by_what_the_model_adds_to_the_prior():
    prior = LengthPrior()

    assert rank_lengths(prior, [-2.0, -2.0, -2.0], [1, 5, 16], None)[0] == 5
    assert rank_lengths(prior, [-2.0, -2.0, -2.0], [1, 5, 16], 16)[0] == 16
    assert rank_lengths(prior, [-0.1, -9.0, -9.0], [1, 5, 16], None)[0] == 1


def test_splice_replaces_regions_only():
    regions = (RegionSpec("b", 6, 9), RegionSpec("a", 0, 2))

    assert splice("we do not", regions, {"a": "they", "b": "so"}) == "they do so"
    assert splice("we do not", regions, {}) == "we do not"
