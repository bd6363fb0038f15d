"""What travels to browsers counts in UTF-16; what arrives is refused when it does not fit."""

from __future__ import annotations

import pytest

from editor.document.changes import ChangeSet, replace
from editor.document.spans import Span
from editor.document.state import Edit
from editor.errors import InvalidChange
from editor.protocol.messages import UpdateWire
from editor.protocol.translate import (
    changes_from_wire,
    changes_to_wire,
    region_to_wire,
    spans_to_wire,
    stable_prefix_to_utf16,
    updates_from_wire,
    updates_to_wire,
)
from engine.contract import RegionDraft

SMILE = "\U0001f600"


def test_change_set_of_a_text_with_astral_characters() -> None:
    text = f"a{SMILE}b"

    changes = changes_from_wire([3, [1, f"{SMILE}c"]], text)

    assert changes == ChangeSet(((2, None), (1, f"{SMILE}c")))
    assert changes_to_wire(changes, text) == [3, [1, f"{SMILE}c"]]


def test_change_set_of_plain_text_is_the_same_on_both_sides() -> None:
    assert changes_to_wire(changes_from_wire([1, [1], 1], "abc"), "abc") == [1, [1], 1]


@pytest.mark.parametrize(
    "json",
    [[2, [2, "x"]], [4, [1]], [3], [[1, 2]], "x"],
)
def test_change_set_that_does_not_fit_is_refused(json: list[object]) -> None:
    with pytest.raises(InvalidChange):
        changes_from_wire(json, f"a{SMILE}b")


def test_updates_follow_each_other() -> None:
    updates = [
        UpdateWire(clientID="c", changes=[1, [0, SMILE]]),
        UpdateWire(clientID="c", changes=[3, [0, "b"]]),
    ]

    first, second = updates_from_wire(updates, "a")

    assert second.apply(first.apply("a")) == f"a{SMILE}b"


def test_edits_go_back_to_the_updates_they_came_from() -> None:
    edits = [
        Edit(1, "op", "c", replace(1, 1, 1, SMILE), "edit", ""),
        Edit(2, "op", "d", replace(2, 2, 2, "b"), "edit", ""),
    ]

    updates = updates_to_wire(edits, "a")

    assert [update.client_id for update in updates] == ["c", "d"]
    assert [update.changes for update in updates] == [[1, [0, SMILE]], [3, [0, "b"]]]


def test_spans_are_written_by_alias() -> None:
    (wire,) = spans_to_wire([Span("r", "region", 1, 2, {"blank": True})], f"{SMILE}b")

    assert wire.model_dump(by_alias=True) == {
        "id": "r",
        "kind": "region",
        "from": 2,
        "to": 3,
        "settings": {"blank": True},
    }


def test_provisional_region_counts_in_its_own_text() -> None:
    draft = RegionDraft("r", f"{SMILE}a\u2591", ((0, 1), (1, 2)), (0.9, 0.1), stable_prefix=1)

    wire = region_to_wire(draft)

    assert wire.settled == [(0, 2), (2, 3)]
    assert wire.stable_prefix == 2


def test_stable_prefix_of_a_pass_runs_over_all_regions() -> None:
    drafts = [RegionDraft("r", f"{SMILE}a", (), ()), RegionDraft("s", f"{SMILE}b", (), ())]

    assert stable_prefix_to_utf16(drafts, 3) == 5
