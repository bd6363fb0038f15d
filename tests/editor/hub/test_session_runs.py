"""Runs: who may be refined, what is shown, and what ends a run."""

from __future__ import annotations

from dataclasses import replace as changed

import pytest

from editor.document.changes import replace
from editor.document.state import Run
from editor.errors import (
    EditorError,
    InvalidInput,
    NotFound,
    RegionBusy,
    SpanConflict,
    StaleVersion,
    TooLarge,
)
from editor.hub.commands import (
    ApplyEdit,
    CancelRun,
    ChangeSpans,
    NewSpan,
    RequestRefine,
    RunFailed,
    RunProgressed,
    RunStopped,
    RunSucceeded,
)
from editor.hub.effects import (
    AddRevision,
    AddRun,
    AddSuggestions,
    CancelJob,
    PassShown,
    RunOver,
    RunQueued,
    StableGrown,
    SubmitJob,
    SuggestionStored,
    UpdateRun,
)
from engine.contract import (
    Constraint,
    JobFailed,
    JobStarted,
    LockSpec,
    PassCompleted,
    RefineJob,
    RegionDraft,
    RegionSpec,
    SamplerConfig,
    StopReason,
)
from tests.editor.builders import Session, a_document, finished

BLANK = "Take «5 mg» of ‹[___]› daily"


def refine(session: Session, *span_ids: str, op_id: str = "refine") -> Run:
    """Ask for a run and return it."""
    session.do(RequestRefine(op_id, session.state.version, span_ids or None))
    return session.state.active_runs[-1]


def typed(session: Session, old: str, new: str, *, op_id: str = "typed") -> None:
    session.do(ApplyEdit(op_id, session.state.version, "browser", (session.change(old, new),)))


def a_pass(run: Run, *texts: str, stable: int = 0, index: int = 1) -> PassCompleted:
    return PassCompleted(
        job_id=run.id,
        pass_index=index,
        max_passes=8,
        regions=tuple(
            RegionDraft(span_id, text, (), (), stable_prefix=stable)
            for span_id, text in zip(run.span_ids, texts, strict=True)
        ),
        stable_prefix=stable,
        changed=1,
        committed=1,
        remasked=0,
        mean_confidence=0.5,
        pass_ms=10.0,
    )


def submitted(session: Session) -> RefineJob:
    (action,) = (action for action in session.last.engine if isinstance(action, SubmitJob))
    return action.job


def test_request_becomes_a_job_with_regions_locks_and_settings() -> None:
    session = Session(
        a_document(BLANK, settings={"region1": {"strength": 0.4, "length": 3, "blank": True}})
    )

    session.do(
        RequestRefine(
            "op",
            0,
            ("region1",),
            config=SamplerConfig(seed=7),
            constraints=(Constraint("casing", ("lower",)),),
        )
    )

    assert submitted(session) == RefineJob(
        job_id="id1",
        text="Take 5 mg of [___] daily",
        regions=(
            RegionSpec(
                "region1",
                13,
                18,
                is_blank=True,
                length=3,
                strength=0.4,
                constraints=(Constraint("casing", ("lower",)),),
            ),
        ),
        locks=(LockSpec(5, 9),),
        config=SamplerConfig(seed=7),
    )


def test_run_is_stored_then_told_then_submitted() -> None:
    session = Session(a_document(BLANK))

    run = refine(session)

    job = submitted(session)
    assert session.last.store == (AddRun(run, job),)
    assert session.notices == [RunQueued(run, "refine")]
    assert (run.id, run.state, run.originals) == (job.job_id, "queued", {"region1": "[___]"})


def test_same_request_twice_is_one_run() -> None:
    session = Session(a_document(BLANK))
    refine(session)

    decision = session.do(RequestRefine("refine", 0, None))

    assert decision.engine == decision.store == ()
    assert len(session.state.active_runs) == 1


def test_text_is_not_blank_only_because_it_once_was() -> None:
    session = Session(a_document("a ‹some words›", settings={"region1": {"blank": True}}))

    refine(session)

    assert not submitted(session).regions[0].is_blank


