"""The trace of one run, pass by pass, against the one that is kept."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from engine.contract import PassRecord
from engine.denoisers.scripted import Answer, ScriptedDenoiser, Slot, pool_script
from tests.engine.builders import a_job, a_workshop, run_job

GOLDEN = Path(__file__).parents[1] / "golden" / "traces.json"
JOBS = {
    "monotone": a_job("we [___] today and {all} of <them will wait> on", length=6, preset="fast"),
    "revise": a_job("we [___] today", length=9, preset="fast", mode="revise", alternatives=1),
    "edits": a_job("we [___] today", length=9, remasking="token_edits", alternatives=1),
    "autoregressive": a_job("we [___] today", length=5, route="autoregressive", alternatives=2),
}


def undecided(slot: Slot) -> Answer:
    """Wants another word each time it is asked, and another yet for what is visible."""
    is_seen = slot.visible[slot.index] is not None
    word = "week" if is_seen else ("plan", "staff")[slot.call % 2]
    return Answer(f" {word}" if slot.index % 3 else " we", 0.98)


SCRIPTS = {"revise": undecided, "edits": undecided}


def plain(record: PassRecord) -> dict[str, object]:
    """A record as JSON keeps it; means to four digits, as float order may differ elsewhere."""
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in asdict(record).items()
    }


@pytest.mark.parametrize("name", JOBS)
def test_a_run_leaves_the_trace_it_used_to(name, request):
    shop = a_workshop(ScriptedDenoiser(SCRIPTS.get(name, pool_script)))

    trace = [plain(record) for record in run_job(JOBS[name], shop).telemetry]

    if request.config.getoption("--update-golden"):
        known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
        GOLDEN.write_text(json.dumps(known | {name: trace}, indent=1, sort_keys=True) + "\n")
    assert json.loads(GOLDEN.read_text())[name] == trace


def test_the_kept_traces_tell_the_modes_apart():
    traces = json.loads(GOLDEN.read_text())

    assert not any(record["remasked"] or record["edited"] for record in traces["monotone"])
    assert any(record["remasked"] for record in traces["revise"])
    assert any(record["edited"] for record in traces["edits"])
    assert all(trace[-1]["masked_left"] == 0 for trace in traces.values())
