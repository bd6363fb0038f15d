import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sampling.policies import REMASKINGS
from engine.sampling.remasking import (
    MAX_FLIPS,
    Evidence,
    LeaveOneOut,
    Monotone,
    ReMDMCap,
    TokenEdits,
)


def grid(*values: float) -> torch.Tensor:
    return torch.tensor([[list(values)]])


def evidence(size: int = 3, **known: torch.Tensor) -> Evidence:
    yes, zero = torch.ones(1, 1, size, dtype=torch.bool), torch.zeros(1, 1, size)
    plain = {
        "accepted": yes,
        "committed": yes,
        "frozen": ~yes,
        "flips": zero.to(torch.int16),
    }
    return Evidence(**(plain | known))


def slots(chosen: torch.Tensor) -> list[int]:
    return torch.nonzero(chosen[0, 0]).flatten().tolist()


def test_monotone_takes_nothing_back():
    revision = Monotone().choose(evidence())

    assert not (revision.remask | revision.edit).any()


def test_leave_one_out_revokes_weak_tokens_but_fewer_than_were_accepted():
    rule = LeaveOneOut(tau=0.5)

    assert slots(rule.choose(evidence(hidden=grid(0.9, 0.1, 0.8))).remask) == [1]
    assert slots(rule.choose(evidence(hidden=grid(0.3, 0.1, 0.2))).remask) == [1, 2]


def test_leave_one_out_looks_at_all_of_a_part_that_is_whole():
    rule, whole = LeaveOneOut(tau=0.5, lead=0.3), torch.ones(1, 1, dtype=torch.bool)
    last = grid(0, 0, 1).bool()  # one token was accepted, at the end
    seen = {"accepted": last, "hidden": grid(0.1, 0.2, 0.9), "whole": whole}

    beaten = rule.choose(evidence(rival=grid(0.6, 0.6, 0.9), **seen))
    unbeaten = rule.choose(evidence(rival=grid(0.2, 0.2, 0.9), **seen))
    open_part = rule.choose(evidence(rival=grid(0.6, 0.6, 0.9), **(seen | {"whole": ~whole})))

    assert slots(beaten.remask) == [0], "the weakest, no more than were accepted"
    assert slots(unbeaten.remask) == slots(open_part.remask) == []


def test_leave_one_out_takes_an_eighth_of_a_whole_part_back_and_no_more():
    rule, whole = LeaveOneOut(tau=0.5), torch.ones(1, 1, dtype=torch.bool)
    seen = {"hidden": grid(*[0.1] * 8), "rival": grid(*[0.9] * 8), "whole": whole}

    fresh = rule.choose(evidence(8, **seen))
    spent = rule.choose(evidence(8, flips=grid(1, *[0] * 7).to(torch.int16), **seen))

    assert (len(slots(fresh.remask)), slots(spent.remask)) == (1, [])


def test_leave_one_out_spares_frozen_and_often_flipped_slots():
    rule, hidden = LeaveOneOut(tau=0.5), grid(0.1, 0.2, 0.9)

    frozen = rule.choose(evidence(hidden=hidden, frozen=grid(1, 0, 0).bool()))
    flipped = rule.choose(evidence(hidden=hidden, flips=grid(3, 0, 0).to(torch.int16)))

    assert slots(frozen.remask) == slots(flipped.remask) == [1]


def test_remdm_draws_among_older_tokens_and_fewer_than_were_accepted():
    rule = ReMDMCap(cap=0.5)
    accepted = grid(0, 0, 1, 1).bool()

    revision = rule.choose(evidence(4, accepted=accepted, dice=grid(0.4, 0.1, 0.0, 0.0)))

    assert slots(revision.remask) == [1], "two were accepted, so one may go: the lowest number"


def test_a_token_is_exchanged_when_another_leads_and_little_is_left_to_it():
    rule = TokenEdits(lead=0.8, own=0.05)
    seen = {"own": grid(0.01, 0.01, 0.2), "lead": grid(0.9, 0.7, 0.8)}

    revision = rule.choose(evidence(**seen))

    assert slots(revision.edit) == [0]
    assert not revision.remask.any()


@pytest.mark.parametrize("name", REMASKINGS)
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_only_free_slots_change_and_a_part_always_gains(name, seed, size):
    rng = torch.Generator().manual_seed(seed)
    coin = lambda: torch.rand(2, 3, size, generator=rng) < 0.5  # noqa: E731
    committed = coin()
    known = Evidence(
        accepted=committed & coin(),
        committed=committed,
        frozen=coin(),
        flips=torch.randint(0, MAX_FLIPS + 1, (2, 3, size), generator=rng).to(torch.int16),
        **{n: torch.rand(2, 3, size, generator=rng) for n in ("hidden", "own", "lead", "dice")},
    )

    revision = REMASKINGS[name].choose(known)

    assert not ((revision.remask | revision.edit) & ~known.free).any()
    assert not (revision.remask & revision.edit).any()
    gained = known.accepted.sum(-1) - revision.remask.sum(-1)
    assert (gained[known.accepted.any(-1)] >= 1).all()
