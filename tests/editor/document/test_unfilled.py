"""What is not filled is found before a document is final (H1 to H3, H9)."""

from __future__ import annotations

import pytest

from editor.document.spans import Span
from editor.document.unfilled import find_unfilled, has_placeholder


def found(text: str, *spans: Span) -> list[tuple[str, str, str | None]]:
    return [(text[o.start : o.end], o.reason, o.span_id) for o in find_unfilled(text, spans)]


@pytest.mark.parametrize("marker", ["[___]", "___", "{{name}}", "***", "[MASK]"])
def test_H3_a_blank_is_unfilled_with_or_without_a_region(marker: str) -> None:
    text = f"Dear {marker}, hello"
    region = Span("region", "region", 5, 5 + len(marker))

    assert found(text) == [(marker, "blank", None)]
    assert found(text, region) == [(marker, "blank", "region")]


@pytest.mark.parametrize("glyph", ["\u2591\u2591\u2591", "<mask>", "<|mask|>"])
def test_H3_a_mask_glyph_is_unfilled(glyph: str) -> None:
    assert found(f"a {glyph} b") == [(glyph, "glyph", None)]


@pytest.mark.parametrize("value", ["none", "N/A", " - ", "TBD", "…"])
def test_H2_a_required_field_that_says_nothing_is_empty(value: str) -> None:
    field = Span("field", "field", 2, 2 + len(value), {"required": True})

    assert found(f"a {value} b", field) == [(value, "field", "field")]


@pytest.mark.parametrize("value", ["None of the above", "no", "0", "nonexistent"])
def test_H2_an_answer_is_not_nothing(value: str) -> None:
    field = Span("field", "field", 2, 2 + len(value), {"required": True})

    assert found(f"a {value} b", field) == []


def test_H9_a_default_is_not_confirmed() -> None:
    settings = {"required": True, "default": "two"}

    assert found("one two", Span("f", "field", 4, 7, settings)) == [("two", "default", "f")]


def test_H1_only_required_fields_count() -> None:
    assert found("a none b", Span("field", "field", 2, 6)) == []


def test_a_place_is_told_once() -> None:
    field = Span("field", "field", 2, 7, {"required": True})

    assert found("a [___] b", field) == [("[___]", "blank", "field")]


def test_emphasis_and_rules_are_no_blanks() -> None:
    assert found("***bold*** text\n\n***\n\nmore") == []


@pytest.mark.parametrize(("line", "expected"), [("Letter to {{name}}", True), ("Letter", False)])
def test_H3_a_title_may_hold_a_placeholder(line: str, expected: bool) -> None:
    assert has_placeholder(line) is expected
