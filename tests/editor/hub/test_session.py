"""Edits, spans, revisions: what a document's authority accepts and what follows."""

from __future__ import annotations

import pytest

from editor.document.changes import ChangeSet, replace
from editor.document.revisions import verify_chain
from editor.document.state import MAX_KNOWN_OPS
from editor.errors import (
    EditorError,
    InvalidChange,
    InvalidInput,
    InvalidOffset,
    LockViolation,
    NotFound,
    SpanConflict,
    StaleVersion,
    TooLarge,
)
from editor.hub.commands import (
    ApplyEdit,
    ChangeSpans,
    NameRevision,
    NewSpan,
    RenameDocument,
    ReplaceSpans,
    RestoreRevision,
    SealTyping,
)
from editor.hub.effects import (
    AddRevision,
    AppendEdits,
    EditsCommitted,
    MissingEdits,
    SaveSpans,
    SpansSaved,
    TitleChanged,
)
from editor.hub.session import QUIET_S, TYPING_S
from tests.editor.builders import LIMIT, NOW_S, Session, a_document


def typing(session: Session, old: str, new: str, *, op_id: str = "op") -> ApplyEdit:
    return ApplyEdit(op_id, session.state.version, "browser", (session.change(old, new),))


def test_edit_is_one_entry_of_the_log_for_each_update() -> None:
    session = Session(a_document("one"))
    first, second = replace(3, 3, 3, " two"), replace(7, 7, 7, " three")

    decision = session.do(ApplyEdit("op", 0, "browser", (first, second)))

    (appended,) = (action for action in decision.store if isinstance(action, AppendEdits))
    assert [(e.version, e.changes, e.client_id) for e in appended.edits] == [
        (1, first, "browser"),
        (2, second, "browser"),
    ]
    assert appended.text == session.state.text == "one two three"
    assert appended.hash == session.state.hash
    assert session.state.version == 2


def test_edit_is_told_to_everybody_with_version_and_hash() -> None:
    """A8: "Saved" needs an acknowledgement with the version and the text's hash."""
    session = Session(a_document("one"))

    session.do(typing(session, "one", "two"))

    (told,) = (notice for notice in session.notices if isinstance(notice, EditsCommitted))
    assert (told.version, told.hash, told.op_id) == (1, session.state.hash, "op")
    assert all(send.to == "all" for send in session.last.send)


@pytest.mark.parametrize("base_version", [0, 2])
def test_a16_edit_for_another_version_is_refused_with_both(base_version: int) -> None:
    session = Session(a_document("one"))
    session.do(typing(session, "one", "two"))

    with pytest.raises(StaleVersion) as refused:
        session.do(ApplyEdit("late", base_version, "browser", (ChangeSet.empty(3),)))

    assert (refused.value.base_version, refused.value.head_version) == (base_version, 1)


def test_same_operation_applies_once() -> None:
    """A6 and S5: a retry after a lost answer is told where to look, and stores nothing."""
    session = Session(a_document("one"))
    edit = typing(session, "one", "two")
    session.do(edit)

    decision = session.do(edit)

    assert decision.store == ()
    assert session.state.version == 1
    (send,) = decision.send
    assert (send.notice, send.to) == (MissingEdits(0, "op"), "sender")


def test_known_operations_are_bounded() -> None:
    session = Session(a_document("x"))

    for number in range(MAX_KNOWN_OPS + 5):
        session.do(ApplyEdit(f"op{number}", number, "browser", (ChangeSet.empty(1),)))

    assert len(session.state.known_ops) == MAX_KNOWN_OPS
    assert "op4" not in session.state.known_ops


def test_s9_edit_that_touches_a_lock_is_refused_whole() -> None:
    session = Session(a_document("take «5» mg"))
    good, bad = replace(9, 0, 4, "give"), replace(9, 5, 6, "6")

    with pytest.raises(LockViolation):
        session.do(ApplyEdit("op", 0, "browser", (good, bad)))

    assert session.state.text == "take 5 mg"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ((), InvalidInput),
        ((replace(4, 0, 0, "x"),), InvalidChange),
        ((replace(3, 0, 0, "x" * LIMIT),), TooLarge),
    ],
)
def test_unusable_edit_is_refused(changes: tuple[ChangeSet, ...], error: type[EditorError]) -> None:
    session = Session(a_document("one"))

    with pytest.raises(error):
        session.do(ApplyEdit("op", 0, "browser", changes))


