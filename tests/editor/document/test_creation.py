"""A new document is clean, has its blanks as regions, and a first revision."""

from __future__ import annotations

import pytest

from editor.document.creation import MAX_TITLE_CODE_POINTS, NewDocument, create_document
from editor.document.revisions import verify_chain
from editor.document.spans import Span
from editor.document.state import DocumentState
from editor.errors import InvalidOffset, InvalidText, SpanConflict, TooLarge
from tests.editor.builders import NOW_S, new_ids, show


def created(new: NewDocument, *, limit: int = 1_000) -> DocumentState:
    return create_document(new, now_s=NOW_S, new_id=new_ids(), limit=limit)


def test_blanks_become_regions() -> None:
    state = created(NewDocument("Dear {{ name }},\r\nthank you for ___."))

    assert show(state.text, state.spans) == "Dear ‹{{ name }}›,\nthank you for ‹___›."
    assert [dict(span.settings) for span in state.spans] == [
        {"blank": True, "name": "name"},
        {"blank": True},
    ]


def test_given_spans_are_taken_instead_of_blanks() -> None:
    state = created(NewDocument("a ___ b", spans=[Span("mine", "locked", 0, 1)]))

    assert show(state.text, state.spans) == "«a» ___ b"


def test_no_spans_at_all_can_be_asked_for() -> None:
    assert created(NewDocument("a ___ b", spans=[])).spans == ()


def test_first_revision_writes_the_text_over_nothing() -> None:
    state = created(NewDocument("some text", author_kind="import", summary="Imported"))

    assert state.head.changes.apply("") == "some text"
    assert (state.version, state.head.n, state.head.parent) == (0, 0, None)
    assert state.head.author_kind == "import"
    assert verify_chain([state.head]) is None


def test_empty_document_is_a_document() -> None:
    state = created(NewDocument(""))

    assert state.text == ""
    assert verify_chain([state.head]) is None


@pytest.mark.parametrize(
    ("new", "error"),
    [
        (NewDocument("a\ud800"), InvalidText),
        (NewDocument("x" * 1_001), TooLarge),
        (NewDocument("x", title="t" * (MAX_TITLE_CODE_POINTS + 1)), TooLarge),
        (NewDocument("x", title="a\x00"), InvalidText),
        (NewDocument("a\r\nb", spans=[Span("s", "locked", 0, 1)]), InvalidOffset),
        (
            NewDocument("abc", spans=[Span("s", "region", 0, 2), Span("t", "region", 1, 3)]),
            SpanConflict,
        ),
    ],
)
def test_unusable_document_is_refused(new: NewDocument, error: type[Exception]) -> None:
    with pytest.raises(error):
        created(new)


def test_title_is_one_line() -> None:
    assert created(NewDocument("", title="  A\n title ")).title == "A title"
