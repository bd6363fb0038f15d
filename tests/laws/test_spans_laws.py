"""Spans and locks under random edits."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from editor.document.changes import ChangeSet, replace
from editor.document.spans import Span, SpanKind, check_locks, is_touched, map_spans
from editor.document.suggestions import place
from editor.errors import LockViolation
from tests.laws.strategies import change_sets, span_sets, texts

run = settings(max_examples=150, deadline=None)


@run
@given(texts, st.data())
def test_moved_spans_lie_in_the_text_in_order_and_apart(text: str, data: st.DataObject) -> None:
    spans = data.draw(span_sets(text))
    changes = data.draw(change_sets(len(text)))

    kept, deleted = map_spans(spans, changes)

    assert {s.id for s in kept} | {s.id for s in deleted} == {s.id for s in spans}
    assert all(0 <= s.start < s.end <= changes.new_length for s in kept)
    assert all(one.end <= other.start for one, other in pairwise(kept))


@run
@given(texts, st.data())
def test_untouched_spans_keep_their_text(text: str, data: st.DataObject) -> None:
    spans = data.draw(span_sets(text))
    changes = data.draw(change_sets(len(text)))
    after = changes.apply(text)
    kept = {span.id: span for span in map_spans(spans, changes)[0]}

    for span in spans:
        if not is_touched(span, changes):
            new = kept[span.id]
            before = text[span.start : span.end]
            assert after[new.start : new.end].startswith(before)
            # A field may also have taken what was typed at its end.
            assert span.kind == "field" or after[new.start : new.end] == before


@run
@given(texts, st.data())
def test_an_edit_is_refused_or_leaves_every_lock_as_it_was(text: str, data: st.DataObject) -> None:
    spans = data.draw(span_sets(text))
    changes = data.draw(change_sets(len(text)))

    try:
        check_locks(text, spans, changes)
    except LockViolation:
        return

    after = changes.apply(text)
    kept = {span.id: span for span in map_spans(spans, changes)[0]}
    for lock in (span for span in spans if span.kind == "locked"):
        new = kept[lock.id]
        assert after[new.start : new.end] == text[lock.start : lock.end]


@run
@given(texts, st.data())
def test_an_edit_away_from_locks_is_never_refused(text: str, data: st.DataObject) -> None:
    """Twin: an edit whose changes keep three visible characters away cannot matter to a lock."""
    spans = data.draw(span_sets(text))
    changes = data.draw(change_sets(len(text)))
    locks = [span for span in spans if span.kind == "locked"]
    assume(
        all(
            _visible(text[change.end : lock.start]) > 2
            or _visible(text[lock.end : change.start]) > 2
            for change in changes.changes
            for lock in locks
        )
    )

    check_locks(text, spans, changes)


def _visible(text: str) -> int:
    return len(text.replace("\u200d", ""))


@run
@given(
    st.lists(st.sampled_from(["5", "1", " ", "-", ".", "%", "$", "\u200b", "x", ","]), max_size=9),
    st.data(),
)
def test_a_locked_number_stays_the_number_it_is(signs: list[str], data: st.DataObject) -> None:
    """Twin: the number read around the lock, invisible characters left out, is what it was."""
    left = data.draw(st.sampled_from(["take ", "", "x "]))
    text = f"{left}55 mg {''.join(signs)}"
    lock = Span("lock", "locked", len(left), len(left) + 2)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 2)))
    new = data.draw(st.text("51 -.%$\u200bx,", max_size=4))
    changes = replace(len(text), start, end, new)

    try:
        check_locks(text, [lock], changes)
    except LockViolation:
        return

    (moved,) = map_spans([lock], changes)[0]
    assert _number_at(changes.apply(text), moved.start) == "55"


def _number_at(text: str, offset: int) -> str:
    seen = text[:offset].replace("\u200b", "")
    shown = text.replace("\u200b", "")
    number = re.compile(r"[-$]*(?:\d[.,-])?(?:(?<![a-z])\.)?\d+(?:[.,-]\d+)*[%$]?|\w+")
    return next(m[0] for m in number.finditer(shown) if m.start() <= len(seen) < m.end())


@run
@given(texts, st.data())
def test_moving_in_two_steps_is_moving_over_both(text: str, data: st.DataObject) -> None:
    """Only for edits that neither touch nor meet a span: at edges, order matters."""
    spans = data.draw(span_sets(text))
    first = data.draw(change_sets(len(text)))
    second = data.draw(change_sets(first.new_length))
    both = first.compose(second)
    moved = map_spans(spans, first)[0]
    assume(not any(_meets(span, first) for span in spans))
    assume(not any(_meets(span, second) for span in moved))

    assert map_spans(moved, second)[0] == map_spans(spans, both)[0]


def _meets(span: Span, changes: ChangeSet) -> bool:
    return any(c.start <= span.end and c.end >= span.start for c in changes.changes)


def test_b1_filling_regions_changes_nothing_outside_them_in_10000_documents() -> None:
    """B1: input outside the regions plus the filled texts gives the output, byte for byte."""
    rng = random.Random(20_240)
    num_filled = 0
    while num_filled < 10_000:
        pieces, spans, fillings = _a_filled_document(rng)
        text = "".join(piece for _, piece in pieces)
        expected = [fillings.get(name, piece) for name, piece in pieces]

        try:
            placement = place(text, spans, fillings)
        except LockViolation:
            continue  # a filling joined onto a lock: refused whole, so nothing changed

        result = placement.changes.apply(text)
        assert result.encode() == "".join(expected).encode()
        after = {span.id: span for span in placement.spans}
        for lock in (span for span in spans if span.kind == "locked"):
            new = after[lock.id]
            assert result[new.start : new.end] == text[lock.start : lock.end]
        num_filled += 1


def _a_filled_document(
    rng: random.Random,
) -> tuple[list[tuple[str, str]], list[Span], dict[str, str]]:
    """Return (span id, text) of the pieces in order, the spans, and texts for some regions."""
    pieces: list[tuple[str, str]] = []
    spans: list[Span] = []
    fillings: dict[str, str] = {}
    position = 0
    for number in range(7):
        piece, name = _letters(rng, 1, 8), f"piece{number}"
        kind = rng.choice(["region", "scaffold", "locked", "none"])
        lock = f"[{_letters(rng, 1, 3)}]"
        if kind == "scaffold":  # a region with a lock in its middle
            spans.append(Span(f"lock{number}", "locked", position + 1, position + 1 + len(lock)))
            piece = f" {lock}{piece}"
        if kind != "none":
            span_kind: SpanKind = "locked" if kind == "locked" else "region"
            spans.append(Span(name, span_kind, position, position + len(piece)))
        if kind == "region" and rng.random() < 0.8:
            fillings[name] = _letters(rng, 0, 9)
        if kind == "scaffold":
            fillings[name] = f"{_letters(rng, 0, 5)}{lock}{_letters(rng, 0, 5)}"
        pieces.append((name, piece))
        position += len(piece)
    return pieces, spans, fillings


def _letters(rng: random.Random, least: int, most: int) -> str:
    return "".join(rng.choices("ab c5.\n\u00e9\U0001f600\u0301(_*", k=rng.randint(least, most)))
