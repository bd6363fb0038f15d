"""Where characters came from is read from the log of edits alone (D6)."""

from __future__ import annotations

import pytest

from editor.document.changes import ChangeSet, replace
from editor.document.provenance import (
    TYPED,
    EditOrigin,
    LoggedEdit,
    OriginRun,
    check_runs,
    trace_origins,
)
from editor.errors import InvalidInput


class Log:
    """Edits of a text, each by what it replaces."""

    def __init__(self, text: str, first: str = "template") -> None:
        self.first, self.text = text, text
        self.origins = [OriginRun(0, len(text), first)] if text else []  # type: ignore[arg-type]
        self.edits: list[LoggedEdit] = []
        self.undo: list[ChangeSet] = []

    def put(self, start: int, end: int, new: str, origin: EditOrigin = TYPED) -> Log:
        return self.apply(replace(len(self.text), start, end, new), origin)

    def apply(self, changes: ChangeSet, origin: EditOrigin = TYPED) -> Log:
        self.undo.append(changes.invert(self.text))
        self.edits.append(LoggedEdit(len(self.edits) + 1, changes, origin))
        self.text = changes.apply(self.text)
        return self

    @property
    def shown(self) -> list[tuple[str, str]]:
        runs = trace_origins(self.first, self.origins, self.edits)
        check_runs(runs, len(self.text))
        return [(self.text[r.start : r.end], r.run_id or r.kind) for r in runs]


def model(start: int, end: int, run_id: str = "run") -> EditOrigin:
    return EditOrigin(written=(OriginRun(start, end, "model", run_id),))


def test_D6_typed_and_pasted_text_is_told_apart() -> None:
    log = Log("one two").put(3, 3, "!").put(8, 8, " three", EditOrigin("pasted"))

    assert log.shown == [
        ("one", "template"),
        ("!", "typed"),
        (" two", "template"),
        (" three", "pasted"),
    ]


def test_D6_accepted_text_names_its_run() -> None:
    log = Log("a ___ b").put(2, 5, "word", model(2, 6)).put(4, 4, "X")

    assert log.shown == [
        ("a ", "template"),
        ("wo", "run"),
        ("X", "typed"),
        ("rd", "run"),
        (" b", "template"),
    ]


def test_D6_what_a_person_changed_before_accepting_is_typed() -> None:
    log = Log("a ___ b").put(2, 5, "word", model(2, 4))

    assert log.shown == [("a ", "template"), ("wo", "run"), ("rd", "typed"), (" b", "template")]


def test_D6_undo_and_redo_of_an_accept_give_the_origins_back() -> None:
    log = Log("a ___ b").put(2, 5, "word", model(2, 6))

    log.apply(log.undo[-1])
    undone = log.shown
    log.apply(log.undo[-1])

    assert undone == [("a ___ b", "template")]
    assert log.shown == [("a ", "template"), ("word", "run"), (" b", "template")]


def test_D6_undo_of_a_deletion_gives_the_origins_back() -> None:
    log = Log("a ___ b").put(2, 5, "some words", model(2, 12)).put(4, 11, "")

    log.apply(log.undo[-1])

    assert log.shown == [("a ", "template"), ("some words", "run"), (" b", "template")]


@pytest.mark.parametrize(
    ("deletions", "parts"),
    [
        ([(4, 5), (3, 4), (2, 3)], ["abc"]),  # Backspace three times, one undo
        ([(2, 3), (2, 3), (2, 3)], ["abc"]),  # Delete three times, one undo
        ([(4, 5), (3, 4), (2, 3)], ["ab", "c"]),  # Backspace, undone in two steps
        ([(2, 3), (2, 3), (2, 3)], ["c", "ab"]),  # Delete, undone in two steps
    ],
)
def test_D6_undo_of_a_held_key_gives_the_origins_back(
    deletions: list[tuple[int, int]], parts: list[str]
) -> None:
    log = Log("x ___").put(2, 5, "abc", model(2, 5))
    for start, end in deletions:
        log.put(start, end, "")

    place = 2
    for part in parts:
        log.put(place, place, part)
        place += len(part) if parts[0] == "ab" else 0

    assert log.shown == [("x ", "template"), ("abc", "run")]


def test_D6_restore_brings_the_origins_of_that_version_back() -> None:
    log = Log("a ___ b").put(2, 5, "word", model(2, 6))
    log.put(0, 8, "something else", EditOrigin("pasted"))

    log.put(0, 14, "a word b", EditOrigin("restore", restored=1))

    assert log.shown == [("a ", "template"), ("word", "run"), (" b", "template")]


def test_text_restored_from_an_unknown_version_says_so() -> None:
    log = Log("one").put(0, 3, "two", EditOrigin("restore"))

    assert log.shown == [("two", "restore")]


def test_pasted_text_is_pasted_even_if_it_was_deleted_before() -> None:
    log = Log("long enough text").put(5, 12, "").put(0, 0, "enough ", EditOrigin("pasted"))

    assert log.shown == [("enough ", "pasted"), ("long text", "template")]


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([], "cover 0"),
        ([OriginRun(0, 2, "typed")], "cover 2"),
        ([OriginRun(0, 2, "typed"), OriginRun(3, 4, "typed")], "where 2 is due"),
        ([OriginRun(0, 4, "model")], "run_id"),
        ([OriginRun(0, 4, "typed", "run")], "run_id"),
    ],
)
def test_origins_that_do_not_cover_the_text_are_refused(runs: list[OriginRun], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_runs(runs, 4)
