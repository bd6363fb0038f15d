"""Shortcuts: all listed, all changeable, none a lone character, none on AltGr (R15)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor, Server

pytestmark = pytest.mark.browser


def open_sheet(editor: Editor) -> Locator:
    editor.press("F1")
    sheet = editor.page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_be_visible()
    return sheet


def test_R15_every_key_is_listed_and_none_writes_a_character(open_editor: Any):
    editor: Editor = open_editor("Text.")
    sheet = open_sheet(editor)

    keys = sheet.locator("kbd").all_inner_texts()

    assert len(keys) > 20
    assert len(set(keys)) == len(keys)
    for key in keys:
        held, last = key.split("+")[:-1], key.split("+")[-1]
        assert held or len(last) > 1, key
        assert not ({"Ctrl", "Alt"} <= set(held) and len(last) == 1), key


def test_R15_a_key_is_changed_kept_and_reset(open_editor: Any):
    editor: Editor = open_editor("One two three.")
    sheet = open_sheet(editor)
    lock = sheet.get_by_role("button", name=re.compile("Lock or unlock"))
    lock.click()
    editor.press("Control+Shift+K")
    expect(lock).to_have_accessible_name(re.compile(r"^Ctrl\+Shift\+K"))
    expect(lock).to_be_focused()
    editor.press("Escape")

    editor.page.reload()
    editor.wait_saved()
    editor.select("two")
    editor.press("Alt+Shift+L")
    expect(editor.page.locator(".tl-lock")).to_have_count(0)
    editor.press("Control+Shift+K")
    expect(editor.page.locator(".tl-lock")).to_have_text("two")

    sheet = open_sheet(editor)
    sheet.get_by_role("button", name="Reset all").click()
    expect(lock).to_have_accessible_name(re.compile(r"^Alt\+Shift\+L"))
    editor.press("Escape")
    editor.press("Alt+Shift+L")
    expect(editor.page.locator(".tl-lock")).to_have_count(0)


@pytest.mark.parametrize(
    ("keys", "trouble"),
    [
        ("k", "Hold Ctrl or Alt"),
        ("Control+Alt+k", "AltGr"),
        ("Control+Enter", "That key is taken: refine the region"),
        ("Control+z", "fixed meaning"),
    ],
)
def test_R15_a_key_that_would_do_harm_is_refused_with_the_reason(
    open_editor: Any, keys: str, trouble: str
):
    editor: Editor = open_editor("Text.")
    sheet = open_sheet(editor)
    lock = sheet.get_by_role("button", name=re.compile("Lock or unlock"))
    lock.click()

    editor.press(keys)
    expect(sheet.get_by_role("status")).to_contain_text(trouble)
    editor.press("Escape")

    expect(sheet).to_be_visible()
    expect(lock).to_have_accessible_name(re.compile(r"^Alt\+Shift\+L"))
    assert editor.text == "Text."


def test_the_menu_does_what_the_keys_do(open_editor: Any):
    editor: Editor = open_editor("Text.")
    editor.put_caret("Text")

    editor.page.get_by_role("button", name="More", exact=True).click()
    editor.page.get_by_role("button", name=re.compile("^Plain-text view")).click()

    expect(editor.page.get_by_label("Document text, plain")).to_be_focused()


def test_the_first_visit_shows_lock_blank_and_refine(page: Page, tmp_path: Path):
    """The sample and the tour over it; dismissed once, it does not come back by itself."""
    own = Server(tmp_path)
    own.start()
    try:
        page.goto(f"{own.url}/?token={ACCESS_TOKEN}")
        tour = page.get_by_role("complementary", name="A short tour")
        expect(tour).to_contain_text("Lock what must stay")
        expect(page.locator(".tl-lock")).to_have_count(2)
        expect(page.locator(".tl-blank")).to_have_count(2)
        tour.get_by_role("button", name="Next").click()
        tour.get_by_role("button", name="Next").click()
        expect(tour).to_contain_text("Refine")
        page.locator(".tl-header .tl-refine").click()
        expect(page.locator(".tl-card")).to_be_visible(timeout=30_000)
        tour.get_by_role("button", name="End the tour").click()
        expect(tour).to_have_count(0)

        page.reload()
        expect(page.locator('.tl-save[data-kind="saved"]')).to_be_visible()
        expect(tour).to_have_count(0)
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("button", name="Take the tour").click()
        expect(tour).to_contain_text("1 of 4")
    finally:
        own.stop()
