"""The fast way of spans through a batch of edits is the slow one, exactly."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from editor.document.moving import MovingSpans
from editor.document.spans import Span, check_locks, check_locks_near, is_touched, map_spans
from editor.errors import LockViolation
from tests.laws.strategies import change_sets, span_sets, texts

run = settings(max_examples=200, deadline=None)


@st.composite
def nested(draw: st.DrawFn, text: str) -> tuple[Span, ...]:
    """Draw spans that lie apart, and locks over each other and inside regions."""
    spans = list(draw(span_sets(text)))
    for number in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, max(0, len(text) - 1)))
        end = draw(st.integers(start, len(text)))
        if start < end:
            spans.append(Span(f"lock{number}", "locked", start, end))
    return tuple(sorted(spans, key=lambda span: (span.start, span.end, span.id)))


@run
@given(texts, st.data())
def test_moving_through_a_batch_is_moving_through_each_edit(text: str, data: st.DataObject) -> None:
    spans = data.draw(nested(text))
    moving, slow, touched = MovingSpans(spans), spans, set[str]()
    length = len(text)

    for _ in range(data.draw(st.integers(1, 5))):
        changes = data.draw(change_sets(length))
        moving.move(changes)
        moved, removed = map_spans(slow, changes)
        sizes = {span.id: span.end - span.start for span in moved}
        touched |= {span.id for span in removed}
        touched |= {
            span.id
            for span in slow
            if span.kind != "locked"
            and (
                is_touched(span, changes)
                or sizes.get(span.id, span.end - span.start) != span.end - span.start
            )
        }
        slow, length = moved, changes.new_length

    assert moving.spans() == slow
    assert moving.touched == touched


@run
@given(texts, st.data())
def test_locks_looked_up_near_a_change_are_enough(text: str, data: st.DataObject) -> None:
    spans = data.draw(nested(text))
    changes = data.draw(change_sets(len(text)))
    after = changes.apply(text)

    def refuses(fast: bool) -> bool:
        try:
            if fast:
                near = MovingSpans(spans).locks_near
                check_locks_near(text, changes, near, after=after)
            else:
                check_locks(text, spans, changes)
        except LockViolation:
            return True
        return False

    assert refuses(fast=True) == refuses(fast=False)
