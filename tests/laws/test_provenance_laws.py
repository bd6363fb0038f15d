"""Origins under random edits: they cover the text, and agree with a letter by letter twin."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from editor.document.changes import ChangeSet
from editor.document.provenance import (
    EditOrigin,
    LoggedEdit,
    OriginRun,
    check_runs,
    trace_origins,
)
from tests.laws.strategies import change_sets, texts


@st.composite
def logs(draw: st.DrawFn) -> tuple[str, list[ChangeSet]]:
    text = draw(texts)
    edits: list[ChangeSet] = []
    length = len(text)
    for _ in range(draw(st.integers(0, 5))):
        edits.append(draw(change_sets(length)))
        length = edits[-1].new_length
    return text, edits


def first(text: str) -> list[OriginRun]:
    return [OriginRun(0, len(text), "template")] if text else []


@given(logs())
def test_origins_cover_the_text_and_neighbours_differ(log: tuple[str, list[ChangeSet]]) -> None:
    text, edits = log
    logged = [LoggedEdit(n, changes, EditOrigin()) for n, changes in enumerate(edits, 1)]

    runs = trace_origins(text, first(text), logged)

    check_runs(runs, edits[-1].new_length if edits else len(text))
    assert all(one.origin != other.origin for one, other in pairwise(runs))


@given(logs())
def test_pasted_text_is_traced_as_a_slow_twin_does(log: tuple[str, list[ChangeSet]]) -> None:
    """Pasted text is never taken for an undo, so each letter can be followed by itself."""
    text, edits = log
    letters = ["template"] * len(text)
    for changes in edits:
        moved: list[str] = []
        position = 0
        for length, inserted in changes.sections:
            kept = letters[position : position + length]
            moved += kept if inserted is None else ["pasted"] * len(inserted)
            position += length
        letters = moved
    logged = [LoggedEdit(n, changes, EditOrigin("pasted")) for n, changes in enumerate(edits, 1)]

    runs = trace_origins(text, first(text), logged)

    assert [run.kind for run in runs for _ in range(run.end - run.start)] == letters


@given(logs())
def test_undo_of_the_last_edit_gives_its_origins_back(log: tuple[str, list[ChangeSet]]) -> None:
    text, edits = log
    logged: list[LoggedEdit] = []
    for n, changes in enumerate(edits, 1):
        logged.append(LoggedEdit(n, changes, EditOrigin("pasted")))
        before, text = text, changes.apply(text)
    if not logged or any(len(one.inserted) and one.end > one.start for one in edits[-1].changes):
        return
    kept = trace_origins(log[0], first(log[0]), logged[:-1])
    undo = LoggedEdit(len(logged) + 1, edits[-1].invert(before), EditOrigin())

    assert trace_origins(log[0], first(log[0]), [*logged, undo]) == kept
