from dataclasses import fields, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sampling.commitment import (
    CommitmentRule,
    EntropyBounded,
    Factor,
    Klass,
    LeftToRight,
    Margin,
    Random,
    SlotScores,
    Threshold,
    TopK,
)
from engine.sampling.policies import COMMITMENTS, PRESETS, SCHEDULES
from engine.sampling.schedules import Cosine, Linear

FIELDS = [field.name for field in fields(SlotScores)]


def scores(entropy: list[float], *, masked: list[bool] | None = None, sure: float = 0.5):
    length = len(entropy)
    return SlotScores(
        masked=torch.tensor([masked or [True] * length]),
        token=torch.zeros(1, length, dtype=torch.int64),
        confidence=torch.full((1, length), sure),
        entropy=torch.tensor([entropy]),
        gap=torch.zeros(1, length),
    )


def choose(rule: CommitmentRule, table: SlotScores, at_least: int = 1) -> list[int]:
    chosen = rule.choose(table, torch.tensor([at_least]))
    return torch.nonzero(chosen[0]).flatten().tolist()


def test_the_most_certain_mask_is_always_taken():
    assert choose(EntropyBounded(gamma=0.0), scores([5.0, 2.0, 7.0])) == [1]


def test_masks_are_taken_while_the_sum_without_the_largest_stays_bounded():
    rule = EntropyBounded(gamma=0.3, share=1.0)

    chosen = choose(rule, scores([0.1, 9.0, 0.15, 9.0, 0.2, 9.0, 9.0, 9.0]))

    assert chosen == [0, 2, 4], "0.1 + 0.15 is within 0.3, so the third may come, the fourth not"


def test_at_most_a_share_of_the_masks_is_taken():
    assert len(choose(EntropyBounded(gamma=99.0), scores([0.1 * i for i in range(16)]))) <= 4


def test_of_uncertain_neighbours_only_the_better_is_taken():
    rule = EntropyBounded(gamma=9.0, share=1.0)

    assert choose(rule, scores([0.2, 0.1, 0.3])) == [1]
    assert choose(rule, scores([0.2, 0.1, 0.3], sure=0.99)) == [0, 1, 2]


def test_at_least_is_met_even_against_the_guard():
    assert len(choose(EntropyBounded(gamma=0.0), scores([0.2, 0.1, 0.3]), at_least=3)) == 3


def table(**known: list[float]) -> SlotScores:
    """Scores of one part, all masked, as far as a rule looks at them."""
    length = len(next(iter(known.values())))
    plain = scores([1.0] * length)
    return replace(plain, **{name: torch.tensor([values]) for name, values in known.items()})


def test_top_k_takes_what_the_schedule_asks_for_by_confidence():
    assert choose(TopK(), table(confidence=[0.2, 0.9, 0.5]), 2) == [1, 2]


def test_threshold_takes_all_that_reach_it_and_the_best_otherwise():
    assert choose(Threshold(0.9), table(confidence=[0.95, 0.1, 0.92])) == [0, 2]
    assert choose(Threshold(0.9), table(confidence=[0.3, 0.1, 0.2])) == [0]


def test_factor_asks_less_of_the_first_than_of_the_later():
    # 1 - 1/2, 1 - 1/3, 1 - 1/4: the third needs 0.75.
    assert choose(Factor(1.0), table(confidence=[0.5, 0.7, 0.74])) == [1, 2]
    assert choose(Factor(1.0), table(confidence=[0.75, 0.8, 0.76])) == [0, 1, 2]


def test_klass_waits_for_a_second_look():
    confident = [0.95, 0.99, 0.5]

    first = choose(Klass(), table(confidence=confident, drift=[float("inf")] * 3))
    second = choose(Klass(), table(confidence=confident, drift=[0.001, 0.5, 0.001]))

    assert first == [1], "nothing qualifies, so the best is taken"
    assert second == [0]


def test_margin_goes_by_the_lead_over_the_next_token():
    assert choose(Margin(3.0), table(gap=[3.5, 0.1, 4.0], confidence=[0.1, 0.9, 0.2])) == [0, 2]


def test_left_to_right_takes_the_first_mask_however_unsure():
    table = scores([9.0, 0.1, 8.0, 0.1], masked=[False, False, True, True])

    assert choose(LeftToRight(), table) == [2]
    assert choose(LeftToRight(), table, at_least=2) == [2, 3]


def test_left_to_right_goes_on_while_the_run_stays_certain():
    rule = LeftToRight(gamma=0.1)

    chosen = choose(rule, scores([0.2, 2.0, 0.1, 0.2, 0.1]))

    assert chosen == [0, 1, 2, 3], "0.2 + 0.1 + 0.2 = 0.5 nats for five masks, then 0.6"


def test_random_takes_by_the_dice_only():
    assert choose(Random(), table(dice=[0.1, 0.2, 0.9], confidence=[0.9, 0.9, 0.1])) == [2]


def test_linear_shares_evenly_and_cosine_begins_slowly():
    def taken(schedule) -> list[int]:
        left, steps = 12, []
        for number in range(1, 7):
            steps.append(schedule.at_least(left, 12, pass_index=number, num_passes=6))
            left -= steps[-1]
        return steps

    assert taken(Linear()) == [2] * 6
    assert taken(Cosine()) == [1, 1, 2, 2, 3, 3]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 50), st.integers(1, 50))
def test_a_schedule_asks_for_some_never_too_many_and_all_at_the_end(masked, more, number, passes):
    for schedule in SCHEDULES.values():
        count = schedule.at_least(masked, masked + more, pass_index=number, num_passes=passes)
        assert min(1, masked) <= count <= masked
        assert number < passes or count == masked


@pytest.mark.parametrize("name", COMMITMENTS)
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 16), st.integers(1, 5))
def test_every_rule_chooses_masks_only_enough_of_them_and_part_by_part(name, seed, size, least):
    rule = COMMITMENTS[name](PRESETS["balanced"])
    rng = torch.Generator().manual_seed(seed)
    random = lambda: torch.rand(3, size, generator=rng)  # noqa: E731
    known = SlotScores(
        random() < 0.6,
        torch.zeros(3, size),
        random(),
        3 * random(),
        6 * random(),
        random(),
        random(),
    )
    floors = torch.full((3,), least)

    chosen = rule.choose(known, floors)

    assert not (chosen & ~known.masked).any()
    assert (chosen.sum(-1) >= known.masked.sum(-1).clamp_max(least)).all()
    own = [None if f is None else f[1:2] for f in (getattr(known, n) for n in FIELDS)]
    assert torch.equal(rule.choose(SlotScores(*own), floors[1:2])[0], chosen[1])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 10), st.booleans()), min_size=1, max_size=24),
    st.floats(0, 5),
    st.integers(1, 5),
)
def test_only_masks_are_chosen_and_every_part_gains(slots, gamma, at_least):
    entropy, masked = [value for value, _ in slots], [is_masked for _, is_masked in slots]

    chosen = choose(EntropyBounded(gamma=gamma), scores(entropy, masked=masked), at_least)

    assert all(masked[slot] for slot in chosen)
    assert len(chosen) >= min(at_least, sum(masked))
