import pytest
import torch

from engine.contract import SamplerConfig, StopReason
from engine.sampling.policies import PRESETS, resolve_sampler
from engine.sampling.randomness import CounterHash
from engine.sampling.ranking import repeat_ratio
from engine.sampling.remasking import LeaveOneOut, Monotone
from engine.sampling.stopping import Budget, EarlyAnswer


def grid(*values: float) -> torch.Tensor:
    return torch.tensor([[list(values)]])


def leave_one_out(hidden: torch.Tensor, **changed: torch.Tensor) -> list[int]:
    defaults = {
        "accepted": torch.ones_like(hidden, dtype=torch.bool),
        "frozen": torch.zeros_like(hidden, dtype=torch.bool),
        "flips": torch.zeros_like(hidden, dtype=torch.int16),
    }
    state = defaults | changed
    chosen = LeaveOneOut(tau=0.5).choose(state["accepted"], hidden, state["frozen"], state["flips"])
    return torch.nonzero(chosen[0, 0]).flatten().tolist()


def test_monotone_takes_nothing_back():
    nothing = torch.zeros(1, 1, 3)

    assert not Monotone().choose(nothing.bool(), nothing, nothing.bool(), nothing).any()


def test_leave_one_out_revokes_weak_tokens_but_fewer_than_were_accepted():
    assert leave_one_out(grid(0.9, 0.1, 0.8)) == [1]
    assert leave_one_out(grid(0.3, 0.1, 0.2)) == [1, 2]


def test_leave_one_out_spares_frozen_and_often_flipped_slots():
    assert leave_one_out(grid(0.1, 0.2, 0.9), frozen=grid(1, 0, 0).bool()) == [1]
    assert leave_one_out(grid(0.1, 0.2, 0.9), flips=grid(3, 0, 0).to(torch.int16)) == [1]


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

    assert card["commitment"] == "EntropyBounded"
    assert card["rules"]["EntropyBounded"]["gamma"] == PRESETS[preset].gamma


def test_mode_overrides_the_preset():
    assert isinstance(resolve_sampler(SamplerConfig(mode="revise")).remasking, LeaveOneOut)
    assert isinstance(
        resolve_sampler(SamplerConfig(preset="careful", mode="monotone")).remasking, Monotone
    )


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
