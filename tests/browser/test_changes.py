"""Review change by change: each kept or left out, words of any alternative (D1-D4, N2, N5)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser

REGION = "would be very happy if you could perhaps come a bit early so that there is enough time"
TEXT = f"Dear all. We {REGION} for tea."


@pytest.fixture
def editor(open_editor: Any) -> Editor:
    """A region whose suggestion has several changes."""
    start = TEXT.index(REGION)
    made: Editor = open_editor(
        TEXT, spans=[{"kind": "region", "from": start, "to": start + len(REGION)}]
    )
    # Few passes: what is tested comes after them.
    made.page.evaluate("localStorage.setItem('tideline.settings', '{\"steps\": 4}')")
    made.press("Control+Shift+Enter")
    expect(made.page.locator(".tl-card")).to_be_visible()
    made.wait_run_over()
    made.press("F8")
    expect(made.page.locator(".tl-card")).to_be_focused()
    return made


def changes(editor: Editor) -> Locator:
    return editor.page.locator(".tl-change")


def num_changes(editor: Editor) -> int:
    words = editor.page.locator(".tl-card-change .tl-card-place").inner_text()
    return int(words.rsplit(" ", 1)[-1])


def pieces(editor: Editor) -> list[tuple[str, str]]:
    """What goes and what comes, change by change, as the Review panel lists them."""
    return [
        (
            "".join(row.locator("del").all_text_contents()),
            "".join(row.locator("ins").all_text_contents()),
        )
        for row in changes(editor).all()
    ]


def test_D1_each_change_is_kept_or_left_out_by_keyboard(editor: Editor):
    count = num_changes(editor)
    assert count > 1
    expect(changes(editor)).to_have_count(count)
    wanted, at = TEXT, TEXT.index(REGION)
    for number, (before, after) in enumerate(pieces(editor)):
        at = wanted.index(before, at)
        if number % 2 == 0:
            wanted = wanted[:at] + after + wanted[at + len(before) :]
        at += len(after if number % 2 == 0 else before)

    for number in range(count - 1):
        editor.press("Enter" if number % 2 == 0 else "Delete")
        expect(editor.page.locator(".tl-verdict")).to_have_count(number + 1)
    assert editor.text == TEXT, "nothing is in the text before the last change is decided"
    editor.press("Enter" if (count - 1) % 2 == 0 else "Delete")

    expect(editor.page.locator(".tl-card")).to_have_count(0)
    assert editor.text == wanted
    revisions = editor.server.ask(f"/api/documents/{editor.document_id}/revisions")["revisions"]
    assert [row["author_kind"] for row in revisions].count("model") == 1


def test_C1_a_partly_accepted_run_is_one_undo_step(editor: Editor):
    editor.press("Delete")
    editor.press("Shift+Enter")
    expect(editor.page.locator(".tl-card")).to_have_count(0)
    assert editor.text != TEXT
    expect(editor.page.locator(".cm-content")).to_be_focused()

    editor.press("Control+z")

    assert editor.text == TEXT


def test_D1_a_suggestion_of_which_nothing_is_kept_is_rejected(editor: Editor):
    for _ in range(num_changes(editor)):
        editor.press("Delete")

    expect(editor.page.locator(".tl-card")).to_have_count(0)
    expect(editor.page.locator(".tl-status")).to_have_text("All suggestions decided.")
    assert editor.text == TEXT


def test_D1_changes_are_decided_by_mouse_in_the_panel(editor: Editor):
    first = changes(editor).filter(has=editor.page.locator("del")).first
    words = first.locator("del").inner_text().strip()

    first.get_by_role("button", name="Leave this change out").click()

    expect(first.locator(".tl-verdict")).to_have_text("left out")
    expect(editor.page.locator(".tl-left").first).to_contain_text(words)
    editor.page.locator(".tl-suggestion").get_by_role("button", name="Accept", exact=True).click()
    expect(editor.page.locator(".tl-card")).to_have_count(0)
    assert words in editor.text


def test_F8_walks_the_changes_and_goes_round(editor: Editor):
    place = editor.page.locator(".tl-card-change .tl-card-place")
    count = num_changes(editor)

    for number in [*range(2, count + 1), 1]:
        editor.press("F8")
        expect(place).to_have_text(f"Change {number} of {count}")
    editor.press("Shift+F8")

    expect(place).to_have_text(f"Change {count} of {count}")
    expect(editor.page.locator(".tl-card")).to_be_focused()


def test_D4_a_half_finished_review_survives_a_reload(editor: Editor):
    editor.press("Enter")
    editor.press("Delete")
    expect(editor.page.locator(".tl-verdict").nth(1)).to_be_visible()
    verdicts = editor.page.locator(".tl-changes .tl-verdict").all_inner_texts()

    editor.page.reload()
    editor.wait_saved()
    editor.page.get_by_role("tab", name="Review").click()

    expect(editor.page.locator(".tl-changes .tl-verdict")).to_have_text(verdicts)


def test_N2_words_are_picked_across_alternatives(editor: Editor):
    editor.press("Alt+Shift+A")
    dialog = editor.page.get_by_role("dialog", name="Alternatives side by side")
    picked = dialog.locator(".tl-picked-text")
    whole = picked.inner_text()
    column = dialog.get_by_role("region", name="Original")
    original = column.locator(".tl-word-group:not(.tl-nothing)").first
    words = original.inner_text()
    assert original.get_attribute("aria-pressed") == "false"

    original.press("Enter")

    expect(original).to_have_attribute("aria-pressed", "true")
    expect(original).to_be_focused()
    expect(picked).not_to_have_text(whole)
    mixture = picked.inner_text()
    assert words in mixture
    dialog.get_by_role("button", name="Accept this text").click()
    expect(editor.page.locator(".tl-card")).to_have_count(0)
    assert editor.text == TEXT.replace(REGION, mixture)


def test_N5_holding_a_key_shows_the_original(editor: Editor):
    inserted = editor.page.locator(".cm-line ins.tl-ins")
    expect(inserted.first).to_be_visible()

    editor.page.keyboard.down("Alt")
    editor.page.keyboard.down("Shift")
    editor.page.keyboard.down("O")
    expect(inserted).to_have_count(0)
    expect(editor.page.locator(".tl-region")).to_have_text(REGION)
    for key in ("O", "Shift", "Alt"):
        editor.page.keyboard.up(key)

    expect(inserted.first).to_be_visible()
    assert editor.text == TEXT
