"""Random texts, change sets and spans for the laws of documents."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from editor.document.changes import ChangeSet
from editor.document.spans import Span, SpanKind

# Words, line ends, astral characters, marks and joiners: what offsets stumble over.
ALPHABET = "ab5 .\n\u00e9e\u0301\u0e33\u5b57\U0001f600\U0001f1ec\U0001f1e7\u200d\U0001f469"

texts = st.text(alphabet=ALPHABET, max_size=24)


@st.composite
def change_sets(draw: st.DrawFn, length: int) -> ChangeSet:
    """Draw an edit of a text of `length` code points."""
    sections: list[tuple[int, str | None]] = []
    left = length
    while left > 0:
        size = draw(st.integers(1, left))
        sections.append((size, draw(st.one_of(st.none(), st.just(""), texts))))
        left -= size
        if draw(st.booleans()):
            sections.append((0, draw(st.text(alphabet=ALPHABET, min_size=1, max_size=4))))
    if not sections:
        sections.append((0, draw(texts)))
    return ChangeSet.of(sections)


@st.composite
def span_sets(draw: st.DrawFn, text: str) -> tuple[Span, ...]:
    """Draw spans that lie apart, some locked; their borders may touch."""
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans: list[Span] = []
    for number, (start, end) in enumerate(pairwise(cuts)):
        kind: SpanKind | None = draw(st.sampled_from([None, "locked", "region", "field"]))
        if kind is not None:
            spans.append(Span(f"span{number}", kind, start, end))
    return tuple(spans)
