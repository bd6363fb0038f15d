"""Input methods within and beside what is drawn over the text (E6, E8).

CodeMirror's handling of compositions changes between versions: the pin at the end makes a person
look at these tests, and type on a phone, before a new one is taken.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import REPOSITORY, Editor

pytestmark = pytest.mark.browser

CHECKED_VIEW = "6.43.15"
TEXT = "One two three four five six seven."


def region_on(words: str, kind: str = "region") -> dict[str, Any]:
    start = TEXT.index(words)
    return {"kind": kind, "from": start, "to": start + len(words)}


def compose(editor: Editor, steps: list[str], result: str) -> None:
    """As an input method does: text that grows and changes, then the word that was meant."""
    devtools = editor.page.context.new_cdp_session(editor.page)
    for text in steps:
        devtools.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
    devtools.send("Input.insertText", {"text": result})


def marked(editor: Editor, kind: str) -> list[str]:
    text, spans = editor.text, editor.spans
    return [text[one["from"] : one["to"]] for one in spans if one["kind"] == kind]


def test_E6_an_input_method_composes_within_a_region(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[region_on("three four five")])
    editor.put_caret("three f")

    compose(editor, ["に", "にほ", "にほん"], "日本")

    assert editor.text == TEXT.replace("three four", "three f日本our")
    assert marked(editor, "region") == ["three f日本our five"]
    expect(editor.page.locator(".tl-region")).to_have_text("three f日本our five")


def test_E6_an_input_method_composes_within_a_region_at_work(open_editor: Any):
    """The draft steps aside, the run leaves the region, nothing provisional gets in."""
    editor: Editor = open_editor(TEXT, spans=[region_on("three four five")])
    editor.put_caret("three f")
    editor.press("Control+Enter")

    compose(editor, ["に", "にほ", "にほん"], "日本")

    editor.wait_run_over()
    assert editor.text == TEXT.replace("three four", "three f日本our")
    assert marked(editor, "region") == ["three f日本our five"]


def test_E6_an_input_method_composes_within_a_field(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[region_on("three", "field")])
    editor.put_caret("thr")

    compose(editor, ["ㅎ", "하", "한"], "한")

    assert editor.text == TEXT.replace("three", "thr한ee")
    assert marked(editor, "field") == ["thr한ee"]


def test_E6_a_composition_given_up_leaves_the_text_as_it_was(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[region_on("three four five")])
    editor.put_caret("three f")

    compose(editor, ["に", "にほ", ""], "")

    assert editor.text == TEXT
    assert marked(editor, "region") == ["three four five"]


@pytest.mark.parametrize(
    ("beside", "is_after", "expected"),
    [("three", False, "One two かなthree four"), ("five", True, "four fiveかな six")],
    ids=["before", "after"],
)
def test_E8_composing_at_a_border_leaves_the_border(
    open_editor: Any, beside: str, is_after: bool, expected: str
):
    """Phones compose every word: what is written against a region's edge stays outside."""
    editor: Editor = open_editor(TEXT, spans=[region_on("three four five")])
    editor.put_caret(beside, after=is_after)

    compose(editor, ["k", "か", "かn"], "かな")

    assert expected in editor.text
    assert marked(editor, "region") == ["three four five"]


def test_E8_a_word_composed_anew_at_a_border_leaves_the_border(open_editor: Any):
    """An Android keyboard takes the word before the caret back and writes it again, longer."""
    editor: Editor = open_editor(TEXT, spans=[region_on("three four five")])
    editor.put_caret("four five")
    start = TEXT.index("five")
    devtools = editor.page.context.new_cdp_session(editor.page)
    devtools.send(
        "Input.imeSetComposition",
        {
            "text": "fives",
            "selectionStart": 5,
            "selectionEnd": 5,
            "replacementStart": start,
            "replacementEnd": start + len("five"),
        },
    )
    devtools.send("Input.insertText", {"text": "fives"})

    assert editor.text == TEXT.replace("five", "fives")
    assert marked(editor, "region") == ["three four five"]


def test_E6_the_editor_is_the_version_these_tests_were_checked_with():
    packages = json.loads((REPOSITORY / "static" / "package.json").read_text(encoding="utf-8"))

    assert packages["dependencies"]["@codemirror/view"] == CHECKED_VIEW