def test_field_brings_its_choices() -> None:
    session = Session(a_document("a ⟦[___]⟧", settings={"field1": {"choices": ["yes", "no"]}}))

    refine(session)

    assert submitted(session).regions[0].constraints == (Constraint("choices", ("yes", "no")),)


def test_typing_before_a_run_is_a_revision_of_its_own() -> None:
    session = Session(a_document(BLANK))
    typed(session, "daily", "weekly")

    refine(session)

    assert isinstance(session.last.store[0], AddRevision)
    assert session.state.pending is None


@pytest.mark.parametrize(
    ("markup", "command", "error", "words"),
    [
        ("no region", RequestRefine("op", 0, None), InvalidInput, "mark a region or leave a blank"),
        (BLANK, RequestRefine("op", 0, ()), InvalidInput, "nothing to refine"),
        (BLANK, RequestRefine("op", 0, ("other",)), NotFound, "no region other"),
        (BLANK, RequestRefine("op", 0, ("lock1",)), SpanConflict, "is locked"),
        (BLANK, RequestRefine("op", 1, None), StaleVersion, "document is at 0"),
        ("‹«ab»«cd»›", RequestRefine("op", 0, None), SpanConflict, "locked as a whole"),
        ("‹x›" * 65, RequestRefine("op", 0, None), TooLarge, "65 regions in one run"),
    ],
)
def test_request_that_cannot_be_met_is_refused(
    markup: str, command: RequestRefine, error: type[EditorError], words: str
) -> None:
    session = Session(a_document(markup))

    with pytest.raises(error, match=words):
        session.do(command)


def test_region_that_grew_too_long_is_refused_with_numbers() -> None:
    session = Session(a_document("‹abc›"))
    typed(session, "b", "x" * 4_000)

    with pytest.raises(TooLarge, match="4,002 code points; the limit is 4,000"):
        refine(session)


def test_region_under_a_run_is_busy() -> None:
    session = Session(a_document("‹a› ‹b›"))
    refine(session, "region1")

    with pytest.raises(RegionBusy, match="wait for it or cancel it"):
        session.do(RequestRefine("again", 0, None))
    session.do(RequestRefine("other", 0, ("region2",)))

    assert len(session.state.active_runs) == 2


def test_request_for_an_older_version_is_met_unless_its_region_changed() -> None:
    session = Session(a_document("one ‹two› ‹three›"))
    typed(session, "one", "1", op_id="elsewhere")
    typed(session, "wo", "2", op_id="inside")

    session.do(RequestRefine("fresh", 0, ("region2",)))
    with pytest.raises(StaleVersion, match="a region changed at version 2"):
        session.do(RequestRefine("stale", 1, ("region1",)))


def test_start_and_passes_are_followed_without_touching_the_text() -> None:
    session = Session(a_document(BLANK))
    run, text = refine(session), session.state.text

    session.do(RunProgressed(JobStarted(run.id, "diffusion", 8, 3.0)))
    started = session.last
    session.do(RunProgressed(a_pass(run, "as░░")))

    assert started.store == (UpdateRun(started.state.runs[run.id]),)
    assert session.last.store == ()  # provisional text is never stored
    assert isinstance(session.notices[0], PassShown)
    assert session.state.runs[run.id].passes == 1
    assert (session.state.text, session.state.version) == (text, 0)


def test_stable_prefix_only_grows() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)
    told: list[str] = []

    for index, (text, stable) in enumerate(
        [("as░░", 2), ("as░░", 2), ("ax░░", 2), ("a░░░", 1), ("aspi", 4), ("", 0)], start=1
    ):
        session.do(RunProgressed(a_pass(run, text, stable=stable, index=index)))
        told += [notice.text for notice in session.notices if isinstance(notice, StableGrown)]

    assert told == ["as", "aspi"]


