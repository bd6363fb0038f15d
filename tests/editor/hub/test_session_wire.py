"""Messages become commands in code points; notices become frames in UTF-16."""

from __future__ import annotations

from typing import get_args

import pytest

from editor.document.changes import replace
from editor.errors import InvalidChange, InvalidOffset, StaleVersion
from editor.hub import effects
from editor.hub.commands import (
    AcceptSuggestions,
    ApplyEdit,
    CancelRun,
    ChangeSpans,
    Command,
    NewSpan,
    RejectSuggestions,
    RenameDocument,
    RequestRefine,
    RunFailed,
    RunProgressed,
    RunSucceeded,
)
from editor.hub.wire import command_for, edited_frame, frame_for, snapshot_fields
from editor.protocol.messages import CLIENT_MESSAGE, SERVER_MESSAGE, ServerMessage
from engine.contract import Constraint, JobFailed, PassCompleted, RegionDraft, SamplerConfig
from tests.editor.builders import Session, a_document, finished

SMILE = "\U0001f600"


def read(session: Session, **message: object) -> Command:
    carried = CLIENT_MESSAGE.validate_python(message)
    return command_for(carried, session.state, client_id="browser")  # type: ignore[arg-type]


def test_edit_counts_in_utf16() -> None:
    session = Session(a_document(f"{SMILE}a"))
    updates = [{"clientID": "ignored", "changes": [2, [1, "b"]]}]

    command = read(session, type="edit", op_id="op", version=0, updates=updates)

    assert command == ApplyEdit("op", 0, "browser", (replace(2, 1, 2, "b"),))


@pytest.mark.parametrize(
    ("changes", "error"), [([1, [1], 1], InvalidChange), ([3, 3], InvalidChange)]
)
def test_edit_that_cuts_a_pair_or_does_not_fit_is_refused(
    changes: list[object], error: type[Exception]
) -> None:
    session = Session(a_document(f"{SMILE}a"))

    with pytest.raises(error):
        read(
            session,
            type="edit",
            op_id="op",
            version=0,
            updates=[{"clientID": "c", "changes": changes}],
        )


def test_edit_for_another_version_is_refused_before_it_is_read() -> None:
    session = Session(a_document("a"))

    with pytest.raises(StaleVersion):
        read(
            session,
            type="edit",
            op_id="op",
            version=3,
            updates=[{"clientID": "c", "changes": [99]}],
        )


def test_repeated_edit_is_recognised_although_its_text_is_gone() -> None:
    session = Session(a_document("a"))
    message = {
        "type": "edit",
        "op_id": "op",
        "version": 0,
        "updates": [{"clientID": "c", "changes": [1, [0, "bc"]]}],
    }
    session.do(read(session, **message))

    decision = session.do(read(session, **message))

    assert decision.send == (effects.Send(effects.MissingEdits(0, "op"), to="sender"),)


def test_spans_count_in_utf16() -> None:
    session = Session(a_document(f"{SMILE}ab"))
    add = [{"kind": "locked", "from": 2, "to": 4, "id": "mine"}]

    command = read(session, type="spans", op_id="op", version=0, add=add, remove=["x"])

    assert command == ChangeSpans("op", 0, (NewSpan("locked", 1, 3, {}, "mine"),), ("x",))


def test_span_inside_a_pair_is_refused() -> None:
    session = Session(a_document(f"{SMILE}ab"))

    with pytest.raises(InvalidOffset, match="splits a surrogate pair"):
        read(
            session,
            type="spans",
            op_id="op",
            version=0,
            add=[{"kind": "locked", "from": 1, "to": 3}],
        )


def test_refine_settings_become_the_engines() -> None:
    session = Session(a_document("‹a›"))

    command = read(
        session,
        type="refine",
        op_id="op",
        version=0,
        regions=["region1"],
        settings={
            "preset": "fast",
            "seed": 3,
            "steps": 9,
            "time_budget_s": 2.5,
            "brief": "b",
            "constraints": [{"kind": "must_contain", "values": ["x"]}],
        },
    )

    assert command == RequestRefine(
        "op",
        0,
        ("region1",),
        SamplerConfig(preset="fast", seed=3, steps=9, time_budget_s=2.5, brief="b"),
        (Constraint("must_contain", ("x",)),),
    )


