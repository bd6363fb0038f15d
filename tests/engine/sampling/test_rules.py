import math

import pytest

from engine.contract import SamplerConfig, StopReason
from engine.errors import InvalidJob
from engine.sampling.job import JobRun
from engine.sampling.policies import (
    COMMITMENTS,
    DRAWINGS,
    PRESETS,
    REMASKINGS,
    SCHEDULES,
    STOPS,
    resolve_sampler,
)
from engine.sampling.randomness import CounterHash
from engine.sampling.ranking import repeat_ratio
from engine.sampling.remasking import LeaveOneOut, Monotone
from engine.sampling.stopping import Budget, EarlyAnswer, EveryCandidate, ShownDraft
from tests.engine.builders import a_job, a_workshop


def test_a_budget_says_which_limit_ended_the_run():
    budget = Budget(max_passes=4, time_limit_at_s=10.0, deadline_at_s=20.0)

    assert budget.reason(3, 0.0) is None
    assert budget.reason(4, 0.0) is StopReason.PASS_BUDGET
    assert budget.reason(1, 10.0) is StopReason.TIME_BUDGET
    assert budget.reason(1, 20.0) is StopReason.DEADLINE


def test_the_early_answer_bound_falls_with_progress():
    rule = EarlyAnswer(bound=4.0)

    assert not rule.is_met(3.0, settled_ratio=0.0)
    assert rule.is_met(3.0, settled_ratio=0.5)
    assert not EarlyAnswer(None).is_met(99.0, 1.0)


def test_a_whole_draft_ends_a_run_only_where_that_was_asked_for():
    assert ShownDraft().is_met(0)
    assert not ShownDraft().is_met(1)
    assert not EveryCandidate().is_met(0)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_resolves_and_its_card_is_plain_data(preset):
    card = resolve_sampler(SamplerConfig(preset=preset)).card()

    assert card["commitment"] == "LeftToRight"
    assert card["rules"]["LeftToRight"]["gamma"] == PRESETS[preset].gamma


def test_mode_overrides_the_preset():
    assert isinstance(resolve_sampler(SamplerConfig(mode="revise")).remasking, LeaveOneOut)
    assert isinstance(
        resolve_sampler(SamplerConfig(preset="careful", mode="monotone")).remasking, Monotone
    )


@pytest.mark.parametrize(
    "field", ["preset", "commitment", "schedule", "remasking", "drawing", "stop_when"]
)
def test_a_rule_that_does_not_exist_is_refused_with_those_that_do(field):
    with pytest.raises(InvalidJob, match=f"{field} 'best'; allowed: "):
        resolve_sampler(SamplerConfig(**{field: "best"}))


def test_monotone_mode_and_a_revising_rule_exclude_each_other():
    with pytest.raises(InvalidJob, match="allowed: none"):
        resolve_sampler(SamplerConfig(mode="monotone", remasking="token_edits"))


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("commitment", COMMITMENTS),
        ("schedule", SCHEDULES),
        ("remasking", REMASKINGS),
        ("drawing", DRAWINGS),
        ("stop_when", STOPS),
    ],
)
def test_every_rule_resolves_by_its_name_and_is_on_the_card(field, names):
    for name in names:
        card = resolve_sampler(SamplerConfig(**{field: name})).card()
        assert card[field] in card["rules"]


def test_numbers_of_a_job_go_before_the_preset_s_and_are_on_the_card():
    card = resolve_sampler(SamplerConfig(top_p=0.5, early_answer=3.0, guidance=0.25)).card()

    assert card["rules"]["Nucleus"] == {"top_p": 0.5}
    assert card["early_answer"] == {"bound": 3.0}
    assert card["guidance"] == {"weight": 0.25}


def test_top_p_is_the_nucleus_own():
    with pytest.raises(InvalidJob, match="allowed: nucleus"):
        resolve_sampler(SamplerConfig(drawing="gumbel", top_p=0.5))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top_p", 0.0),
        ("top_p", 1.01),
        ("early_answer", 0.0),
        ("early_answer", math.inf),
        ("guidance", 1.0),
        ("guidance", -0.1),
        ("guidance", math.nan),
        ("temperature", math.nan),
    ],
)
def test_numbers_outside_their_range_are_refused_with_the_range(name, value):
    with pytest.raises(InvalidJob, match=f"{name} .*; allowed: "):
        JobRun(a_workshop(), a_job("we [___] today", **{name: value}))


def test_enough_candidates_are_made_for_the_alternatives_asked():
    sampler = resolve_sampler(SamplerConfig(alternatives=8))

    assert sampler.num_lengths + sampler.num_samples >= 8


def test_random_numbers_depend_on_every_counter_and_the_key_only():
    first = CounterHash(1, b"request")

    assert first.uniform(1, 2, 3) == CounterHash(1, b"request").uniform(1, 2, 3)
    others = {
        first.uniform(1, 2, 3),
        first.uniform(1, 3, 2),
        CounterHash(2, b"request").uniform(1, 2, 3),
    }
    assert len(others) == 3
    assert all(0 < value < 1 for value in others)


def test_repeats_are_doubled_words_and_pairs_seen_close_by():
    assert repeat_ratio("we saw", "the cat", "sat down") == 0.0
    assert repeat_ratio("we saw", "saw it", "") == 0.5
    assert repeat_ratio("in the end", "the end", "of it") == 0.5
    assert repeat_ratio("we", "", "go") == 0.0
