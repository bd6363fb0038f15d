"""A run yields the region where somebody types, and that region only (DESIGN section 4)."""

from __future__ import annotations

import pytest

from editor.errors import RegionBusy
from editor.hub.commands import ApplyEdit, ChangeSpans, RequestRefine, RunProgressed, RunSucceeded
from editor.hub.effects import CancelJob, PassShown, RegionYielded, RunOver, StableGrown
from editor.hub.wire import frame_for
from engine.contract import PassCompleted, RegionDraft
from tests.editor.builders import Session, a_document, finished


def running(markup: str = "‹one› and ‹two›") -> tuple[Session, str]:
    session = Session(a_document(markup))
    session.do(RequestRefine("refine", 0, None))
    return session, session.state.active_runs[0].id


def edit(session: Session, old: str, new: str, *, op_id: str = "edit") -> None:
    change = session.change(old, new)
    session.do(ApplyEdit(op_id, session.state.version, "browser", (change,)))


def a_pass(run_id: str) -> RunProgressed:
    regions = (
        RegionDraft("region1", "uno", ((0, 3),), (0.9,), 3),
        RegionDraft("region2", "due", ((0, 2),), (0.9,), 2),
    )
    return RunProgressed(PassCompleted(run_id, 1, 4, regions, 5, 1, 1, 0, 0.9, 1.0))


def test_edit_inside_one_region_drops_it_and_the_run_goes_on() -> None:
    session, run_id = running()

    edit(session, "ne", "NE")

    (run,) = session.state.active_runs
    assert run.span_ids == ("region2",)
    assert RegionYielded(run_id, "region1", "its region was edited") in session.notices
    assert not any(isinstance(notice, RunOver) for notice in session.notices)
    assert session.last.engine == ()


def test_dropped_region_gets_no_more_frames() -> None:
    session, run_id = running()
    edit(session, "ne", "NE")

    session.do(a_pass(run_id))

    (shown,) = (notice for notice in session.notices if isinstance(notice, PassShown))
    assert [region.region_id for region in shown.event.regions] == ["region2"]
    assert shown.event.stable_prefix == 2
    stable = [notice.span_id for notice in session.notices if isinstance(notice, StableGrown)]
    assert stable == ["region2"]


def test_dropped_region_gets_no_suggestion() -> None:
    session, run_id = running()
    edit(session, "ne", "NE")

    session.do(RunSucceeded(finished(run_id, {"region1": ["uno"], "region2": ["due"]})))

    assert [one.span_id for one in session.state.open_suggestions] == ["region2"]
    (over,) = (notice for notice in session.notices if isinstance(notice, RunOver))
    assert (over.run.state, over.message) == ("finished", None)


def test_run_without_a_region_left_is_cancelled() -> None:
    session, run_id = running()
    edit(session, "ne", "NE")

    edit(session, "w", "W", op_id="second")

    assert session.state.active_runs == ()
    assert CancelJob(run_id) in session.last.engine
    (over,) = (notice for notice in session.notices if isinstance(notice, RunOver))
    assert over.run.state == "cancelled"


def test_deleted_region_is_dropped_too() -> None:
    session, _ = running()

    session.do(ChangeSpans("remove", 0, remove=("region1",)))

    (run,) = session.state.active_runs
    assert run.span_ids == ("region2",)


def test_dropped_region_can_be_refined_again_beside_the_run() -> None:
    session, _ = running()
    edit(session, "ne", "NE")

    session.do(RequestRefine("again", 1, ("region1",)))

    assert [run.span_ids for run in session.state.active_runs] == [("region2",), ("region1",)]
    with pytest.raises(RegionBusy):
        session.do(RequestRefine("third", 1, ("region2",)))


def test_dropped_region_has_a_frame() -> None:
    frame = frame_for(RegionYielded("run", "region1", "why"), seq=3, before="", after="")

    assert frame is not None
    assert frame.model_dump() == {
        "type": "region_dropped",
        "seq": 3,
        "run_id": "run",
        "span_id": "region1",
        "reason": "why",
    }


def test_run_that_ends_without_a_last_word_says_how_long_it_took() -> None:
    session, _ = running("‹one›")
    session.now_s += 1.5

    edit(session, "ne", "NE")

    (over,) = (notice for notice in session.notices if isinstance(notice, RunOver))
    assert over.total_ms == 1500.0