def test_the_other_messages() -> None:
    session = Session(a_document("‹a›"))

    assert read(session, type="refine", op_id="op", version=0) == RequestRefine("op", 0, None)
    assert read(session, type="cancel", run_id="r") == CancelRun("r")
    assert read(
        session,
        type="accept",
        op_id="op",
        suggestion_ids=["s"],
        alternatives={"s": 1},
        texts={"s": "a\r\nb"},
    ) == AcceptSuggestions("op", ("s",), {"s": 1}, {"s": "a\nb"}, "browser")
    assert read(session, type="reject", op_id="op", suggestion_ids=["s"]) == RejectSuggestions(
        "op", ("s",)
    )


def frames_of_a_whole_session() -> list[ServerMessage]:
    """Return the frames of every kind of notice, from one document's life."""
    session = Session(a_document(f"{SMILE} ‹[___]› ‹b›"))
    frames: list[ServerMessage] = []

    def do(command: Command) -> None:
        before = session.state.text
        session.do(command)
        for notice in session.notices:
            frame = frame_for(notice, seq=len(frames), before=before, after=session.state.text)
            assert frame is not None
            frames.append(frame)

    do(RenameDocument("title"))
    do(ApplyEdit("op", 0, "browser", (replace(9, 9, 9, SMILE), replace(10, 0, 1, "b"))))
    do(RequestRefine("one", 2, ("region1",)))
    do(RunProgressed(a_stable_pass(session.state.active_runs[0].id)))
    do(RunSucceeded(finished(session.state.active_runs[0].id, {"region1": [SMILE]})))
    do(AcceptSuggestions("accept", (session.state.open_suggestions[0].id,)))
    do(RequestRefine("two", 3, ("region2",)))
    do(RunFailed(JobFailed(session.state.active_runs[0].id, "worker_died", "Gone.", True)))
    return frames


def a_stable_pass(run_id: str) -> PassCompleted:
    region = RegionDraft("region1", f"{SMILE}x", ((0, 1),), (0.9, 0.2), stable_prefix=1)
    return PassCompleted(run_id, 1, 4, (region,), 1, 2, 1, 0, 0.5, 9.0)


def test_every_notice_becomes_a_valid_frame() -> None:
    frames = frames_of_a_whole_session()

    for frame in frames:
        assert SERVER_MESSAGE.validate_json(frame.model_dump_json(by_alias=True)) == frame
    kinds = {frame.type for frame in frames}
    assert kinds == {
        "renamed",
        "edited",
        "run_accepted",
        "revision_added",
        "pass_frame",
        "stable_prefix",
        "suggestion_added",
        "suggestion_decided",
        "spans_changed",
        "run_ended",
    }


def test_edits_are_written_against_the_text_each_was_made_for() -> None:
    edited = next(frame for frame in frames_of_a_whole_session() if frame.type == "edited")

    assert [update.changes for update in edited.updates] == [
        [10, [0, SMILE]],
        [[2, "b"], 10],
    ]


def test_pass_counts_in_the_provisional_text() -> None:
    shown = next(frame for frame in frames_of_a_whole_session() if frame.type == "pass_frame")

    assert shown.model_dump(by_alias=True)["pass"] == 1
    assert shown.stable_prefix == 2
    assert shown.regions[0].settled == [(0, 2)]


def test_no_kind_of_notice_was_forgotten() -> None:
    """What only the store knows is the rim's to answer."""
    for notice in (
        effects.MissingEdits(0, "op"),
        effects.RunAgain("run", "op"),
        effects.RevisionAgain(0, "op"),
    ):
        assert frame_for(notice, seq=0, before="", after="") is None
    assert len(get_args(effects.Notice)) == 14


def test_missing_edits_can_be_sent_again() -> None:
    session = Session(a_document("a"))
    session.do(ApplyEdit("op", 0, "browser", (replace(1, 1, 1, "b"), replace(2, 2, 2, "c"))))
    (appended, *_) = session.last.store
    assert isinstance(appended, effects.AppendEdits)

    frame = edited_frame(appended.edits, "a", seq=4, hash_after=session.state.hash)

    assert (frame.version, frame.op_id, len(frame.updates)) == (2, "op", 2)


def test_snapshot_holds_what_is_open_and_active_only() -> None:
    session = Session(a_document(f"{SMILE} ‹b›"))
    session.do(RequestRefine("op", 0, None))
    during = snapshot_fields(session.state)
    session.do(RunSucceeded(finished(session.state.active_runs[0].id, {"region1": ["c"]})))
    after = snapshot_fields(session.state)

    assert len(during["runs"]) == 1  # type: ignore[arg-type]
    assert after["runs"] == []
    assert len(after["suggestions"]) == 1  # type: ignore[arg-type]
    assert after["spans"][0].start == 3  # type: ignore[index]
