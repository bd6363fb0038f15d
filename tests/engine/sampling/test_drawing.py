"""Draws: the right shares, nothing outside the nucleus, the same number the same token."""

from collections import Counter

import pytest
import torch

from engine.sampling.drawing import Draw, Gumbel, Nucleus
from engine.sampling.randomness import CounterHash

SHARES = torch.tensor([0.5, 0.3, 0.15, 0.05])
NUM_DRAWS = 4000


def tally(rule, temperature: float) -> Counter:
    draw = Draw(0, temperature, rule, CounterHash(3, b"request"))
    return Counter(draw.token(SHARES.log(), number) for number in range(NUM_DRAWS))


@pytest.mark.parametrize("rule", [Nucleus(top_p=1.0), Gumbel()])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_tokens_are_drawn_as_often_as_their_share_at_the_temperature(rule, temperature):
    wanted = SHARES ** (1 / temperature)
    wanted = wanted / wanted.sum()

    found = tally(rule, temperature)

    # Four standard deviations of a share of one half.
    margin = 4 * (0.25 / NUM_DRAWS) ** 0.5
    assert all(abs(found[i] / NUM_DRAWS - float(wanted[i])) < margin for i in range(4))


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.01, {0}), (0.45, {0}), (0.6, {0, 1}), (0.9, {0, 1, 2})]
)
def test_nothing_outside_the_nucleus_is_drawn(top_p, kept):
    assert set(tally(Nucleus(top_p), 1.0)) == kept


@pytest.mark.parametrize("rule", [Nucleus(), Gumbel()])
def test_a_draw_depends_on_its_numbers_and_nothing_else(rule):
    first, again = (Draw(1, 1.0, rule, CounterHash(3, b"request")) for _ in range(2))
    other = Draw(2, 1.0, rule, CounterHash(3, b"request"))

    drawn = [first.token(SHARES.log(), number) for number in range(50)]

    assert [again.token(SHARES.log(), number) for number in reversed(range(50))] == drawn[::-1]
    assert [other.token(SHARES.log(), number) for number in range(50)] != drawn


def test_a_perturbed_row_at_temperature_0_is_the_row():
    draw = Draw(0, 0.0, Gumbel(), CounterHash(3, b"request"))

    assert torch.equal(draw.perturbed(SHARES.log(), 1), SHARES.log())
