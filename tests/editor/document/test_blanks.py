"""What counts as a blank, and what only looks like one."""

from __future__ import annotations

import pytest

from editor.document.blanks import Blank, find_blanks, is_blank_marker


def markers(text: str) -> list[str]:
    return [blank.marker for blank in find_blanks(text)]


def test_every_form_is_found_with_its_place_and_name() -> None:
    text = "a [___] b ___ c {{ first name }} d *** e [MASK]."

    found = find_blanks(text)

    assert found == (
        Blank(2, 7, "[___]"),
        Blank(10, 13, "___"),
        Blank(16, 32, "{{ first name }}", "first name"),
        Blank(35, 38, "***"),
        Blank(41, 47, "[MASK]"),
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("DIAGNOSIS: ***.\n2. ***.", ["***", "***"]),
        ("with ***, then (***) and *** are", ["***", "***", "***"]),
        ('He said "***" and "***".', ["***", "***"]),
        ("Signature: ____________", ["____________"]),
        ("give ___mg, on the ___th", ["___", "___"]),
        ("by Dr.___ and Mr.___", ["___", "___"]),
        ("[___][___]", ["[___]", "[___]"]),
        ("[ ___ ] and [_____]", ["[ ___ ]", "[_____]"]),
        ("[{{name}}]", ["{{name}}"]),
        ("{{a}}{{b}}", ["{{a}}", "{{b}}"]),
        ("___", ["___"]),
        ("***", ["***"]),
        ("IMPRESSION:\n***\n\nPLAN:\n***\n", ["***", "***"]),
        ("Dear all,\n\n***\n", ["***"]),
        ("***bold*** and ***", ["***"]),
        ('***"quoted"*** then *** .', ["***"]),
    ],
)
def test_blank_is_found(text: str, wanted: list[str]) -> None:
    assert markers(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "***bold*** word",
        "___bold___ word",
        '("***bold***")',
        "***word",
        "a___b and snake___case",
        "/*** a comment ***/",
        "****1234",
        r"\*** escaped \___",
        "a\n\n***\n\nb",
        "a\n\n___\n\nb",
        "a\n \n  ***  \n\t\n***\n\nb",
        "---\n- - -\n===",
        "__ ** [__] [] [ ]",
        "{{}} {{ }} {{#if a}} {{/if}} {{> p}} {{! c}} {{{raw}}} {a}",
        "[mask] MASK [MASK",
        "_" * 201,
        "*" * 5_000,
        "___\u0301",  # the last underscore carries a mark: cutting there splits a character
    ],
)
def test_what_only_looks_like_a_blank_is_left_alone(text: str) -> None:
    assert markers(text) == []


def test_placeholder_of_underscores_has_no_name() -> None:
    assert find_blanks("{{ ___ }}") == (Blank(0, 9, "{{ ___ }}", None),)


@pytest.mark.parametrize("marker", ["[___]", "___", "{{name}}", "***", "[MASK]"])
def test_marker_alone_is_recognised(marker: str) -> None:
    assert is_blank_marker(marker)
    assert not is_blank_marker(f"{marker} x")


@pytest.mark.parametrize(
    "text", ["a\n\n" + "***\n\n" * 20_000, "{{" * 50_000, "[ " * 50_000, "***a" * 25_000]
)
def test_hostile_text_is_read_once(text: str) -> None:
    """A quadratic search would not come back within the time a test run may take."""
    assert len(find_blanks(text)) <= 1
