"""UTF-16 and code points, in the one place that knows both."""

from __future__ import annotations

import pytest

from editor.errors import InvalidOffset
from editor.protocol.offsets import OffsetMap, lengths_to_code_points, lengths_to_utf16

TEXT = "A\U0001f469\u200d\u2695\ufe0fe\u0301\U0001f1ec\U0001f1e7B"  # trap T11: 12 units, 9 signs


def test_lengths_of_the_trap_text() -> None:
    offsets = OffsetMap(TEXT)

    assert (offsets.length, offsets.utf16_length) == (10, 13)


def test_offset_inside_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InvalidOffset, match="UTF-16 offset 2 splits a surrogate pair"):
        OffsetMap(TEXT).to_code_points(2)


@pytest.mark.parametrize("offset", [-1, 14])
def test_utf16_offset_outside_is_refused(offset: int) -> None:
    with pytest.raises(InvalidOffset, match="allowed is 0 to 13"):
        OffsetMap(TEXT).to_code_points(offset)


@pytest.mark.parametrize("offset", [-1, 11])
def test_code_point_offset_outside_is_refused(offset: int) -> None:
    with pytest.raises(InvalidOffset, match="allowed is 0 to 10"):
        OffsetMap(TEXT).to_utf16(offset)


@pytest.mark.parametrize(
    ("lengths", "words"),
    [([2, 11], "offset 2 splits"), ([1, 11], "cover 12"), ([1, 13], "cover 14"), ([], "cover 0")],
)
def test_stretches_that_do_not_fit_are_refused(lengths: list[int], words: str) -> None:
    with pytest.raises(InvalidOffset, match=words):
        lengths_to_code_points(TEXT, lengths)


def test_stretches_go_both_ways() -> None:
    assert lengths_to_code_points(TEXT, [1, 2, 10]) == [1, 1, 8]
    assert lengths_to_utf16(TEXT, [1, 1, 8]) == [1, 2, 10]
