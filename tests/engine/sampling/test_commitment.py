import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sampling.commitment import EntropyBounded, SlotScores


def scores(entropy: list[float], *, masked: list[bool] | None = None, sure: float = 0.5):
    length = len(entropy)
    return SlotScores(
        masked=torch.tensor([masked or [True] * length]),
        token=torch.zeros(1, length, dtype=torch.int64),
        confidence=torch.full((1, length), sure),
        entropy=torch.tensor([entropy]),
        gap=torch.zeros(1, length),
    )


def choose(rule: EntropyBounded, table: SlotScores, at_least: int = 1) -> list[int]:
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
