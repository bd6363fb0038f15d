"""Offsets against the encoding they stand for."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from editor.document.text import is_grapheme_border
from editor.errors import InvalidOffset
from editor.protocol.offsets import OffsetMap, lengths_to_code_points, lengths_to_utf16
from editor.protocol.translate import changes_from_wire, changes_to_wire
from tests.laws.strategies import change_sets, texts

run = settings(max_examples=150, deadline=None)
any_text = st.one_of(texts, st.text(max_size=24))


def units_before(text: str, offset: int) -> int:
    return len(text[:offset].encode("utf-16-le")) // 2


@run
@given(any_text)
def test_both_ways_agree_with_the_encoding(text: str) -> None:
    offsets = OffsetMap(text)

    for offset in range(len(text) + 1):
        assert offsets.to_utf16(offset) == units_before(text, offset)
        assert offsets.to_code_points(offsets.to_utf16(offset)) == offset


@run
@given(any_text)
def test_exactly_the_insides_of_pairs_are_refused(text: str) -> None:
    offsets = OffsetMap(text)
    borders = {units_before(text, offset) for offset in range(len(text) + 1)}

    for unit in range(offsets.utf16_length + 1):
        if unit in borders:
            assert units_before(text, offsets.to_code_points(unit)) == unit
        else:
            with pytest.raises(InvalidOffset):
                offsets.to_code_points(unit)


@run
@given(any_text, st.data())
def test_stretches_round_trip(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    ends = [0, *cuts, len(text)]
    lengths = [end - start for start, end in pairwise(ends)]

    assert lengths_to_code_points(text, lengths_to_utf16(text, lengths)) == lengths


@run
@given(texts, st.data())
def test_change_sets_survive_the_wire(text: str, data: st.DataObject) -> None:
    changes = data.draw(change_sets(len(text)))

    wire = changes_to_wire(changes, text)

    assert changes_from_wire(wire, text) == changes
    assert changes_from_wire(wire, text).apply(text) == changes.apply(text)


@run
@given(any_text)
def test_grapheme_borders_are_code_point_borders(text: str) -> None:
    """E9: what is stored never cuts a character, so it is well-formed in UTF-16 too."""
    offsets = OffsetMap(text)

    for offset in range(len(text) + 1):
        if is_grapheme_border(text, offset):
            text[:offset].encode("utf-16-le")
            assert offsets.to_code_points(offsets.to_utf16(offset)) == offset