def test_spans_move_with_edits_and_browsers_move_their_own() -> None:
    session = Session(a_document("one ‹two› three"))

    decision = session.do(typing(session, "one", "first"))

    assert session.shown == "first ‹two› three"
    assert SaveSpans(1, session.state.spans) in decision.store
    assert not any(isinstance(notice, SpansSaved) for notice in session.notices)


def test_deleted_region_is_told() -> None:
    session = Session(a_document("one ‹two› three"))

    session.do(typing(session, "two ", ""))

    assert session.shown == "one three"
    assert SpansSaved(1, ()) in session.notices


def test_blank_that_was_typed_into_is_no_longer_blank() -> None:
    session = Session(a_document("a ‹[___]› b", settings={"region1": {"blank": True}}))

    session.do(typing(session, "[___]", "word"))
    assert session.state.spans[0].settings == {"blank": False}
    session.do(typing(session, "word", "[___]", op_id="undo"))

    assert session.state.spans[0].settings == {"blank": True}


# ---- revisions


def test_typing_becomes_a_revision_after_quiet() -> None:
    session = Session(a_document("one"))
    session.do(typing(session, "one", "two"))
    session.now_s += QUIET_S

    session.do(typing(session, "two", "three", op_id="later"))

    assert session.state.head.n == 1
    assert session.state.head.version == 1
    assert session.state.pending is not None
    assert session.state.pending.changes.apply("two") == "three"


