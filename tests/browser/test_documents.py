"""The documents column: a document is deleted after a question, by mouse, keyboard and phone."""

from __future__ import annotations

import re
import urllib.error
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor, Server

pytestmark = pytest.mark.browser


def make(server: Server, title: str) -> str:
    return str(server.ask("/api/documents", {"title": title, "text": f"{title} text."})["id"])


def open_page(page: Page, server: Server, document_id: str) -> Editor:
    page.goto(f"{server.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
    editor = Editor(page, server, document_id)
    editor.wait_saved()
    return editor


def expect_deleted(editor: Editor) -> None:
    expect(editor.page).not_to_have_url(re.compile(editor.document_id))
    editor.wait_saved()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        editor.server.ask(f"/api/documents/{editor.document_id}")


def test_a_document_is_deleted_by_keyboard_after_a_question(page: Page, server: Server):
    make(server, "Kept")
    editor = open_page(page, server, make(server, "Harbour plan"))
    button = page.get_by_role("button", name="Delete this document")

    button.press("Enter")
    dialog = page.get_by_role("dialog", name="Delete this document?")
    expect(dialog).to_contain_text("Harbour plan")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()
    assert editor.text == "Harbour plan text."

    button.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect_deleted(editor)
    expect(page.locator(".tl-status")).to_have_text("Document deleted.")
    expect(page.locator(".tl-document", has_text="Harbour plan")).to_have_count(0)
    expect(page.locator(".tl-alert-text")).to_have_text("")


def test_an_edited_document_moves_to_the_head_of_the_list(page: Page, server: Server):
    older = make(server, "Older")
    make(server, "Newer")
    editor = open_page(page, server, older)
    expect(page.locator(".tl-document-title").first).to_have_text("Newer")

    editor.put_caret("Older text.")
    editor.type(" More.")
    editor.wait_saved()

    expect(page.locator(".tl-document-title").first).to_have_text("Older")


def test_the_last_document_gives_way_to_an_empty_one_on_a_phone(page: Page, tmp_path: Any):
    own = Server(tmp_path)
    own.start()
    try:
        page.set_viewport_size({"width": 390, "height": 800})
        editor = open_page(page, own, make(own, "Only one"))

        page.get_by_role("button", name="Documents", exact=True).click()
        page.get_by_role("button", name="Delete this document").click()
        page.get_by_role("button", name="Delete", exact=True).click()

        expect_deleted(editor)
        fresh = Editor(page, own, page.url.rsplit("/", 1)[-1])
        assert fresh.text == ""
        documents = own.ask("/api/documents")["documents"]
        assert [one["title"] for one in documents] == [""]
    finally:
        own.stop()


def test_A11_A12_new_makes_a_document_of_its_own_kept_from_the_first_keystroke(open_editor: Any):
    editor: Editor = open_editor("The one before.")
    first = editor.document_id

    editor.page.get_by_role("button", name="New document").click()
    expect(editor.page.locator(".cm-content")).to_be_focused()
    expect(editor.page).not_to_have_url(re.compile(first))
    editor.wait_saved()
    editor.type("x")
    editor.wait_saved()
    editor.page.reload()

    expect(editor.page.locator(".cm-line").first).to_have_text("x")
    assert editor.text == "The one before."


def test_a_link_to_another_document_opens_it_and_one_to_none_is_told(open_editor: Any):
    editor: Editor = open_editor("The one before.")
    first = editor.document_id
    other = editor.server.ask("/api/documents", {"title": "Other", "text": "Another."})["id"]
    line = editor.page.locator(".cm-line").first

    editor.page.evaluate("hash => { location.hash = hash }", f"#/d/{other}")
    expect(line).to_have_text("Another.")
    editor.wait_saved()
    editor.page.evaluate("location.hash = '#/d/doc_of_nobody'")

    expect(editor.page.locator(".tl-status")).to_contain_text("is not here")
    expect(editor.page).to_have_url(re.compile(f"{other}$"))
    expect(line).to_have_text("Another.")
    editor.page.goto(f"{editor.server.url}/#/d/{first}")
    expect(line).to_have_text("The one before.")
