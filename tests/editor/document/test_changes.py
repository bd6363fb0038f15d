"""Change sets agree with CodeMirror's to the section, and refuse what does not fit."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from editor.document.changes import Change, ChangeSet, check_change, compose_all, replace
from editor.errors import InvalidChange, InvalidText, TooLarge

HERE = Path(__file__).parent
STATE_MODULE = HERE.parents[2] / "static/node_modules/@codemirror/state/dist/index.js"
SEED = 7


def ours(vector: dict[str, Any]) -> dict[str, Any]:
    """Return what our change sets make of the same input."""
    text = vector["text"]
    a, b, c = (ChangeSet.from_json(vector[key]) for key in "abc")
    return {
        "text": text,
        "a": a.to_json(),
        "b": b.to_json(),
        "c": c.to_json(),
        "applied": a.apply(text),
        "inverted": a.invert(text).to_json(),
        "composed": a.compose(c).to_json(),
        "mapped": b.map_over(a).to_json(),
        "mapped_before": a.map_over(b, before=True).to_json(),
        "positions": [
            [a.map_position(p, assoc=-1), a.map_position(p, assoc=1)] for p in range(len(text) + 1)
        ],
        "changes": [[one.start, one.end, one.new_start, one.inserted] for one in a.changes],
    }


def test_golden_vectors_of_codemirror_come_out_the_same() -> None:
    """Written by changeset_twin.mjs with @codemirror/state 6.7.6, seed 7."""
    vectors = json.loads((HERE / "changeset_vectors.json").read_text(encoding="utf-8"))

    assert [ours(vector) for vector in vectors] == vectors


@pytest.mark.slow
def test_fresh_vectors_of_codemirror_come_out_the_same() -> None:
    node = shutil.which("node")
    if node is None or not STATE_MODULE.exists():
        pytest.skip("needs node and the front end's packages in static/node_modules")

    ran = subprocess.run(
        [node, str(HERE / "changeset_twin.mjs"), str(STATE_MODULE), "11", "5000"],
        capture_output=True,
        check=True,
        text=True,
    )

    vectors = json.loads(ran.stdout)
    assert [ours(vector) for vector in vectors] == vectors


@pytest.mark.parametrize(
    "bad",
    [
        None,
        {},
        "abc",
        [-1],
        [1.5],
        [True],
        ["a"],
        [[]],
        [["a"]],
        [[-1, "a"]],
        [[True]],
        [[0, 1]],
        [[0, None]],
        [[0, "a\nb"]],
        [[0, "a\rb"]],
        [None],
        [10_000_001],
        [10**30],
    ],
)
def test_malformed_json_is_refused(bad: object) -> None:
    with pytest.raises(InvalidChange):
        ChangeSet.from_json(bad)


def test_too_many_sections_are_refused_with_numbers() -> None:
    with pytest.raises(TooLarge, match="100,001 sections; the limit is 100,000"):
        ChangeSet.from_json([1] * 100_001)


def test_sections_that_can_be_one_are_joined() -> None:
    changes = ChangeSet.from_json([1, 2, [0], [1], [2], [0, "a"], [0, "b"], 0])

    assert changes.to_json() == [3, [3], [0, "ab"]]


def test_lines_are_joined_by_newlines() -> None:
    changes = ChangeSet.from_json([[1, "x", "", "y"], 2])

    assert changes.apply("abc") == "x\n\nybc"
    assert changes.to_json() == [[1, "x", "", "y"], 2]


@pytest.mark.parametrize("length", [2, 4])
def test_change_set_of_another_length_is_refused(length: int) -> None:
    changes = ChangeSet.empty(length)

    for use in (
        lambda: changes.apply("abc"),
        lambda: changes.invert("abc"),
        lambda: changes.compose(ChangeSet.empty(3)),
        lambda: changes.map_over(ChangeSet.empty(3)),
    ):
        with pytest.raises(InvalidChange, match="length"):
            use()


def test_changes_that_touch_come_as_one() -> None:
    changes = ChangeSet.of([(1, None), (1, "x"), (2, "yz"), (0, "!"), (1, None)])

    assert list(changes.changes) == [Change(1, 4, 1, "xyz!")]


def test_position_outside_is_refused() -> None:
    with pytest.raises(InvalidChange, match="position 4"):
        replace(3, 0, 1, "x").map_position(4)


@pytest.mark.parametrize(("start", "end"), [(2, 1), (-1, 1), (0, 4)])
def test_replacing_a_range_outside_is_refused(start: int, end: int) -> None:
    with pytest.raises(InvalidChange):
        replace(3, start, end, "x")


def test_checked_change_gives_the_new_text() -> None:
    assert check_change("abc", replace(3, 1, 2, "xy"), limit=4) == "axyc"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (replace(3, 1, 1, "\ud83d"), InvalidText),
        (replace(3, 1, 1, "\x00"), InvalidText),
        (replace(3, 1, 1, "xyz"), TooLarge),
        (replace(4, 1, 1, "x"), InvalidChange),
    ],
)
def test_change_that_would_spoil_the_text_is_refused(
    changes: ChangeSet, error: type[Exception]
) -> None:
    with pytest.raises(error):
        check_change("abc", changes, limit=5)


def test_change_inside_an_emoji_is_refused() -> None:
    text = "a\U0001f469\u200d\U0001f467b"

    with pytest.raises(InvalidChange, match="offset 2 splits a grapheme"):
        check_change(text, replace(len(text), 2, 4, ""), limit=99)


def test_removing_a_mark_alone_is_typing() -> None:
    assert check_change("e\u0301x", replace(3, 1, 2, ""), limit=99) == "ex"


def test_many_edits_composed_in_pairs_are_composed_in_turn() -> None:
    text, edits = "start", []
    for number in range(37):
        edits.append(replace(len(text), number % len(text), number % len(text), f"{number}"))
        text = edits[-1].apply(text)

    composed = compose_all(edits, length=5)

    assert composed.apply("start") == text
    slow = edits[0]
    for edit in edits[1:]:
        slow = slow.compose(edit)
    assert composed == slow


def test_no_edits_composed_change_nothing() -> None:
    assert compose_all([], length=3) == ChangeSet.empty(3)
