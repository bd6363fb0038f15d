"""Line ends, unusable texts and grapheme borders."""

from __future__ import annotations

import pytest
import regex  # type: ignore[import-untyped]

from editor.document.text import (
    check_offset,
    check_text,
    is_grapheme_border,
    is_typing_border,
    normalise_line_ends,
    text_hash,
)
from editor.errors import InvalidOffset, InvalidText, TooLarge

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1ec\U0001f1e7"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("a\r\nb\rc\nd", "a\nb\nc\nd"), ("\r\r\n\r", "\n\n\n"), ("", ""), ("plain", "plain")],
)
def test_line_ends_become_newlines(given: str, wanted: str) -> None:
    assert normalise_line_ends(given) == wanted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\ud83d", "unpaired surrogate at code point 1"),
        ("\udc69b", "unpaired surrogate at code point 0"),
        ("ab\x00", "NUL at code point 2"),
        ("a\rb", "code point 1"),
    ],
)
def test_unusable_text_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(InvalidText, match=words):
        check_text(text, limit=10)


def test_text_above_the_limit_is_refused_with_both_numbers() -> None:
    with pytest.raises(TooLarge, match="1,001 code points; the limit is 1,000"):
        check_text("a" * 1_001, limit=1_000)


def test_text_at_the_limit_is_accepted() -> None:
    check_text(FAMILY + "[MASK] <|endoftext|>\n", limit=len(FAMILY) + 21)


@pytest.mark.parametrize(
    "text",
    [
        f"a{FAMILY}b",
        FLAG * 3,
        f"x{FLAG}y{FLAG}",
        "e\u0301\u0302x",
        "\u0915\u094d\u0937\u093f\u0915",  # one conjunct with a vowel sign, then a letter
        "\u1100\u1161\u11a8\uac00\uac01\u11a8",
        "\u0600123",  # a sign that takes the digit behind it
        "a\r\nb",
        "\u5b57" * 40,
        "1\ufe0f\u20e3",
    ],
)
def test_borders_are_those_of_a_scan_from_the_beginning(text: str) -> None:
    borders = {0} | {found.end() for found in regex.finditer(r"\X", text)}

    found = {offset for offset in range(len(text) + 1) if is_grapheme_border(text, offset)}

    assert found == borders


def test_border_looks_only_a_little_back() -> None:
    text = "\u5b57\n" * 100_000 + FAMILY

    assert is_grapheme_border(text, 200_000)
    assert not is_grapheme_border(text, 200_001)


@pytest.mark.parametrize("offset", [-1, 4])
def test_offset_outside_is_refused(offset: int) -> None:
    with pytest.raises(InvalidOffset, match="allowed is 0 to 3"):
        check_offset("abc", offset)


def test_offset_inside_a_grapheme_is_refused() -> None:
    with pytest.raises(InvalidOffset, match="splits a grapheme"):
        check_offset(FAMILY, 1)


@pytest.mark.parametrize(
    ("text", "offset"),
    [("e\u0301", 1), ("\u0915\u094d\u0937", 2), ("\u0e01\u0e33", 1), ("\u1100\u1161", 1)],
)
def test_typing_may_cut_marks_conjuncts_and_jamo(text: str, offset: int) -> None:
    assert is_typing_border(text, offset)


@pytest.mark.parametrize(
    ("text", "offset"),
    [(FAMILY, 1), (FAMILY, 2), (FLAG, 1), ("\u2764\ufe0f", 1), ("\U0001f44d\U0001f3fd", 1)],
)
def test_typing_may_not_cut_emoji(text: str, offset: int) -> None:
    assert not is_typing_border(text, offset)


def test_hash_is_that_of_the_utf8_bytes() -> None:
    assert text_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
