"""How spans move, which sets are allowed, and what a lock refuses."""

from __future__ import annotations

import pytest

from editor.document.changes import ChangeSet, replace
from editor.document.spans import (
    MAX_REGION_CODE_POINTS,
    MAX_SPANS,
    Span,
    check_locks,
    check_spans,
    is_touched,
    locked_ranges,
    map_spans,
)
from editor.errors import (
    EditorError,
    InvalidInput,
    InvalidOffset,
    LockViolation,
    SpanConflict,
    TooLarge,
)
from tests.editor.builders import marked, show


def edited(markup: str, start: int, end: int, inserted: str) -> str:
    """Return the markup after replacing [start, end) of its text."""
    text, spans = marked(markup)
    changes = replace(len(text), start, end, inserted)
    return show(changes.apply(text), map_spans(spans, changes)[0])


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("ab‹cd›ef", (0, 0, "xx"), "xxab‹cd›ef"),
        ("ab‹cd›ef", (5, 6, ""), "ab‹cd›e"),
        ("ab‹cd›ef", (3, 3, "x"), "ab‹cxd›ef"),
        ("ab‹cd›ef", (2, 2, "x"), "abx‹cd›ef"),  # typed at an edge: outside
        ("ab‹cd›ef", (4, 4, "x"), "ab‹cd›xef"),
        ("ab⟦cd⟧ef", (2, 2, "x"), "abx⟦cd⟧ef"),
        ("ab⟦cd⟧ef", (4, 4, "x"), "ab⟦cdx⟧ef"),  # a field takes what is typed at its end
        ("ab«cd»ef", (4, 4, " "), "ab«cd» ef"),
        ("ab«cd»ef", (2, 2, " "), "ab «cd»ef"),
        ("ab‹cd›ef", (2, 4, "xyz"), "ab‹xyz›ef"),  # wholly replaced: covers the new text
        ("ab‹cd›ef", (1, 3, "xyz"), "axyz‹d›ef"),
        ("ab‹cd›ef", (3, 5, "xyz"), "ab‹c›xyzf"),
        ("ab‹cd›ef", (2, 4, ""), "abef"),
        ("ab‹cd›ef", (1, 5, "xyz"), "axyzf"),
        ("‹ab›‹cd›", (2, 2, "x"), "‹ab›x‹cd›"),
        ("⟦ab⟧⟦cd⟧", (2, 2, "x"), "⟦abx⟧⟦cd⟧"),
        ("‹a«b»c›", (1, 1, " "), "‹a «b»c›"),
    ],
)
def test_span_moves_with_the_edit(before: str, edit: tuple[int, int, str], after: str) -> None:
    assert edited(before, *edit) == after


def test_deleted_spans_are_reported() -> None:
    text, spans = marked("a‹b›c⟦d⟧e")

    kept, deleted = map_spans(spans, replace(len(text), 0, 3, ""))

    assert [span.id for span in kept] == ["field1"]
    assert [span.id for span in deleted] == ["region1"]


@pytest.mark.parametrize(
    ("start", "end", "inserted", "expected"),
    [
        (2, 2, "x", False),
        (4, 4, "x", False),
        (3, 3, "x", True),
        (0, 2, "", False),
        (4, 6, "x", False),
        (1, 3, "", True),
        (0, 6, "x", True),
        (2, 4, "", True),
    ],
)
def test_only_what_happens_inside_touches(
    start: int, end: int, inserted: str, expected: bool
) -> None:
    assert is_touched(Span("r", "region", 2, 4), replace(6, start, end, inserted)) is expected


def test_locks_that_overlap_are_one_range_and_touching_ones_are_two() -> None:
    spans = [
        Span("a", "locked", 0, 3),
        Span("b", "locked", 2, 5),
        Span("c", "locked", 5, 7),
        Span("d", "region", 8, 9),
    ]

    assert locked_ranges(spans) == ((0, 5), (5, 7))


@pytest.mark.parametrize(
    "markup",
    [
        "«ab»‹cd›⟦ef⟧",
        "‹a«b»c›",
        "‹«a»b›",
        "‹a«b»›",
        "‹«a» «b»›",
        "«a«b»c»",
    ],
)
def test_allowed_sets_of_spans(markup: str) -> None:
    check_spans(*marked(markup))