def test_finished_run_is_stored_then_offered() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)
    event = finished(run.id, {"region1": ["aspirin", "ibuprofen"]})

    session.do(RunSucceeded(event))

    (suggestion,) = session.state.open_suggestions
    ended = changed(run, state="finished", passes=4, route="diffusion")
    assert session.last.store == (
        UpdateRun(ended, stop_reason="settled", result=event),
        AddSuggestions((suggestion,)),
    )
    assert session.notices == [
        SuggestionStored(suggestion),
        RunOver(ended, stop_reason="settled", tokens_per_pass=2.0, total_ms=120.0),
    ]
    assert suggestion.original == "[___]"
    assert [one.text for one in suggestion.alternatives] == ["aspirin", "ibuprofen"]
    assert session.state.text == "Take 5 mg of [___] daily"
    assert session.state.active_runs == ()


def test_fillings_that_cannot_stand_in_a_document_are_left_out() -> None:
    session = Session(a_document("‹a› ‹b›"))
    run = refine(session)

    session.do(
        RunSucceeded(
            finished(run.id, {"region1": ["x\r\ny", "x\ny", "\x00"], "region2": ["\ud800"]})
        )
    )

    (suggestion,) = session.state.open_suggestions
    assert [one.text for one in suggestion.alternatives] == ["x\ny"]
    over = session.notices[-1]
    assert isinstance(over, RunOver)
    assert over.message == "no usable filling was found for 1 of 2 regions"


def test_n3_typing_elsewhere_goes_on_during_a_run() -> None:
    session = Session(a_document("one ‹two› three"))
    run = refine(session)

    typed(session, "one", "number one", op_id="a")
    typed(session, " three", ", three", op_id="b")  # against the region's edge
    session.do(RunSucceeded(finished(run.id, {"region1": ["2"]})))

    assert session.shown == "number one ‹two›, three"
    assert len(session.state.open_suggestions) == 1


@pytest.mark.parametrize(("old", "new"), [("w", "W"), ("two ", ""), ("two", "2")])
def test_edit_inside_a_region_ends_its_run_and_says_so(old: str, new: str) -> None:
    session = Session(a_document("one ‹two› three"))
    run = refine(session)

    typed(session, old, new)

    assert session.last.engine == (CancelJob(run.id),)
    over = next(notice for notice in session.notices if isinstance(notice, RunOver))
    assert over.run.state == "cancelled"
    assert over.message == "Stopped: its region was edited"
    assert any(isinstance(action, UpdateRun) for action in session.last.store)


def test_typing_at_the_end_of_a_field_is_inside_it() -> None:
    session = Session(a_document("one ⟦two⟧ three"))
    run = refine(session)

    session.do(ApplyEdit("typed", 0, "browser", (replace(13, 7, 7, "!"),)))

    assert session.shown == "one ⟦two!⟧ three"
    assert session.last.engine == (CancelJob(run.id),)


def test_word_of_the_engine_after_the_end_offers_nothing_but_keeps_the_telemetry() -> None:
    session = Session(a_document("one ‹two› three"))
    run = refine(session)
    typed(session, "w", "W")
    event = finished(run.id, {"region1": ["2"]})

    session.do(RunProgressed(a_pass(run, "2")))
    late_pass = session.last
    session.do(RunSucceeded(event))

    assert late_pass.send == session.last.send == ()
    (update,) = session.last.store
    assert isinstance(update, UpdateRun)
    assert (update.run.state, update.result) == ("cancelled", event)
    assert session.state.open_suggestions == ()


def test_lock_put_into_a_region_ends_its_run() -> None:
    session = Session(a_document("one ‹two or› three"))
    run = refine(session)

    session.do(ChangeSpans("lock", 0, (NewSpan("locked", 4, 7),)))

    assert session.last.engine == (CancelJob(run.id),)


def test_lock_elsewhere_leaves_a_run_alone() -> None:
    session = Session(a_document("one ‹two› three"))
    refine(session)

    session.do(ChangeSpans("lock", 0, (NewSpan("locked", 0, 3),)))

    assert session.last.engine == ()
    assert len(session.state.active_runs) == 1


def test_removed_region_ends_its_run() -> None:
    session = Session(a_document("one ‹two› three"))
    run = refine(session)

    session.do(ChangeSpans("remove", 0, remove=("region1",)))

    assert session.last.engine == (CancelJob(run.id),)


