"""Restoring brings text, locks and regions of a revision back, and forgets no lock of now (S9)."""

from __future__ import annotations

import pytest

from editor.document.revisions import RevisionMarks
from editor.document.spans import Span
from editor.errors import LockViolation
from editor.hub.commands import (
    ApplyEdit,
    ChangeSpans,
    NameRevision,
    NewSpan,
    RequestRefine,
    RestoreRevision,
)
from editor.hub.effects import RunOver, SaveSpans, SpansSaved
from tests.editor.builders import Session, a_document, show


def named(markup: str) -> Session:
    """Return a session whose revision 1 is this document with its spans."""
    session = Session(a_document(markup))
    session.do(NameRevision("name", "one"))
    return session


def restore(session: Session, markup: str, *, op_id: str = "restore") -> RestoreRevision:
    """Return the command that restores revision 1, which held `markup`."""
    held = Session(a_document(markup)).state
    return RestoreRevision(op_id, 1, held.text, version=0, spans=held.spans)


def edit(session: Session, old: str, new: str) -> None:
    change = session.change(old, new)
    session.do(ApplyEdit(f"{old}>{new}", session.state.version, "browser", (change,)))


def test_a_revision_holds_all_spans() -> None:
    session = named("a «b» ‹c›")

    assert session.state.head.marks == RevisionMarks(spans=session.state.spans)


def test_locks_and_regions_come_back_in_their_places() -> None:
    session = named("one «two» ‹three›")
    session.do(ChangeSpans("free", 0, remove=("lock1", "region1")))
    edit(session, "one", "something longer")
    edit(session, "two", "2")

    session.do(restore(session, "one «two» ‹three›"))

    assert session.shown == "one «two» ‹three›"
    assert [span.id for span in session.state.spans] == ["lock1", "region1"]
    assert any(isinstance(action, SaveSpans) for action in session.last.store)
    assert any(isinstance(notice, SpansSaved) for notice in session.notices)
    assert session.state.head.marks is not None
    assert session.state.head.marks.spans == session.state.spans


def test_a_lock_of_now_keeps_its_words() -> None:
    session = named("one two")
    edit(session, "two", "three")
    session.do(ChangeSpans("lock", 1, add=(NewSpan("locked", 4, 9),)))

    with pytest.raises(LockViolation):
        session.do(restore(session, "one two"))

    assert session.shown == "one «three»"


def test_a_lock_of_now_stays_one_beside_those_of_the_revision() -> None:
    session = named("«one» two three")
    session.do(ChangeSpans("lock", 0, add=(NewSpan("locked", 4, 7, id="now"),)))
    edit(session, "three", "3")

    session.do(restore(session, "«one» two three"))

    assert session.shown == "«one» «two» three"


def test_a_region_that_a_lock_of_now_covers_is_left_out() -> None:
    session = named("one ‹two› three")
    session.do(ChangeSpans("free", 0, remove=("region1",)))
    session.do(ChangeSpans("lock", 0, add=(NewSpan("locked", 2, 9, id="now"),)))

    session.do(restore(session, "one ‹two› three"))

    assert session.shown == "on«e two t»hree"


def test_a_lock_whose_id_was_used_again_gets_another() -> None:
    session = named("«one» two")
    session.do(ChangeSpans("free", 0, remove=("lock1",)))
    session.do(ChangeSpans("lock", 0, add=(NewSpan("locked", 4, 7, id="lock1"),)))

    session.do(restore(session, "«one» two"))

    assert session.shown == "«one» «two»"
    assert len({span.id for span in session.state.spans}) == 2


def test_a_region_marked_since_goes_and_its_run_ends() -> None:
    session = named("one two")
    session.do(ChangeSpans("mark", 0, add=(NewSpan("region", 4, 7, id="new"),)))
    session.do(RequestRefine("refine", 0, ("new",)))

    session.do(restore(session, "one two"))

    assert session.state.spans == ()
    assert session.state.active_runs == ()
    assert any(isinstance(notice, RunOver) for notice in session.notices)


def test_spans_of_a_revision_that_does_not_say_only_move() -> None:
    session = named("one «two»")
    edit(session, "one", "1")

    session.do(RestoreRevision("restore", 1, "one two"))

    assert show(session.state.text, session.state.spans) == "one «two»"
    assert session.state.spans[0] == Span("lock1", "locked", 4, 7)


def test_S7_taking_a_lock_away_is_a_revision() -> None:
    session = named("«one» «two» three")
    edit(session, "three", "3")

    session.do(ChangeSpans("free", 1, remove=("lock1", "lock2")))

    assert session.state.pending is None
    assert [session.state.head.n, session.state.head.summary] == [3, "Unlocked 2 places"]
    assert session.state.head.marks == RevisionMarks()


def test_locking_or_naming_a_lock_anew_takes_none_away() -> None:
    session = named("«one» two")
    session.do(ChangeSpans("more", 0, add=(NewSpan("locked", 4, 7, id="more"),)))

    again = (NewSpan("locked", 0, 2, id="a"), NewSpan("locked", 2, 3, id="b"))
    session.do(ChangeSpans("again", 0, add=again, remove=("lock1",)))

    assert session.state.head.n == 1
