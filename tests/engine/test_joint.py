from dataclasses import replace

import pytest

from engine.contract import Alternative, RegionResult
from engine.denoisers.scripted import Answer, ScriptedDenoiser, Slot
from engine.errors import InvalidJob
from engine.joint import rerank
from tests.engine.builders import a_job, a_workshop, run_job

RESULTS = (
    RegionResult("a", (Alternative("he", -1.0, (0, 2)), Alternative("she", -2.0, (1,))), 0.5, 0),
    RegionResult("b", (Alternative("his", -1.0, (0,)), Alternative("her", -1.5, (1, 2))), 0.5, 0),
    RegionResult("far", (Alternative("x", -1.0, (0,)), Alternative("y", -2.0, (1,))), 0.5, 7),
)


def order(results, region: int) -> list[str]:
    return [one.text for one in results[region].alternatives]


def test_a_choice_brings_forward_what_was_made_together_with_it():
    chosen = rerank(RESULTS, "a", 1)

    assert order(chosen, 1) == ["her", "his"]
    assert order(chosen, 0) == ["he", "she"], "the chosen region keeps its order"
    assert chosen[2] == RESULTS[2], "another window does not care"


def test_the_first_choice_changes_nothing_and_regions_by_themselves_stay():
    assert rerank(RESULTS, "a", 0) == RESULTS
    alone = tuple(replace(result, window=None) for result in RESULTS)
    assert rerank(alone, "a", 1) == alone


@pytest.mark.parametrize(("region", "alternative"), [("none", 0), ("a", 2), ("a", -1)])
def test_what_does_not_exist_is_refused(region, alternative):
    with pytest.raises(InvalidJob):
        rerank(RESULTS, region, alternative)


def test_a_job_tells_which_alternatives_were_made_together():
    def agreeing(slot: Slot) -> Answer:
        word = "plan" if slot.num_slots % 2 else "staff"
        return Answer(f" {word}", 0.9)

    finished = run_job(
        a_job("we [___] today and [___] again", alternatives=8),
        a_workshop(ScriptedDenoiser(agreeing)),
    )

    first, second = finished.regions
    assert first.window == second.window == 0
    made = {c for one in first.alternatives for c in one.candidates}
    assert made == {c for one in second.alternatives for c in one.candidates} != set()