def test_typing_without_a_pause_becomes_a_revision_in_the_end() -> None:
    session = Session(a_document("0"))
    steps = int(TYPING_S // 10) + 2

    for number in range(steps):
        session.now_s = NOW_S + number * 10
        session.do(typing(session, str(number), str(number + 1), op_id=f"op{number}"))

    assert session.state.head.n == 1


def test_sealing_writes_what_was_typed_and_then_nothing() -> None:
    session = Session(a_document("one"))
    session.do(typing(session, "one", "two"))

    first, second = session.do(SealTyping()), session.do(SealTyping())

    assert first.store == (AddRevision(session.state.head),)
    assert session.state.head.text_hash == session.state.hash
    assert second.store == second.send == ()


def test_named_revision_keeps_its_name() -> None:
    session = Session(a_document("one"))

    session.do(NameRevision("op", " before  the visit "))

    assert session.state.head.summary == "before the visit"
    assert session.state.head.n == 1


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_unusable_name_is_refused(name: str) -> None:
    with pytest.raises(EditorError):
        Session(a_document("one")).do(NameRevision("op", name))


def test_c7_restore_is_a_new_revision_on_the_head() -> None:
    session = Session(a_document("one two"))
    chain = [session.state.head]
    session.do(typing(session, "two", "three"))

    decision = session.do(RestoreRevision("restore", 0, "one two"))

    chain += [a.revision for a in decision.store if isinstance(a, AddRevision)]
    assert session.state.text == "one two"
    assert [r.author_kind for r in chain] == ["person", "person", "restore"]
    assert [r.parent for r in chain] == [None, 0, 1]
    assert verify_chain(chain) is None


def test_restore_is_one_edit() -> None:
    session = Session(a_document("one two three"))

    decision = session.do(RestoreRevision("restore", 0, "1 two 3"))

    (appended,) = (action for action in decision.store if isinstance(action, AppendEdits))
    assert len(appended.edits) == 1
    assert appended.edits[0].cause == "restore"


def test_restore_around_a_lock_leaves_it() -> None:
    session = Session(a_document("alpha «KEEP» beta"))

    session.do(RestoreRevision("restore", 0, "gamma KEEP delta"))

    assert session.shown == "gamma «KEEP» delta"


def test_restore_finds_locked_text_that_moved() -> None:
    """The shortest edit keeps the longer unlocked words, and would rewrite the lock."""
    session = Session(a_document("«A» many long words that stay"))

    session.do(RestoreRevision("restore", 0, "many long words that stay A"))

    assert session.shown == "many long words that stay «A»"


def test_restore_that_would_lose_locked_text_is_refused() -> None:
    session = Session(a_document("alpha «KEEP» beta"))

    with pytest.raises(LockViolation):
        session.do(RestoreRevision("restore", 0, "alpha beta"))


@pytest.mark.parametrize("n", [-1, 1])
def test_restoring_an_unknown_revision_is_refused(n: int) -> None:
    with pytest.raises(NotFound, match="0 to 0"):
        Session(a_document("one")).do(RestoreRevision("op", n, ""))


# ---- spans


def test_spans_are_added_with_the_callers_or_a_fresh_id() -> None:
    session = Session(a_document("one two"))

    session.do(ChangeSpans("op", 0, (NewSpan("region", 0, 3, id="mine"), NewSpan("locked", 4, 7))))

    assert session.shown == "‹one› «two»"
    assert [span.id for span in session.state.spans] == ["mine", "id1"]


def test_spans_are_told_with_the_operation() -> None:
    session = Session(a_document("one"))

    decision = session.do(ChangeSpans("op", 0, (NewSpan("locked", 0, 3, id="a"),)))

    assert decision.store == (SaveSpans(0, session.state.spans),)
    assert session.notices == [SpansSaved(0, session.state.spans, "op")]


def test_span_can_be_removed_from_a_later_version() -> None:
    session = Session(a_document("one «two»"))
    session.do(typing(session, "one", "1"))

    session.do(ChangeSpans("unlock", 0, remove=("lock1",)))

    assert session.state.spans == ()


def test_span_settings_change_under_the_same_id() -> None:
    session = Session(a_document("‹one›"))

    session.do(
        ChangeSpans(
            "op",
            0,
            (NewSpan("region", 0, 3, {"strength": 0.4}, id="region1"),),
            remove=("region1",),
        )
    )

    assert session.state.spans[0].settings == {"strength": 0.4}


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (ChangeSpans("op", 0, remove=("nothing",)), NotFound),
        (ChangeSpans("op", 1, (NewSpan("locked", 0, 1),)), StaleVersion),
        (ChangeSpans("op", 0, (NewSpan("locked", 2, 5),)), SpanConflict),
        (ChangeSpans("op", 0, (NewSpan("region", 0, 1, id="region1"),)), SpanConflict),
        (ChangeSpans("op", 0, (NewSpan("region", 1, 1),)), InvalidOffset),
        (ChangeSpans("op", 0, (NewSpan("region", 0, 1, {"strength": 2}),)), InvalidInput),
        (ChangeSpans("op", 0, (NewSpan("region", 0, 1, {"length": 0}),)), InvalidInput),
        (ChangeSpans("op", 0, (NewSpan("region", 0, 1, {"constraints": "x"}),)), InvalidInput),
        (ReplaceSpans("op", 3, ()), StaleVersion),
        (ReplaceSpans("op", 0, (NewSpan("locked", 0, 99),)), InvalidOffset),
    ],
)
def test_unusable_spans_are_refused_whole(
    command: ChangeSpans | ReplaceSpans, error: type[EditorError]
) -> None:
    session = Session(a_document("one ‹two› three"))

    with pytest.raises(error):
        session.do(command)

    assert session.shown == "one ‹two› three"


def test_replacing_spans_puts_the_new_set_for_all() -> None:
    session = Session(a_document("«one» ‹two›"))

    session.do(ReplaceSpans("op", 0, (NewSpan("region", 0, 3),)))

    assert session.shown == "‹one› two"


def test_unlocking_opens_the_text() -> None:
    session = Session(a_document("take «5» mg"))
    session.do(ChangeSpans("unlock", 0, remove=("lock1",)))

    session.do(typing(session, "5", "6"))

    assert session.state.text == "take 6 mg"


def test_title_is_stored_and_told() -> None:
    session = Session(a_document("one"))

    session.do(RenameDocument("  A  note "))

    assert session.state.title == "A note"
    assert session.notices == [TitleChanged("A note")]


def test_deciding_alters_nothing_given() -> None:
    session = Session(a_document("one ‹two› three"))
    before = session.state

    session.do(typing(session, "one", "1"))

    assert (before.text, before.version, before.known_ops) == ("one two three", 0, {})