def test_cancel_asks_the_engine_and_the_run_ends_with_its_last_word() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)

    session.do(CancelRun(run.id))
    asked = session.last
    session.do(CancelRun(run.id))
    again = session.last
    session.do(RunProgressed(a_pass(run, "as")))
    shown = session.notices
    session.do(
        RunSucceeded(finished(run.id, {"region1": ["aspirin"]}, stop_reason=StopReason.CANCELLED))
    )

    assert asked.engine == (CancelJob(run.id),)
    assert again.engine == ()
    assert shown == []
    over = session.notices[-1]
    assert isinstance(over, RunOver)
    assert (over.run.state, over.stop_reason) == ("cancelled", "cancelled")


def test_what_a_stopped_run_held_is_offered_before_its_end_is_told() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)
    session.do(CancelRun(run.id))

    session.do(
        RunSucceeded(finished(run.id, {"region1": ["aspirin"]}, stop_reason=StopReason.CANCELLED))
    )

    (suggestion,) = session.state.open_suggestions
    assert [one.text for one in suggestion.alternatives] == ["aspirin"]
    assert [type(notice) for notice in session.notices] == [SuggestionStored, RunOver]
    assert session.notices[-1].message is None


def test_stopped_run_that_held_nothing_offers_nothing_and_complains_of_nothing() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)
    session.do(CancelRun(run.id))

    session.do(RunSucceeded(finished(run.id, {"region1": []}, stop_reason=StopReason.CANCELLED)))

    (over,) = session.notices
    assert (over.run.state, over.message) == ("cancelled", None)
    assert session.state.open_suggestions == ()


def test_stop_means_stop_even_if_the_engine_was_done() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)
    session.do(CancelRun(run.id))

    session.do(RunSucceeded(finished(run.id, {"region1": ["aspirin"]})))

    assert session.state.runs[run.id].state == "cancelled"
    assert len(session.state.open_suggestions) == 1


def test_cancelling_an_ended_run_does_nothing() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)
    session.do(RunSucceeded(finished(run.id, {"region1": ["aspirin"]})))

    decision = session.do(CancelRun(run.id))

    assert decision.store == decision.send == decision.engine == ()


def test_cancelling_an_unknown_run_is_refused() -> None:
    with pytest.raises(NotFound):
        Session(a_document(BLANK)).do(CancelRun("other"))


def test_failed_run_says_why_and_frees_its_region() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)

    session.do(RunFailed(JobFailed(run.id, "worker_died", "The worker ended.", True)))
    over = session.notices[-1]
    refine(session, op_id="again")

    assert isinstance(over, RunOver)
    assert (over.run.state, over.message) == ("failed", "The worker ended.")


def test_failure_while_stopping_counts_as_cancelled() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)
    session.do(CancelRun(run.id))

    session.do(RunFailed(JobFailed(run.id, "worker_died", "The worker ended.", True)))

    assert session.state.runs[run.id].state == "cancelled"


def test_rim_can_end_a_run() -> None:
    session = Session(a_document(BLANK))
    run = refine(session)

    session.do(RunStopped(run.id, "The server stops."))

    assert session.state.active_runs == ()
    assert session.last.engine == (CancelJob(run.id),)


def test_reports_on_unknown_runs_are_dropped() -> None:
    session = Session(a_document(BLANK))

    for command in (
        RunSucceeded(finished("other", {"region1": ["x"]})),
        RunFailed(JobFailed("other", "x", "x", False)),
        RunProgressed(JobStarted("other", "diffusion", 1, 0.0)),
        RunStopped("other", ""),
    ):
        decision = session.do(command)
        assert decision.store == decision.send == decision.engine == ()


def test_c10_rerun_adds_a_suggestion_beside_the_first() -> None:
    session = Session(a_document(BLANK))
    for op_id in ("first", "second"):
        run = refine(session, op_id=op_id)
        session.do(RunSucceeded(finished(run.id, {"region1": ["aspirin"]})))

    assert len(session.state.open_suggestions) == 2
