"""Plain-text view: the same document in a textarea, differences as sentences (F5, R16)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser

TEXT = "Take 5 mg of the blue tablets. Bring [___] with you."


@pytest.fixture
def editor(open_editor: Any) -> Editor:
    lock, blank = TEXT.index("5 mg"), TEXT.index("[___]")
    made: Editor = open_editor(
        TEXT,
        spans=[
            {"kind": "locked", "from": lock, "to": lock + 4},
            {"kind": "region", "from": blank, "to": blank + 5, "settings": {"blank": True}},
        ],
    )
    return made


def plain(editor: Editor) -> Locator:
    editor.press("Alt+Shift+T")
    area = editor.page.get_by_label("Document text, plain")
    expect(area).to_be_focused()
    return area


def put_caret(area: Locator, at: int) -> None:
    area.evaluate("(element, at) => element.setSelectionRange(at, at)", at)


def test_F5_what_is_typed_there_is_the_document(editor: Editor):
    area = plain(editor)
    expect(area).to_have_value(TEXT)
    put_caret(area, len(TEXT))

    editor.type(" And 👩‍⚕️ too.")

    assert editor.text == f"{TEXT} And 👩‍⚕️ too."
    editor.press("Control+z")
    expect(area).to_have_value(re.compile(r"^Take 5 mg of the blue tablets\. Bring \[___\]"))
    editor.press("Alt+Shift+T")
    expect(area).to_have_count(0)
    expect(editor.page.locator(".cm-content")).to_be_focused()


def test_B4_a_lock_holds_there_too(editor: Editor):
    area = plain(editor)
    put_caret(area, TEXT.index("5 mg") + 1)

    editor.type("0")

    expect(area).to_have_value(TEXT)
    expect(editor.page.locator(".tl-status")).to_contain_text("locked")
    assert editor.text == TEXT


def test_what_others_write_appears_and_the_caret_stays(editor: Editor):
    area = plain(editor)
    at = TEXT.index("tablets")
    put_caret(area, at)
    other = editor.page.context.new_page()
    other.goto(f"{editor.server.url}/#/d/{editor.document_id}")
    second = Editor(other, editor.server, editor.document_id)
    second.wait_saved()

    second.put_caret("Take", after=False)
    second.type("Now: ")

    expect(area).to_have_value(f"Now: {TEXT}")
    assert area.evaluate("element => element.selectionStart") == at + len("Now: ")


def test_R16_suggestions_are_sentences_there_and_nothing_provisional_is_shown(editor: Editor):
    area = plain(editor)

    editor.press("Control+Shift+Enter")

    sentence = editor.page.locator(".tl-plain-differences li p")
    expect(sentence).to_have_text(re.compile(r"^Region 1: the blank became “[^”]+”\.$"))
    expect(area).to_have_value(TEXT)
    words = sentence.inner_text().split("“")[1].split("”")[0]
    editor.page.get_by_role("button", name="Accept region 1").click()

    expect(area).to_have_value(re.compile(re.escape(words)))
    assert editor.text == area.input_value()
    expect(editor.page.locator(".tl-plain-differences")).to_contain_text("No suggestions are open.")


def test_words_selected_there_can_be_locked(editor: Editor):
    area = plain(editor)
    start = TEXT.index("blue")
    area.evaluate("(element, at) => element.setSelectionRange(at, at + 4)", start)

    editor.press("Alt+Shift+L")

    expect(editor.page.locator(".tl-status")).to_have_text("Locked.")
    locked = [one for one in editor.spans if one["kind"] == "locked"]
    assert [TEXT[one["from"] : one["to"]] for one in locked] == ["5 mg", "blue"]


def test_T6_the_whole_text_pasted_again_changes_nothing(editor: Editor):
    area = plain(editor)
    before = editor.spans
    version = editor.page.locator(".tl-save").inner_text()
    area.select_text()

    editor.page.keyboard.insert_text(TEXT)

    expect(area).to_have_value(TEXT)
    assert editor.text == TEXT
    assert editor.spans == before
    assert editor.page.locator(".tl-save").inner_text() == version
