"""Markdown structure inside a region is found, and stays through a filling (B5)."""

from __future__ import annotations

import pytest

from editor.document.markup import REACH_CODE_POINTS, find_markup, markup_in
from editor.document.spans import Span
from editor.document.suggestions import place
from editor.errors import LockViolation


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in find_markup(text)]


def kept_in(text: str, part: str, **settings: object) -> list[str]:
    start = text.index(part)
    region = Span("region", "region", start, start + len(part), settings)
    return [text[low:high] for low, high in markup_in(text, region)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [the page](http://a.b/c) now", ["[", "](http://a.b/c)"]),
        ('a [b](c "title") d', ["[", '](c "title")']),
        ("a [b](c_(d)) e", ["[", "](c_(d))"]),
        ("![a cat](cat.png)", ["![", "](cat.png)"]),
        ("a [b][ref] c", ["[", "][ref]"]),
        ("run `rm -r` and ``a`b``", ["`rm -r`", "``a`b``"]),
        ("# One\ntext\n### Two", ["# ", "### "]),
        ("go to https://a.b/c. Then <https://d.e>", ["https://a.b/c", "<https://d.e>"]),
        ("```py\n# no heading\n```\nend", ["```py\n# no heading\n```"]),
        ("`[a](b)`", ["`[a](b)`"]),
        ("plain (text) with [brackets], * and #5", []),
        ("an open ` tick and ]( nothing", []),
    ],
)
def test_B5_markup_is_found(text: str, expected: list[str]) -> None:
    assert found(text) == expected


def test_markup_that_reaches_over_a_border_is_cut_to_the_region() -> None:
    assert kept_in("see [the page](http://a.b) now", "page](http://") == ["](http://"]


def test_markup_outside_the_region_is_not_its_concern() -> None:
    assert kept_in("`a` words `b`", "words") == []


@pytest.mark.parametrize(
    ("part", "settings"), [("[___]", {}), ("[words](b)", {"lock_markup": False})]
)
def test_blanks_and_regions_that_say_so_lock_nothing(part: str, settings: dict[str, bool]) -> None:
    assert kept_in("a [words](b) c [___](d)", part, **settings) == []


def test_a_line_of_any_length_is_read_only_near_the_region() -> None:
    text = "`" + "a" * (REACH_CODE_POINTS + 10) + " words` " + "`b` " * 100_000

    assert kept_in(text, "words") == []


def test_B5_filling_that_leaves_out_a_target_is_refused() -> None:
    text = "see [the page](http://a.b) now"
    region = Span("region", "region", 0, len(text))

    with pytest.raises(LockViolation, match="Markdown structure"):
        place(text, [region], {"region": "see the page now"})


def test_B5_filling_around_the_markup_is_placed() -> None:
    text = "see [the page](http://a.b) now"
    region = Span("region", "region", 0, len(text))

    placement = place(text, [region], {"region": "read [that page](http://a.b) today"})

    assert placement.changes.apply(text) == "read [that page](http://a.b) today"


def test_filling_may_drop_markup_when_the_region_allows_it() -> None:
    text = "see [the page](http://a.b) now"
    region = Span("region", "region", 0, len(text), {"lock_markup": False})

    placement = place(text, [region], {"region": "see the page now"})

    assert placement.changes.apply(text) == "see the page now"
