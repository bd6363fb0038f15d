"""Named versions, a timeline by day, any two versions compared, restore as a new one (C7, D5)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser


def name_version(editor: Editor, name: str) -> None:
    editor.press("Control+s")
    expect(editor.page.get_by_role("dialog", name="Name this version")).to_be_visible()
    editor.type(name)
    editor.press("Enter")
    expect(editor.page.locator(".tl-status")).to_have_text(f"This version is named {name}.")


def history(editor: Editor) -> Locator:
    editor.page.get_by_role("tab", name="History").click()
    return editor.page.locator(".tl-revision")


def revisions(editor: Editor) -> list[dict[str, Any]]:
    answer = editor.server.ask(f"/api/documents/{editor.document_id}/revisions")
    return list(answer["revisions"])


def three_versions(open_editor: Any) -> Editor:
    editor: Editor = open_editor("The ferry leaves at nine.\n\nBring a coat.")
    name_version(editor, "First")
    editor.select("nine")
    editor.type("ten")
    name_version(editor, "Second")
    editor.put_caret("a coat")
    editor.type(" and boots")
    name_version(editor, "Third")
    history(editor)
    expect(editor.page.locator(".tl-revision-name")).to_have_text(["Third", "Second", "First"])
    return editor


def test_a_name_is_kept_with_its_text_and_survives_a_reload(open_editor: Any):
    editor: Editor = open_editor("Some text.")
    editor.put_caret("text")
    editor.type(" more")

    name_version(editor, "Sent to the clinic")

    assert editor.text == "Some text more."
    named = [row for row in revisions(editor) if row["name"] is not None]
    assert [row["name"] for row in named] == ["Sent to the clinic"]
    path = f"/api/documents/{editor.document_id}/revisions/{named[0]['n']}"
    assert editor.server.ask(path)["text"] == "Some text more."
    editor.page.reload()
    editor.wait_saved()
    history(editor)
    expect(editor.page.locator(".tl-revision-name")).to_have_text("Sent to the clinic")


def test_naming_can_be_left_and_an_empty_name_is_not_taken(open_editor: Any):
    editor: Editor = open_editor("Some text.")
    before = len(revisions(editor))
    editor.put_caret("text")

    editor.press("Control+s")
    dialog = editor.page.get_by_role("dialog", name="Name this version")
    editor.press("Enter")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_label("Name", exact=True)).to_be_focused()
    editor.press("Escape")

    expect(dialog).to_have_count(0)
    expect(editor.page.locator(".cm-content")).to_be_focused()
    assert len(revisions(editor)) == before


def test_C7_any_two_versions_are_compared_and_the_older_restored(open_editor: Any):
    editor = three_versions(open_editor)
    oldest = editor.page.locator(".tl-revision", has_text="First")
    oldest.get_by_role("button", name="Compare with now").click()
    dialog = editor.page.get_by_role("dialog", name="Compare versions")
    expect(dialog.locator("del")).to_have_text(["nine"])
    expect(dialog.locator("ins")).to_have_text(["ten", " and boots"])
    expect(dialog.get_by_role("status")).to_have_text("2 changes.")

    second = next(row for row in revisions(editor) if row["name"] == "Second")
    dialog.get_by_label("After", exact=True).last.select_option(str(second["n"]))
    expect(dialog.locator("ins")).to_have_text(["ten"])
    dialog.get_by_text("Side by side").click()
    row = dialog.locator(".tl-side-changed p")
    expect(row).to_have_text(["The ferry leaves at nine.", "The ferry leaves at ten."])
    dialog.get_by_role("button", name="Restore this text").click()

    expect(editor.page.locator(".tl-revision-restore")).to_have_count(1)
    assert editor.text == "The ferry leaves at nine.\n\nBring a coat."
    assert revisions(editor)[-1]["author_kind"] == "restore"


def test_D2_a_removed_line_end_is_seen_in_the_comparison(open_editor: Any):
    editor: Editor = open_editor("One.\nTwo.")
    editor.put_caret("One.")
    editor.press("Delete")
    assert editor.text == "One.Two."
    history(editor)

    editor.page.get_by_role("button", name="Compare with now").last.click()

    dialog = editor.page.get_by_role("dialog", name="Compare versions")
    expect(dialog.locator("del")).to_have_text("¶")


def test_changes_are_walked_in_the_comparison(open_editor: Any):
    editor = three_versions(open_editor)
    editor.page.locator(".tl-revision", has_text="First").get_by_role(
        "button", name="Compare with now"
    ).click()
    dialog = editor.page.get_by_role("dialog", name="Compare versions")
    active = dialog.locator(".tl-active")

    dialog.get_by_role("button", name="Next change").click()
    expect(active).to_have_text("nineten")
    dialog.get_by_role("button", name="Next change").click()
    expect(active).to_have_text(" and boots")
    dialog.get_by_role("button", name="Previous change").click()
    expect(active).to_have_text("nineten")


def test_D5_suggestions_that_are_or_were_open_show_in_the_history(open_editor: Any):
    text = "The ferry leaves at [___] from the pier."
    editor: Editor = open_editor(text)
    editor.refine()
    expect(editor.page.locator(".tl-card")).to_be_visible(timeout=60_000)
    editor.wait_run_over()
    name_version(editor, "Under review")
    first = history(editor).first
    expect(first).to_contain_text("This is the text now. 1 suggestion is open.")

    editor.put_caret("pier")
    editor.type(" there")
    editor.wait_saved()
    row = editor.page.locator(".tl-revision", has_text="Under review")
    row.get_by_role("button", name="Compare with now").click()

    comparison = editor.page.get_by_role("dialog", name="Compare versions")
    expect(comparison.get_by_role("status")).to_have_text("1 change. 1 suggestion was open.")


def finalise(editor: Editor) -> Locator:
    editor.page.get_by_role("button", name="Finalise this document").click()
    return editor.page.get_by_role("dialog", name="Finalise this document")


def test_R18_finalising_shows_the_text_asks_and_can_be_written_on(open_editor: Any):
    editor: Editor = open_editor("The ferry leaves at nine.")
    editor.put_caret("nine")
    editor.type(" sharp")

    dialog = finalise(editor)
    shown = dialog.get_by_role("region", name="Text of the final version")
    expect(shown).to_have_text("The ferry leaves at nine sharp.")
    assert [row["name"] for row in revisions(editor) if row["name"]] == [], "nothing before the yes"
    dialog.get_by_label("Name").fill("To the harbour")
    dialog.get_by_role("button", name="Finalise").click()

    expect(dialog.get_by_role("status")).to_have_text(
        re.compile(
            r"^r\d+ is final\. Writing on begins a new version; this one stays in History\.$"
        )
    )
    expect(editor.page.locator(".tl-status")).to_have_text("This version is named To the harbour.")
    with editor.page.expect_download() as download:
        dialog.get_by_role("link", name="Plain text").click()
    assert download.value.path().read_text(encoding="utf-8") == "The ferry leaves at nine sharp."

    editor.press("Escape")
    editor.put_caret("The ferry")
    editor.type(" now")
    assert editor.text == "The ferry now leaves at nine sharp."
    (final,) = [row for row in revisions(editor) if row["name"] == "To the harbour"]
    path = f"/api/documents/{editor.document_id}/revisions/{final['n']}"
    assert editor.server.ask(path)["text"] == "The ferry leaves at nine sharp."


def test_R18_a_text_with_blanks_cannot_be_final(open_editor: Any):
    editor: Editor = open_editor("The ferry leaves at [___].")

    dialog = finalise(editor)

    expect(dialog).to_contain_text("1 place is not filled yet.")
    expect(dialog.get_by_role("button", name="Finalise")).to_be_disabled()
