import pytest

from engine.contract import SamplerConfig, StopReason
from engine.errors import InvalidJob
from engine.sampling.policies import (
    COMMITMENTS,
    PRESETS,
    REMASKINGS,
    SCHEDULES,
    resolve_sampler,
)
from engine.sampling.randomness import CounterHash
from engine.sampling.ranking import repeat_ratio
from engine.sampling.remasking import LeaveOneOut, Monotone
from engine.sampling.stopping import Budget, EarlyAnswer


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


@pytest.mark.parametrize("field", ["preset", "commitment", "schedule", "remasking"])
def test_a_rule_that_does_not_exist_is_refused_with_those_that_do(field):
    with pytest.raises(InvalidJob, match=f"{field} 'best'; allowed: "):
        resolve_sampler(SamplerConfig(**{field: "best"}))


def test_monotone_mode_and_a_revising_rule_exclude_each_other():
    with pytest.raises(InvalidJob, match="allowed: none"):
        resolve_sampler(SamplerConfig(mode="monotone", remasking="token_edits"))


@pytest.mark.parametrize(
    ("field", "names"),
    [("commitment", COMMITMENTS), ("schedule", SCHEDULES), ("remasking", REMASKINGS)],
)
def test_every_rule_resolves_by_its_name_and_is_on_the_card(field, names):
    for name in names:
        card = resolve_sampler(SamplerConfig(**{field: name})).card()
        assert card[field] in card["rules"]


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
