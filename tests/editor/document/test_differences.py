"""Differences are small: what both texts share is not part of the edit."""

from __future__ import annotations

import pytest

from editor.document.differences import (
    align_around,
    compare_texts,
    find_changes,
    find_changes_around,
)


def changed_ranges(old: str, new: str) -> list[tuple[str, str]]:
    return [
        (old[change.start : change.end], change.inserted)
        for change in find_changes(old, new).changes
    ]


def test_equal_texts_differ_in_nothing() -> None:
    assert find_changes("some text\n", "some text\n").is_empty


def test_one_word_marks_one_word() -> None:
    assert changed_ranges("the old cat sat", "the new cat sat") == [("old", "new")]


def test_shared_middle_stays() -> None:
    old, new = "alpha KEEP this beta", "gamma KEEP this delta"

    assert changed_ranges(old, new) == [("alpha", "gamma"), ("beta", "delta")]


def test_unchanged_lines_between_changed_ones_stay() -> None:
    old, new = "a\nkeep\nb\n", "x\nkeep\ny\n"

    assert changed_ranges(old, new) == [("a", "x"), ("b", "y")]


def test_character_is_never_cut() -> None:
    family, couple = "\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f469"

    assert changed_ranges(f"a {family} b", f"a {couple} b") == [(family, couple)]


def test_long_texts_that_share_no_line_are_replaced_in_one_piece() -> None:
    old = "\n".join(f"old {n}" for n in range(3_000))
    new = "\n".join(f"new {n}" for n in range(3_000))

    assert find_changes(old, new).apply(old) == new


def test_kept_text_is_left_alone_even_where_a_shorter_edit_would_move_it() -> None:
    old, new = "the a the", "x the y the z"

    changes = find_changes_around(old, new, [(0, 3), (6, 9)])

    assert changes is not None
    assert changes.apply(old) == new
    assert all(change.end <= 0 or change.start >= 3 for change in changes.changes)


def test_text_that_is_no_longer_there_cannot_be_kept() -> None:
    assert find_changes_around("one two", "two one", [(0, 3), (4, 7)]) is None


def test_kept_text_is_found_where_it_stands_on_its_own() -> None:
    assert align_around("5", "15 or 5 or 50", [(0, 1)]) == [
        ("", "15 or "),
        ("5", "5"),
        ("", " or 50"),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("one two three", "one 2 three"),
        ("", "new"),
        ("old", ""),
        ("same", "same"),
        ("a\nb\nc", "a\nB\nc d"),
    ],
)
def test_C7_parts_give_both_texts(old: str, new: str) -> None:
    parts = compare_texts(old, new)

    assert "".join(part.text for part in parts if part.kind != "added") == old
    assert "".join(part.text for part in parts if part.kind != "removed") == new
    assert all(part.text for part in parts)


def test_D2_a_changed_word_is_one_removed_and_one_added() -> None:
    parts = compare_texts("one two three", "one 2 three")

    assert [(part.kind, part.text) for part in parts] == [
        ("kept", "one "),
        ("removed", "two"),
        ("added", "2"),
        ("kept", " three"),
    ]
