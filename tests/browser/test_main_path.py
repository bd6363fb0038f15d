"""Everything a person can do in the browser, once, in one go; screenshots of the main states."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor, Server

pytestmark = pytest.mark.browser

INTRODUCTION = "Our meeting is on Thursday 14 May at 09:30 in the harbour office."
# Long enough that its run takes seconds.
WORDY = "We would be very happy if you could perhaps come a bit early so that there is some time."


def test_main_path(page: Page, server: Server):
    """Point 2 of the main job: write, lock, mark, refine, review, reload, restore."""
    page.goto(f"{server.url}/?token={ACCESS_TOKEN}")
    editor = make_document(page, server)

    write_text(editor)
    lock_words(editor)
    check_blank_became_region(editor)
    mark_region(editor)
    refine_while_typing_elsewhere(editor)
    cancel_a_run(editor)
    reject_then_accept(editor)
    undo_and_redo_the_accept(editor)
    reload_and_compare(editor)
    restore_first_text(editor)


def make_document(page: Page, server: Server) -> Editor:
    expect(page.locator('.tl-save[data-kind="saved"]')).to_be_visible()
    before = page.url
    page.get_by_role("button", name="New document").click()
    expect(page).not_to_have_url(before)
    document_id = page.url.rsplit("/", 1)[-1]
    editor = Editor(page, server, document_id)
    editor.wait_saved()
    page.get_by_role("textbox", name="Title of the document").fill("Harbour meeting")
    page.keyboard.press("Enter")
    return editor


def write_text(editor: Editor) -> None:
    editor.page.locator(".cm-content").click()
    editor.type(f"{INTRODUCTION}\nPlease bring [___] with you. {WORDY}\n")
    editor.type("We look forward to it.")

    assert editor.text.startswith(INTRODUCTION)


def lock_words(editor: Editor) -> None:
    editor.select("Thursday 14 May")
    editor.press("Alt+Shift+L")

    expect(editor.page.locator(".tl-lock")).to_have_text("Thursday 14 May")
    locked = [span for span in editor.spans if span["kind"] == "locked"]
    assert [editor.text[span["from"] : span["to"]] for span in locked] == ["Thursday 14 May"]


def check_blank_became_region(editor: Editor) -> None:
    expect(editor.page.locator(".tl-blank")).to_have_text("[___]")
    regions = [span for span in editor.spans if span["kind"] == "region"]
    assert [region["settings"] for region in regions] == [{"blank": True}]


def mark_region(editor: Editor) -> None:
    editor.select(WORDY)
    editor.press("Alt+Shift+G")

    expect(editor.page.locator(".tl-region").last).to_have_text(WORDY)
    texts = [editor.text[s["from"] : s["to"]] for s in editor.spans if s["kind"] == "region"]
    assert texts == ["[___]", WORDY]


def refine_while_typing_elsewhere(editor: Editor) -> None:
    editor.put_caret("forward to it.")
    editor.refine()
    expect(editor.page.locator(".tl-draft")).to_have_count(2)
    editor.type(" Until then!")
    editor.shoot("main-run")

    editor.wait_run_over()
    expect(editor.page.locator("ins.tl-ins").first).to_be_visible()
    editor.shoot("main-review")
    assert editor.text.endswith("We look forward to it. Until then!")
    assert f"[___] with you. {WORDY}" in editor.text, "a suggestion is not document text"


def cancel_a_run(editor: Editor) -> None:
    reject_all(editor)
    editor.refine()
    editor.page.locator(".tl-dock .tl-stop").click()
    editor.wait_run_over()

    expect(editor.page.locator(".tl-status")).to_have_text(re.compile("^Stopped"))
    reject_all(editor)
    assert f"[___] with you. {WORDY}" in editor.text


def reject_all(editor: Editor) -> None:
    """Whatever the run offered; a stopped one may offer nothing, and says so before it is drawn."""
    said = editor.page.locator(".tl-status").inner_text()
    suggestions = editor.page.locator("ins.tl-ins")
    if "offered" in said or suggestions.count():
        editor.page.get_by_role("button", name="Reject all").first.click()
    expect(suggestions).to_have_count(0)


def reject_then_accept(editor: Editor) -> None:
    before = editor.text
    refine_to_the_end(editor)
    editor.press("F8")
    editor.press("Delete")
    expect(editor.page.locator(".tl-card")).to_have_count(0)
    assert editor.text == before, "rejecting leaves the text as it was"

    refine_to_the_end(editor)
    editor.press("F8")
    first = editor.page.locator("ins.tl-ins").inner_text()
    editor.press("ArrowRight")
    expect(editor.page.locator(".tl-card-count")).to_have_text(re.compile("^2 of"))
    second = editor.page.locator("ins.tl-ins").inner_text()
    assert second != first, "alternatives differ"
    editor.press("Enter")
    expect(editor.page.locator(".tl-card")).to_have_count(0)
    assert editor.text == before.replace("[___]", second)


def refine_to_the_end(editor: Editor) -> None:
    """Refine the blank alone: the caret is in it."""
    editor.put_caret("Please bring ")
    editor.refine()
    expect(editor.page.locator(".tl-card")).to_be_visible()


def undo_and_redo_the_accept(editor: Editor) -> None:
    """C1: an accepted run is one undo step, and the typing before it is still undoable."""
    accepted = editor.text
    editor.page.locator(".cm-content").focus()

    editor.press("Control+z")
    assert "[___]" in editor.text
    editor.press("Control+z")
    assert "Until then!" not in editor.text
    editor.press("Control+Shift+Z")
    editor.press("Control+Shift+Z")
    assert editor.text == accepted


def reload_and_compare(editor: Editor) -> None:
    before = (editor.text, [span["kind"] for span in editor.spans])
    editor.page.reload()
    editor.wait_saved()

    expect(editor.page.get_by_label("Title of the document")).to_have_value("Harbour meeting")
    expect(editor.page.locator(".tl-lock")).to_have_text("Thursday 14 May")
    assert (editor.text, [span["kind"] for span in editor.spans]) == before
    shown = editor.page.locator(".cm-line").all_inner_texts()
    assert [line.strip("\n") for line in shown] == editor.text.split("\n")


def restore_first_text(editor: Editor) -> None:
    editor.page.get_by_role("tab", name="History").click()
    rows = editor.page.locator(".tl-revision")
    expect(rows.first).to_be_visible()
    editor.shoot("main-history")
    revisions: list[dict[str, Any]] = editor.server.ask(
        f"/api/documents/{editor.document_id}/revisions"
    )["revisions"]
    accepted = next(row for row in revisions if row["author_kind"] == "model")
    earlier = next(row for row in revisions if row["n"] == accepted["n"] - 1)
    path = f"/api/documents/{editor.document_id}/revisions/{earlier['n']}"
    wanted = editor.server.ask(path)["text"]

    row = rows.filter(has=editor.page.locator(f'[title="Revision {earlier["n"]}"]'))
    row.get_by_role("button", name="Compare with now").click()
    expect(editor.page.locator("dialog ins, dialog del").first).to_be_visible()
    editor.shoot("main-compare")
    editor.page.get_by_role("button", name="Restore this text").click()

    expect(editor.page.locator(".tl-revision-restore").first).to_be_visible()
    assert editor.text == wanted
