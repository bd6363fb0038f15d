import pytest

from engine.sampling.monitor import is_looping


@pytest.mark.parametrize(
    "fill",
    ["very very very good", "the plan of the plan of the plan", "call us and call us and call us"],
)
def test_loops_are_told(fill):
    assert is_looping("we will", fill, "today")


@pytest.mark.parametrize("fill", ["", "the plan", "the left knee and the right knee", "very very"])
def test_short_or_varied_fills_are_not_loops(fill):
    assert not is_looping("we will", fill, "today")


def test_what_stands_beside_the_fill_counts_as_said():
    assert is_looping("please call the office today", "please call the office", "soon")