@pytest.mark.parametrize(
    ("spans", "error", "words"),
    [
        ([Span("a", "region", 0, 3), Span("b", "region", 2, 4)], SpanConflict, "0 to 3 overlaps"),
        ([Span("a", "region", 0, 3), Span("b", "field", 0, 3)], SpanConflict, "overlaps the field"),
        ([Span("a", "region", 0, 3), Span("b", "locked", 2, 4)], SpanConflict, "lock at 2 to 4"),
        ([Span("a", "region", 1, 3), Span("b", "locked", 0, 4)], SpanConflict, "lock at 0 to 4"),
        ([Span("a", "region", 1, 3), Span("b", "locked", 1, 3)], SpanConflict, "some of it free"),
        ([Span("a", "region", 2, 2)], InvalidOffset, "is empty"),
        ([Span("a", "region", 3, 2)], InvalidOffset, "is empty"),
        ([Span("a", "region", 2, 7)], InvalidOffset, "allowed is 0 to 6"),
        ([Span("a", "region", -1, 2)], InvalidOffset, "allowed is 0 to 6"),
        ([Span("a", "locked", 4, 5)], InvalidOffset, "splits a grapheme"),
        ([Span("a", "locked", 0, 1), Span("a", "locked", 2, 3)], SpanConflict, "used twice"),
        ([Span("", "locked", 0, 1)], InvalidInput, "1 to 64"),
        ([Span("x" * 65, "locked", 0, 1)], InvalidInput, "1 to 64"),
        ([Span("a", "region", 0, 1, {"x": "y" * 5_000})], TooLarge, "limit is 4,096"),
        ([Span("a", "region", 0, 1, {"x": object()})], InvalidInput, "plain JSON"),
    ],
)
def test_refused_sets_of_spans(spans: list[Span], error: type[EditorError], words: str) -> None:
    with pytest.raises(error, match=words):
        check_spans("abcde\u0301", spans)


def test_region_above_the_limit_is_refused_with_both_numbers() -> None:
    text = "a" * (MAX_REGION_CODE_POINTS + 1)

    with pytest.raises(TooLarge, match="4,001 code points; the limit is 4,000"):
        check_spans(text, [Span("a", "region", 0, len(text))])


def test_too_many_spans_are_refused_with_both_numbers() -> None:
    spans = [Span(f"s{n}", "locked", n, n + 1) for n in range(MAX_SPANS + 1)]

    with pytest.raises(TooLarge, match="2,001 spans; the limit is 2,000"):
        check_spans("a" * 3_000, spans)


def test_borders_of_known_spans_are_not_looked_at_again() -> None:
    """Typing a mark behind a region's first letter may not make all later span edits fail."""
    known = Span("a", "region", 5, 6)

    check_spans("abcde\u0301", [known, Span("b", "locked", 0, 1)], known=[known])


