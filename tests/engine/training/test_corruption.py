from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.training.corruption import ABSENT, MASK, PAD, TOKEN, CorruptionConfig, corrupt

VOCAB = 1000
CONFIG = CorruptionConfig(context_tokens=30, stream_slots=24, max_regions=5)


def sample(seed: int, config: CorruptionConfig = CONFIG):
    rng = np.random.default_rng(seed)
    window = np.arange(100, 100 + config.context_tokens + config.stream_slots)
    return corrupt(window, config, VOCAB, rng)


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_context_and_truth_are_the_window_in_order(seed: int):
    """Read by canvas position, context and targets give back consecutive text."""
    made = sample(seed)
    words = (made.targets >= 0) & (made.targets < VOCAB)
    places = np.concatenate([made.context_positions, made.positions[words]])
    tokens = np.concatenate([made.context, made.targets[words]])

    ordered = tokens[np.argsort(places, kind="stable")]

    assert (np.diff(ordered) == 1).all()
    assert len(set(places.tolist())) == len(places)


@settings(max_examples=200)
@given(st.integers(0, 2**32))
@example(46182)  # the only mask fell into the tail that was then made visible
def test_pad_is_a_tail_and_every_region_hides_something(seed: int):
    made = sample(seed)
    views = [
        (region, state[region])
        for region in regions_of(made)
        for state in (made.state, made.other_state)
    ]
    for region, states in views:
        assert (states == MASK).any()
        pads = np.flatnonzero(states == PAD)
        if len(pads):
            assert (states[pads[0] :] == PAD).all()
        targets = made.targets[region]
        first_pad = np.flatnonzero(targets == VOCAB)
        if len(first_pad):
            assert (targets[first_pad[0] :] == VOCAB).all()


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_second_look_hides_what_the_first_shows(seed: int):
    made = sample(seed)
    for region in regions_of(made):
        words = made.targets[region] < VOCAB
        first, other = made.state[region] == MASK, made.other_state[region] == MASK
        if not first.all():
            assert (other[words & ~first]).all()


@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_every_masked_slot_is_scored_and_no_anchor_is(seed: int):
    made = sample(seed)

    assert (made.weight[made.state == MASK] > 0).all()
    assert (made.other_weight[made.other_state == MASK] > 0).all()
    assert (made.weight[made.state == ABSENT] == 0).all()
    assert (made.weight[made.targets < 0] == 0).all()


def test_wrong_visible_words_keep_their_true_target():
    config = CorruptionConfig(
        context_tokens=30, stream_slots=24, full_mask_share=0.0, wrong_share=1.0
    )
    made = sample(3, config)
    visible = (made.state == TOKEN) & (made.targets >= 0)

    assert visible.any()
    assert (made.tokens[visible] != made.targets[visible]).mean() > 0.9
    assert (made.weight[visible] == 1.0).all()


def test_same_seed_same_sample():
    first, second = sample(9), sample(9)

    assert all(np.array_equal(getattr(first, n), getattr(second, n)) for n in first.__slots__)


def regions_of(made):
    """Slices of the stream between anchors (slots without a target that are present)."""
    anchors = np.flatnonzero((made.targets < 0) & (made.state != ABSENT))
    ends = [*anchors[1:], int((made.state != ABSENT).sum())]
    return [slice(a + 1, e) for a, e in zip(anchors, ends, strict=True)]
