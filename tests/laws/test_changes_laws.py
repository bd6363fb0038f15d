"""The laws that make change sets an algebra, on random texts and edits."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from editor.document.changes import ChangeSet
from editor.document.differences import find_changes
from tests.laws.strategies import change_sets, texts

run = settings(max_examples=120, deadline=None)


@run
@given(st.data(), texts)
def test_composing_is_applying_in_turn(data: st.DataObject, text: str) -> None:
    a = data.draw(change_sets(len(text)))
    b = data.draw(change_sets(a.new_length))

    assert a.compose(b).apply(text) == b.apply(a.apply(text))


@run
@given(st.data(), texts)
def test_composing_is_associative(data: st.DataObject, text: str) -> None:
    a = data.draw(change_sets(len(text)))
    b = data.draw(change_sets(a.new_length))
    c = data.draw(change_sets(b.new_length))

    assert a.compose(b).compose(c).apply(text) == a.compose(b.compose(c)).apply(text)


@run
@given(st.data(), texts)
def test_inverse_leads_back(data: st.DataObject, text: str) -> None:
    a = data.draw(change_sets(len(text)))
    inverse = a.invert(text)

    assert inverse.apply(a.apply(text)) == text
    assert inverse.invert(a.apply(text)).apply(text) == a.apply(text)


@run
@given(st.data(), texts)
def test_two_edits_converge_in_either_order(data: st.DataObject, text: str) -> None:
    a = data.draw(change_sets(len(text)))
    b = data.draw(change_sets(len(text)))

    a_first = a.compose(b.map_over(a))
    b_first = b.compose(a.map_over(b, before=True))

    assert a_first.apply(text) == b_first.apply(text)


@run
@given(st.data(), texts)
def test_lengths_are_those_of_the_texts(data: st.DataObject, text: str) -> None:
    a = data.draw(change_sets(len(text)))

    assert a.length == len(text)
    assert a.new_length == len(a.apply(text))


@run
@given(st.data(), texts)
def test_json_holds_all_of_a_change_set(data: st.DataObject, text: str) -> None:
    a = data.draw(change_sets(len(text)))

    assert ChangeSet.from_json(a.to_json()) == a


@run
@given(st.data(), texts, st.sampled_from([-1, 1]))
def test_positions_keep_their_order(data: st.DataObject, text: str, assoc: int) -> None:
    a = data.draw(change_sets(len(text)))

    mapped = [a.map_position(position, assoc=assoc) for position in range(len(text) + 1)]

    assert mapped == sorted(mapped)
    assert all(0 <= position <= a.new_length for position in mapped)


@run
@given(st.data(), texts)
def test_changed_ranges_rebuild_the_text(data: st.DataObject, text: str) -> None:
    a = data.draw(change_sets(len(text)))

    rebuilt, position = "", 0
    for change in a.changes:
        rebuilt += text[position : change.start]
        assert change.new_start == len(rebuilt)
        rebuilt += change.inserted
        position = change.end

    assert rebuilt + text[position:] == a.apply(text)


@run
@given(texts, texts)
def test_found_difference_leads_from_one_text_to_the_other(old: str, new: str) -> None:
    assert find_changes(old, new).apply(old) == new