@pytest.mark.parametrize(
    ("markup", "start", "end", "inserted"),
    [
        ("a«bcd»e", 1, 4, ""),  # deleted
        ("a«bcd»e", 2, 3, "x"),  # replaced
        ("a«bcd»e", 2, 3, "b"),
        ("a«bcd»e", 2, 2, " "),  # inside
        ("a«bcd»e", 0, 2, ""),  # partly
        ("a«bcd»e", 3, 5, ""),
        ("a«bcd»e", 0, 5, "abcde"),
        ("‹a«bcd»e›", 0, 5, ""),
        ("take «5» mg", 5, 5, "1"),  # 15
        ("take «5» mg", 6, 6, "0"),  # 50
        ("take «5» mg", 6, 7, ""),  # 5mg: letters now stand against the lock
        ("take «5» mg", 4, 5, ""),
        ("«5» 0", 1, 2, ""),  # 50, joined by deleting
        ("5 «0»", 1, 2, ""),
        ("«5».", 2, 2, "5"),  # 5.5
        ("«5» mg", 1, 1, ".5"),
        (".«5» mg", 0, 0, "1"),  # 1.5
        ("«5» mg", 1, 1, ",25"),
        ("«no» pain", 2, 2, "w"),
        ("«cafe» x", 4, 4, "\u0301"),  # a mark on a locked letter
        ("«\U0001f469» x", 1, 1, "\u200d\U0001f467"),
        ("«\u00e9t\u00e9»s", 3, 3, "e"),
        ("take «5» mg", 5, 5, "-"),  # -5
        ("take «5» mg", 5, 5, "\u2212"),
        ("take «5» mg", 5, 5, "$"),
        ("take «5» mg", 5, 5, "<"),
        ("take «5» mg", 5, 5, "1/"),
        ("take «5» mg", 5, 5, "."),  # .5
        ("take -«5» mg", 4, 5, ""),  # the space before the minus: 5 was -5 before, now e-5
        ("take - «5» mg", 6, 7, ""),  # -5, joined by deleting
        ("take «5» mg", 6, 6, "%"),
        ("take «5» mg", 6, 6, "°"),
        ("take «5» mg", 6, 6, "€"),
        ("take «5» mg", 6, 6, "-10"),
        ("take «5» mg", 6, 6, "/day"),
        ("take «5» mg", 6, 6, ":30"),
        ("take «5»- mg", 7, 7, "1"),  # 5-1
        ("take «5»/ mg", 7, 7, "2"),
        ("take «5» %", 6, 7, ""),
        ("take «5.» Then", 7, 7, "5"),  # the point is locked too
        ("take «-5» mg", 5, 5, "1"),  # 1-5
        ("take «$5» mg", 5, 5, "-"),
        ("take «5» mg", 6, 6, "\u200b0"),  # 50, with an invisible character between
        ("take «5» mg", 5, 5, "1\u2060"),
        ("take «5» mg", 5, 5, "-\u00ad"),
        ("take «5»\u200b mg", 7, 7, "0"),
        ("take «5»\u200b\u200b\u200b\u200b mg", 10, 10, "0"),
        ("take «5»\u200b mg", 7, 8, ""),  # what is between is a space, then nothing to be seen
        ("take «5» mg", 6, 6, "\x01%"),
        ("«no» pain", 2, 2, "\u00adw"),
        ("take «½» mg", 5, 5, "1"),
    ],
)
def test_lock_refuses(markup: str, start: int, end: int, inserted: str) -> None:
    text, spans = marked(markup)

    with pytest.raises(LockViolation):
        check_locks(text, spans, replace(len(text), start, end, inserted))


@pytest.mark.parametrize(
    ("markup", "start", "end", "inserted"),
    [
        ("take «5» mg", 5, 5, "("),
        ("take «5» mg", 6, 6, ")"),
        ("take «5» mg", 6, 6, ". "),
        ("take «5»", 6, 6, "."),
        ("take «5» mg", 6, 7, "\n"),
        ("take «5» mg", 0, 4, "give"),
        ("take «5» mg", 7, 9, "ml"),
        ("«(a)»b", 3, 3, "c"),  # the locked edge is no letter
        ("x«5»mg", 3, 4, "l"),  # joined before, and the letter next to the lock stays
        ("«a»«b»", 1, 1, " "),  # between two locks is outside both
        ("no lock at all", 0, 14, ""),
        ("take «5» mg", 6, 6, "-"),  # a dash alone says nothing
        ("take «5» mg", 5, 5, "- "),
        ("take «5» mg", 6, 6, " %"),
        ("take «5» mg", 5, 5, "about "),
        ("take «5» mg", 5, 5, '"'),
        ("take «5» mg", 5, 5, "**"),
        ("take «5» mg", 6, 6, ", 6"),
        ("take «5» mg", 6, 6, "\u200b"),
        ("take «5» mg", 0, 5, "New words."),
        ("Total: «$»__", 8, 10, "100"),  # a locked sign is there for a number
        ("__«%» of", 0, 2, "100"),
        ("take «5»% of", 8, 10, "or"),  # the sign was there before
        ("-«5» mg", 0, 1, ""),
        ("«end». 5", 4, 5, ""),
        ("«ten» x", 3, 3, "-"),
    ],
)
def test_lock_allows(markup: str, start: int, end: int, inserted: str) -> None:
    text, spans = marked(markup)

    check_locks(text, spans, replace(len(text), start, end, inserted))


def test_one_bad_change_among_many_refuses_the_edit_whole() -> None:
    text, spans = marked("one «two» three")
    changes = ChangeSet.of([(3, "1"), (1, None), (3, "2"), (1, None), (5, "3")])

    with pytest.raises(LockViolation, match="4 to 7"):
        check_locks(text, spans, changes)


def test_message_tells_places_and_no_words() -> None:
    text, spans = marked("name «Confidential» x")

    with pytest.raises(LockViolation) as refused:
        check_locks(text, spans, replace(len(text), 6, 7, "z"))

    assert "Confidential" not in str(refused.value)
