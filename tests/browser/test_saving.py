"""What is not saved yet: kept in order, told on leaving, always readable (A6, A14, A17, C5)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from playwright.sync_api import Dialog, expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser

OFFLINE = "Offline – kept on this device"
_KEPT = """async () => {
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open('tideline', 1)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const store = database.transaction('records').objectStore('records')
  const records = await new Promise(resolve => {
    const request = store.getAll()
    request.onsuccess = () => resolve(request.result)
  })
  database.close()
  return records.map(({documentId, changes}) => [documentId, changes.length])
}"""


def go_offline(editor: Editor) -> None:
    editor.page.context.set_offline(True)
    editor.page.evaluate("window.dispatchEvent(new Event('offline'))")
    expect(editor.page.locator(".tl-save")).to_have_text(OFFLINE)


def kept(editor: Editor) -> list[list[Any]]:
    """Documents with unacknowledged edits on this device, and how many."""
    return list(editor.page.evaluate(_KEPT))


def test_A6_unacknowledged_edits_are_on_the_device_and_go_once_in_order(open_editor: Any):
    editor: Editor = open_editor("Start.")
    editor.put_caret("Start")
    go_offline(editor)

    for word in ("one", "two", "three"):
        editor.type(f" {word}")
    editor.page.wait_for_function(f"async () => (await ({_KEPT})()).length === 1")
    assert kept(editor)[0][0] == editor.document_id
    editor.page.context.set_offline(False)

    assert editor.text == "Start one two three."
    editor.page.wait_for_function(f"async () => (await ({_KEPT})()).length === 0")


def test_A14_leaving_asks_only_with_text_that_is_not_saved(open_editor: Any):
    editor: Editor = open_editor("Start.")
    asked: list[str] = []

    def note(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    editor.page.on("dialog", note)
    editor.put_caret("Start")
    editor.type("ed")
    editor.wait_saved()
    editor.page.reload()
    editor.wait_saved()
    assert asked == []

    editor.put_caret("Started")
    go_offline(editor)
    editor.type(" again")
    editor.page.context.set_offline(False)
    editor.page.evaluate("window.dispatchEvent(new Event('offline'))")
    expect(editor.page.locator(".tl-save")).to_have_text(OFFLINE)
    editor.page.reload()

    editor.wait_saved()
    assert asked == ["beforeunload"]
    assert editor.text == "Started again."


def test_A17_offline_the_text_stays_readable_and_selectable(open_editor: Any):
    editor: Editor = open_editor("Readable and selectable.")
    go_offline(editor)

    editor.select("selectable")

    assert editor.page.evaluate("getSelection().toString()") == "selectable"
    expect(editor.page.locator(".cm-line").first).to_have_text("Readable and selectable.")
    expect(editor.page.get_by_role("alert")).to_contain_text("Connection lost")
    editor.page.context.set_offline(False)
    editor.wait_saved()


def test_C5_any_walk_of_undo_and_redo_ends_in_a_text_that_was(open_editor: Any):
    """Typing, an accepted run and a deletion, walked back and forth, then to both ends."""
    editor: Editor = open_editor("Bring [___] with you, please.")
    seen = {editor.text}
    editor.press("Control+Shift+Enter")
    expect(editor.page.locator(".tl-card")).to_be_visible(timeout=60_000)
    editor.wait_run_over()
    editor.press("Alt+Shift+Y")
    expect(editor.page.locator(".tl-card")).to_have_count(0)
    seen.add(editor.text)
    editor.put_caret("please")
    editor.type(" do")
    seen.add(editor.text)
    editor.select("with you")
    editor.press("Delete")
    seen.add(editor.text)
    rng = random.Random(5)

    for _ in range(24):
        editor.press(rng.choice(["Control+z", "Control+z", "Control+Shift+Z"]))
    for _ in range(8):
        editor.press("Control+z")
    first = editor.text
    for _ in range(12):
        editor.press("Control+Shift+Z")

    assert first == "Bring [___] with you, please."
    assert editor.text in seen
    assert editor.text == max(seen, key=lambda text: ("please do" in text, "with you" not in text))


def test_B6_a_number_that_would_go_is_named_in_words(open_editor: Any):
    text = "Take 5 mg twice a day."
    editor: Editor = open_editor(text, spans=[{"kind": "region", "from": 5, "to": 15}])

    editor.press("Control+Shift+Enter")

    flags = editor.page.locator(".tl-card .tl-flags")
    expect(flags).to_contain_text("5 mg", timeout=60_000)
    expect(flags.locator("li").first).to_contain_text("dropped: 5 mg")
    panel = editor.page.locator(".tl-suggestion .tl-flags")
    expect(panel).to_contain_text("5 mg")
    assert editor.text == text


def test_F3_R2_one_status_line_is_there_from_the_start(open_editor: Any):
    editor: Editor = open_editor("Text.")
    status = editor.page.locator(".tl-foot [role=status]")

    expect(status).to_have_count(1)
    expect(status).to_be_visible()
    assert (
        editor.page.locator(".cm-editor [role=status], .cm-editor [aria-live]").evaluate_all(
            "all => all.filter(one => one.closest('.cm-content') || one.textContent).length"
        )
        == 0
    )
