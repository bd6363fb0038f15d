"""Accepting and rejecting: one edit, one revision, nothing forced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from editor.document.revisions import verify_chain
from editor.errors import (
    AlreadyDecided,
    EditorError,
    InvalidInput,
    InvalidText,
    LockViolation,
    NotFound,
)
from editor.hub.commands import (
    AcceptSuggestions,
    ApplyEdit,
    ChangeSpans,
    NewSpan,
    RejectSuggestions,
    RequestRefine,
    RunSucceeded,
    SealTyping,
)
from editor.hub.effects import (
    AddRevision,
    AppendEdits,
    CancelJob,
    DecideSuggestions,
    EditsCommitted,
    SpansSaved,
    SuggestionVerdict,
    Verdict,
)
from tests.editor.builders import Session, a_document, finished


def offered(markup: str, fillings: dict[str, list[str]]) -> tuple[Session, dict[str, str]]:
    """Return a session with open suggestions, and their ids by region."""
    session = Session(a_document(markup))
    offer(session, fillings)
    return session, {one.span_id: one.id for one in session.state.open_suggestions}


def offer(session: Session, fillings: dict[str, list[str]], *, op_id: str = "refine") -> None:
    session.do(RequestRefine(op_id, session.state.version, tuple(fillings)))
    run = session.state.active_runs[-1]
    session.do(RunSucceeded(finished(run.id, fillings)))


def accept(*ids: str, op_id: str = "accept") -> AcceptSuggestions:
    return AcceptSuggestions(op_id, ids)


def typed(session: Session, old: str, new: str) -> None:
    session.do(ApplyEdit("typed", session.state.version, "browser", (session.change(old, new),)))


def test_accept_of_many_is_one_edit_and_one_revision() -> None:
    session, ids = offered("a ‹[___]› b «c» ‹[___]› d", {"region1": ["one"], "region2": ["two"]})
    before = session.state.head

    decision = session.do(accept(*ids.values()))

    (appended,) = (action for action in decision.store if isinstance(action, AppendEdits))
    (added,) = (action for action in decision.store if isinstance(action, AddRevision))
    assert session.shown == "a one b «c» two d"
    assert [edit.cause for edit in appended.edits] == ["accept"]
    assert added.revision.author_kind == "model"
    assert added.revision.summary == "Accepted 2 suggestions"
    assert verify_chain([before, added.revision]) is None


def test_accept_is_stored_with_its_verdicts_and_told() -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})

    decision = session.do(accept(ids["region1"]))

    verdict = Verdict(ids["region1"], "accepted")
    assert DecideSuggestions((verdict,)) in decision.store
    assert SuggestionVerdict(verdict, "accept") in session.notices
    assert any(isinstance(notice, EditsCommitted) for notice in session.notices)
    assert any(isinstance(notice, SpansSaved) for notice in session.notices)


def test_undoing_an_accept_gives_the_text_back() -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})
    before = session.state.text
    session.do(accept(ids["region1"]))
    (edits,) = (notice.edits for notice in session.notices if isinstance(notice, EditsCommitted))

    undo = edits[0].changes.invert(before)
    session.do(ApplyEdit("undo", session.state.version, "browser", (undo,)))

    assert session.shown == "a ‹[___]› b"


def test_accepted_region_of_existing_text_can_be_refined_again() -> None:
    session, ids = offered("a ‹one› b", {"region1": ["two"]})
    session.do(accept(ids["region1"]))

    offer(session, {"region1": ["three"]}, op_id="again")

    (suggestion,) = session.state.open_suggestions
    assert suggestion.original == "two"


def test_filled_blank_is_text_and_no_region() -> None:
    session, ids = offered("a ‹[___]› b ⟦___⟧", {"region1": ["one"], "field1": ["two"]})

    session.do(accept(*ids.values()))

    assert session.shown == "a one b ⟦two⟧"
    assert any(isinstance(notice, SpansSaved) for notice in session.notices)


def test_undo_of_an_accept_brings_the_region_back_as_it_was() -> None:
    document = a_document("a ‹{{name}}› b", settings={"region1": {"blank": True, "name": "name"}})
    session = Session(document)
    offer(session, {"region1": ["one"]})
    (suggestion,) = session.state.open_suggestions
    session.do(accept(suggestion.id))
    typed(session, "a ", "before ")

    session.do(ApplyEdit("undo", 2, "browser", (session.change("one", "{{name}}"),)))

    (region,) = session.state.spans
    assert session.shown == "before ‹{{name}}› b"
    assert (region.id, dict(region.settings)) == ("region1", {"blank": True, "name": "name"})


def test_region_does_not_come_back_over_one_that_stands_there() -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})
    session.do(accept(ids["region1"]))
    session.do(ChangeSpans("mark", 1, (NewSpan("region", 0, 5, id="new"),)))

    session.do(ApplyEdit("undo", 1, "browser", (session.change("one", "[___]"),)))

    assert [span.id for span in session.state.spans] == ["new"]


def test_history_says_what_was_undone_and_redone() -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})
    session.do(accept(ids["region1"]))

    session.do(ApplyEdit("undo", 1, "browser", (session.change("one", "[___]"),)))
    undone = session.state.head
    session.do(ApplyEdit("redo", 2, "browser", (session.change("[___]", "one"),)))
    redone = session.state.head
    session.do(ApplyEdit("again", 3, "browser", (session.change("one", "[___]"),)))

    assert (undone.author_kind, undone.summary) == ("person", "Undid: Accepted 1 suggestion")
    assert redone.summary == "Redid: Accepted 1 suggestion"
    assert session.state.head.summary == "Undid: Accepted 1 suggestion"


def test_typing_that_leads_back_to_an_earlier_text_is_typing() -> None:
    session = Session(a_document("one"))
    typed(session, "one", "two")
    session.do(SealTyping())

    session.do(ApplyEdit("back", 1, "browser", (session.change("two", "one"),)))

    assert session.state.pending is not None
    assert session.state.head.summary == "Typed"


def test_chosen_alternative_or_edited_text_is_put_in() -> None:
    session, ids = offered("‹a› ‹b›", {"region1": ["one", "uno"], "region2": ["two", "due"]})

    session.do(
        AcceptSuggestions(
            "accept",
            tuple(ids.values()),
            alternatives={ids["region1"]: 1, ids["region2"]: 1},
            texts={ids["region2"]: "zwei"},
        )
    )

    assert session.shown == "‹uno› ‹zwei›"


def test_d4_accept_applies_to_the_current_text() -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})
    typed(session, "a ", "something before ")

    session.do(accept(ids["region1"]))

    assert session.shown == "something before one b"


def test_typing_before_an_accept_is_a_revision_of_its_own() -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})
    typed(session, "a ", "A ")

    decision = session.do(accept(ids["region1"]))

    added = [a.revision.author_kind for a in decision.store if isinstance(a, AddRevision)]
    assert added == ["person", "model"]


def test_edit_inside_the_region_voids_its_suggestion() -> None:
    session, ids = offered("a ‹one› b", {"region1": ["two"]})

    typed(session, "on", "ON")

    verdict = Verdict(ids["region1"], "void", "its region was edited")
    assert SuggestionVerdict(verdict) in session.notices
    with pytest.raises(AlreadyDecided, match="void"):
        session.do(accept(ids["region1"]))


def test_accepting_one_of_two_for_a_region_voids_the_other() -> None:
    session, ids = offered("a ‹one› b", {"region1": ["two"]})
    offer(session, {"region1": ["three"]}, op_id="rerun")

    session.do(accept(ids["region1"]))

    assert session.state.open_suggestions == ()
    states = sorted(one.state for one in session.state.suggestions.values())
    assert states == ["accepted", "void"]


def test_accept_ends_another_run_on_the_region() -> None:
    session, ids = offered("a ‹one› b", {"region1": ["two"]})
    session.do(RequestRefine("rerun", 0, None))
    run = session.state.active_runs[0]

    session.do(accept(ids["region1"]))

    assert session.last.engine == (CancelJob(run.id),)


def test_what_cannot_be_placed_is_listed_and_the_rest_is_accepted() -> None:
    session, ids = offered("‹a «5» b› ‹c›", {"region1": ["x 6 y"], "region2": ["z"]})

    decision = session.do(accept(*ids.values()))

    assert session.shown == "‹a «5» b› ‹z›"
    assert [(one.suggestion_id, one.state) for one in decision.unplaced] == [
        (ids["region1"], "open")
    ]
    assert [one.id for one in session.state.open_suggestions] == [ids["region1"]]


def test_accept_that_would_break_a_lock_is_refused() -> None:
    session, ids = offered("‹a «5» b›", {"region1": ["x 15 y"]})

    with pytest.raises(LockViolation):
        session.do(accept(ids["region1"]))

    assert session.shown == "‹a «5» b›"


def test_moved_region_voids_its_suggestion() -> None:
    session, ids = offered("a ‹one› two", {"region1": ["x"]})

    session.do(
        ChangeSpans("move", 0, (NewSpan("region", 2, 9, id="region1"),), remove=("region1",))
    )

    assert session.state.suggestions[ids["region1"]].state == "void"


def test_suggestion_whose_region_holds_other_text_is_void_and_listed() -> None:
    """After a restart a suggestion may come from the store with a text that has moved on."""
    session, ids = offered("a ‹one› b", {"region1": ["x"]})
    suggestion = session.state.suggestions[ids["region1"]]
    session.state = replace(
        session.state, suggestions={suggestion.id: replace(suggestion, original="other")}
    )

    decision = session.do(accept(suggestion.id))

    assert [one.state for one in decision.unplaced] == ["void"]
    assert decision.store == (DecideSuggestions(decision.unplaced),)
    assert session.state.text == "a one b"


def test_accepting_nothing_at_all_takes_the_region_away() -> None:
    session, ids = offered("a‹ b› c", {"region1": [""]})

    session.do(accept(ids["region1"]))

    assert session.shown == "a c"


def test_same_accept_twice_is_one_edit() -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})
    session.do(accept(ids["region1"]))

    decision = session.do(accept(ids["region1"]))

    assert decision.store == ()
    assert session.state.version == 1


def test_rejecting_leaves_the_text() -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})

    decision = session.do(RejectSuggestions("reject", (ids["region1"],)))

    assert session.shown == "a ‹[___]› b"
    assert decision.store == (DecideSuggestions((Verdict(ids["region1"], "rejected"),)),)


@pytest.mark.parametrize("kind", [AcceptSuggestions, RejectSuggestions])
def test_unknown_decided_or_no_suggestion_is_refused(
    kind: type[AcceptSuggestions] | type[RejectSuggestions],
) -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})

    for wanted, error in (("other",), NotFound), ((), InvalidInput):
        with pytest.raises(error):
            session.do(kind("op", wanted))
    session.do(RejectSuggestions("reject", (ids["region1"],)))
    with pytest.raises(AlreadyDecided, match="rejected"):
        session.do(kind("late", (ids["region1"],)))


def test_two_for_one_region_are_refused() -> None:
    session, _ = offered("a ‹one› b", {"region1": ["two"]})
    offer(session, {"region1": ["three"]}, op_id="rerun")

    with pytest.raises(InvalidInput, match="accept one of them"):
        session.do(accept(*(one.id for one in session.state.open_suggestions)))


@pytest.mark.parametrize(
    ("extra", "error"),
    [
        ({"alternatives": {"id2": 5}}, InvalidInput),
        ({"texts": {"id2": "\ud800"}}, InvalidText),
        ({"texts": {"id2": "x" * 20_000}}, EditorError),
    ],
)
def test_unusable_choice_is_refused(
    extra: dict[str, dict[str, object]], error: type[EditorError]
) -> None:
    session, ids = offered("a ‹[___]› b", {"region1": ["one"]})
    assert ids == {"region1": "id2"}

    with pytest.raises(error):
        session.do(AcceptSuggestions("op", ("id2",), **extra))  # type: ignore[arg-type]
