"""The same operation twice applies once and is answered twice (store rule S5)."""

from __future__ import annotations

import pytest

from editor.document.changes import replace
from editor.errors import Conflict
from editor.hub.commands import (
    AcceptSuggestions,
    ApplyEdit,
    ChangeSpans,
    Command,
    NameRevision,
    NewSpan,
    RejectSuggestions,
    ReplaceSpans,
    RequestRefine,
    RestoreRevision,
    RunSucceeded,
)
from editor.hub.effects import (
    MissingEdits,
    RevisionAgain,
    RunAgain,
    SpansSaved,
    SuggestionVerdict,
    Verdict,
)
from tests.editor.builders import Session, a_document, finished


def a_session() -> Session:
    """Return a session in which every kind of operation is done, by an op id of its name."""
    session = Session(a_document("a ‹[___]› b ‹[___]› c"))
    session.do(RequestRefine("refine", 0, None))
    run = session.state.active_runs[0]
    session.do(RunSucceeded(finished(run.id, {"region1": ["one"], "region2": ["two"]})))
    first, second = (one.id for one in session.state.open_suggestions)
    session.do(AcceptSuggestions("accept", (first,)))
    session.do(RejectSuggestions("reject", (second,)))
    session.do(ApplyEdit("edit", 1, "browser", (replace(len(session.state.text), 0, 1, "A"),)))
    session.do(ChangeSpans("spans", 2, add=(NewSpan("locked", 0, 1, id="lock"),)))
    session.do(NameRevision("name", "a name"))
    session.do(RestoreRevision("restore", session.state.head.n, session.state.text))
    return session


def again(session: Session, command: Command) -> list[object]:
    before = session.state

    decision = session.do(command)

    assert session.state is before
    assert (decision.store, decision.engine) == ((), ())
    assert all(send.to == "sender" for send in decision.send)
    return [send.notice for send in decision.send]


def test_edit_is_answered_with_what_came_after() -> None:
    session = a_session()

    assert again(session, ApplyEdit("edit", 1, "browser", ())) == [MissingEdits(1, "edit")]


@pytest.mark.parametrize("command", [ChangeSpans("spans", 0), ReplaceSpans("spans", 0, ())])
def test_spans_are_answered_with_all_spans(command: Command) -> None:
    session = a_session()

    (notice,) = again(session, command)

    assert notice == SpansSaved(session.state.version, session.state.spans, "spans")


def test_refine_is_answered_with_its_run() -> None:
    session = a_session()
    (run_id,) = session.state.runs

    assert again(session, RequestRefine("refine", 0, None)) == [RunAgain(run_id, "refine")]


def test_accept_is_answered_with_the_verdict_and_the_head() -> None:
    session = a_session()
    (suggestion,) = session.state.known_ops["accept"].subjects

    assert again(session, AcceptSuggestions("accept", (suggestion,))) == [
        SuggestionVerdict(Verdict(suggestion, "accepted"), "accept"),
        MissingEdits(session.state.version, "accept", "accept"),
    ]


def test_reject_is_answered_with_the_verdict() -> None:
    session = a_session()
    (suggestion,) = session.state.known_ops["reject"].subjects

    assert again(session, RejectSuggestions("reject", (suggestion,))) == [
        SuggestionVerdict(Verdict(suggestion, "rejected"), "reject")
    ]


def test_restore_is_answered_with_the_head() -> None:
    session = a_session()

    assert again(session, RestoreRevision("restore", 0, "")) == [
        MissingEdits(session.state.version, "restore", "restore")
    ]


def test_name_is_answered_with_its_revision() -> None:
    session = a_session()

    (notice,) = again(session, NameRevision("name", "a name"))

    assert notice == RevisionAgain(session.state.head.n - 1, "name")


def test_id_of_another_kind_of_operation_is_refused() -> None:
    session = a_session()

    with pytest.raises(Conflict, match="was a name, this is a spans"):
        session.do(ChangeSpans("name", 0))
