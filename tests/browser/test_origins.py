"""Where the words come from: typed, pasted, from a run; told apart without colour (D6)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser


def test_D6_origins_are_drawn_on_demand_and_follow_edits(open_editor: Any):
    editor: Editor = open_editor("Start 👩‍⚕️ here. Bring [___] too.")
    editor.put_caret("here")
    editor.type(" typed")
    editor.paste(" pasted words")
    editor.wait_saved()
    editor.press("Control+Shift+Enter")
    expect(editor.page.locator(".tl-card")).to_be_visible(timeout=30_000)
    editor.wait_run_over()
    editor.press("F8")
    words = editor.page.locator(".cm-line ins").inner_text()
    editor.press("Enter")
    editor.wait_saved()

    editor.press("Alt+Shift+W")

    bar = editor.page.get_by_role("group", name="Where the words come from")
    expect(bar).to_be_visible()
    pasted = editor.page.locator(".cm-line .tl-origin-pasted")
    expect(pasted).to_have_text(" pasted words")
    expect(editor.page.locator(".cm-line .tl-origin-model")).to_have_text(words)
    typed = editor.page.locator(".cm-line .tl-origin", has_text="typed")
    expect(typed).to_have_count(0)

    lines = {
        name: editor.page.locator(f".cm-line .tl-origin-{name}").first.evaluate(
            "element => getComputedStyle(element).textDecorationStyle"
        )
        for name in ("pasted", "model")
    }
    assert lines == {"pasted": "double", "model": "wavy"}

    editor.put_caret("Start")
    editor.type("ed")
    editor.paste(" again")
    expect(pasted).to_have_text([" again", " pasted words"])
    editor.press("Alt+Shift+W")
    expect(editor.page.locator(".tl-origin").first).to_be_hidden()


def test_D6_undo_brings_back_what_was_pasted_as_pasted(open_editor: Any):
    editor: Editor = open_editor("Start.")
    editor.put_caret("Start")
    editor.paste(" with pasted words")
    editor.wait_saved()
    editor.select("with pasted words")
    editor.press("Delete")
    editor.wait_saved()
    editor.press("Control+z")
    editor.wait_saved()

    editor.press("Alt+Shift+W")

    expect(editor.page.locator(".cm-line .tl-origin-pasted")).to_contain_text("with pasted words")
