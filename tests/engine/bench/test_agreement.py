"""Pairs that must agree: made by seed, and agreement is told from the fills alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench.agreement import (
    NAME_TEXTS,
    NUMBER_TEXTS,
    TENSE_TEXTS,
    Pair,
    agreement_pairs,
    agrees,
    bench_agreement,
    fill_pair,
    score_agreement,
)
from engine.contract import SamplerConfig
from tests.engine.builders import a_workshop

FAST = SamplerConfig(preset="fast", alternatives=1)
PAIR = Pair("number", "The {0} here {1} old.", (("book", "books"), ("is", "are")))


def test_two_hundred_different_pairs_of_three_kinds_from_many_texts():
    pairs = agreement_pairs(200, seed=0)

    assert len(set(pairs)) == 200
    assert {pair.kind for pair in pairs} == {"name", "number", "tense"}
    assert len({pair.template for pair in pairs}) >= 40
    assert len(NAME_TEXTS) + len(NUMBER_TEXTS) + len(TENSE_TEXTS) >= 40


def test_the_seed_makes_the_pairs():
    assert agreement_pairs(50, seed=1) == agreement_pairs(50, seed=1)
    assert agreement_pairs(50, seed=1) != agreement_pairs(50, seed=2)


def test_more_pairs_than_there_are_is_refused():
    with pytest.raises(ValueError, match="at most"):
        agreement_pairs(100_000, seed=0)


@given(st.sampled_from(agreement_pairs(200, seed=3)), st.integers(0, 3), st.integers(0, 3))
def test_fills_agree_when_they_are_the_same_place_in_their_options(pair, first, second):
    first, second = (place % len(pair.options[0]) for place in (first, second))

    assert agrees(pair, [pair.options[0][first], pair.options[1][second]]) == (first == second)
    assert pair.template.count("{0}") == pair.template.count("{1}") == 1
    assert pair.template.index("{0}") < pair.template.index("{1}")
    assert all(len(set(options)) == len(options) for options in pair.options)


def test_a_fill_that_is_no_option_agrees_with_nothing():
    assert not agrees(PAIR, ["pen", "pen"])
    assert not agrees(PAIR, ["book", "isn't"])


def test_the_score_is_a_share_of_each_kind_beside_chance():
    pairs = [PAIR, PAIR, replace(PAIR, kind="tense")]

    report = score_agreement(pairs, [["book", "is"], ["book", "are"], ["books", "are"]])

    assert report["number"]["agree"]["mean"] == 0.5
    assert report["tense"]["agree"]["mean"] == 1.0
    assert report["all"]["agree"]["mean"] == pytest.approx(2 / 3)
    assert report["all"]["chance"] == 0.5


@pytest.mark.parametrize("jointly", [True, False])
def test_fills_are_options_whatever_the_model_says(jointly):
    pairs = agreement_pairs(12, seed=0)

    fills = [fill_pair(a_workshop(), pair, FAST, jointly=jointly) for pair in pairs]

    assert all(
        one in options
        for pair, found in zip(pairs, fills, strict=True)
        for one, options in zip(found, pair.options, strict=True)
    )


def test_the_report_sets_joint_beside_apart():
    report = bench_agreement(a_workshop(), count=6, config=FAST)

    assert report["joint"]["all"]["pairs"] == report["apart"]["all"]["pairs"] == 6
    assert -1 <= report["joint_less_apart"]["mean"] <= 1
