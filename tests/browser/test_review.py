"""Suggestions in place: variants add up, the original is one press away, all can be accepted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor

pytestmark = pytest.mark.browser

STOPPED = re.compile(r"^Stopped by you (before its first pass|after \d+ pass(es)?)\.")


def refine_to_the_end(editor: Editor, *, seed: int = 0) -> None:
    editor.page.evaluate(f"localStorage.setItem('tideline.settings', '{{\"seed\": {seed}}}')")
    # An earlier run may have left the very line that is waited for.
    editor.page.evaluate("document.querySelector('.tl-status').textContent = ''")
    editor.press("Control+Shift+Enter")
    expect(editor.page.locator(".tl-status")).to_have_text(re.compile("^Finished"), timeout=60_000)


def test_C10_running_again_adds_variants_to_one_suggestion(open_editor: Any):
    editor: Editor = open_editor("Please bring [___] with you.")
    refine_to_the_end(editor)
    expect(editor.page.locator(".tl-card-count")).to_have_text("1 of 3")

    refine_to_the_end(editor, seed=1)

    expect(editor.page.locator("ins.tl-ins")).to_have_count(1)
    count = int(editor.page.locator(".tl-card-count").inner_text().removeprefix("1 of "))
    assert count >= 3
    expect(editor.page.locator(".tl-alternative")).to_have_count(count)

    editor.press("F8")
    editor.press("ArrowLeft")  # round to the last, which the first run offered
    words = editor.page.locator("ins.tl-ins").inner_text()
    editor.press("Enter")

    expect(editor.page.locator(".tl-card")).to_have_count(0)
    assert editor.text == f"Please bring {words} with you."


def test_D1_accept_all_states_the_count_and_is_one_undo_step(open_editor: Any):
    text = "First [___] and then [___] at last."
    editor: Editor = open_editor(text)
    refine_to_the_end(editor)

    editor.page.locator(".tl-dock").get_by_role("button", name="Accept all (2)").click()

    expect(editor.page.locator(".tl-status")).to_have_text(
        "2 suggestions accepted. All suggestions decided."
    )
    assert "[___]" not in editor.text
    revisions = editor.server.ask(f"/api/documents/{editor.document_id}/revisions")["revisions"]
    assert [row["author_kind"] for row in revisions].count("model") == 1

    editor.page.locator(".cm-content").focus()
    editor.press("Control+z")

    assert editor.text == text
    assert [span["settings"] for span in editor.spans] == [{"blank": True}, {"blank": True}]


def test_review_in_the_bar_shows_the_review_panel(open_editor: Any):
    editor: Editor = open_editor("Please bring [___] with you.")
    refine_to_the_end(editor)
    editor.page.get_by_role("tab", name="Refine").click()

    editor.page.locator(".tl-dock").get_by_role("button", name="Review").click()

    expect(editor.page.get_by_role("img", name="Joins the text best")).to_be_visible()
    others = editor.page.get_by_role("img", name=re.compile(r"^Joins the text \d+ % as well as"))
    expect(others).to_have_count(2)
    tab = editor.page.get_by_role("tab", name="Review")
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(editor.page.locator(".tl-card")).to_be_focused()


def test_the_status_line_follows_what_is_left_to_decide(open_editor: Any):
    editor: Editor = open_editor("First [___] and then [___] at last.")
    refine_to_the_end(editor)
    status = editor.page.locator(".tl-status")
    expect(status).to_contain_text("2 suggestions")

    editor.press("F8")
    editor.press("Delete")
    expect(status).to_have_text("1 suggestion left.")
    editor.press("F8")
    editor.press("Delete")
    expect(status).to_have_text("All suggestions decided.")

    editor.put_caret("at last.")
    editor.type("!")
    expect(status).to_have_text("")


def test_D3_the_original_is_one_press_away(open_editor: Any):
    region = {"kind": "region", "from": 0, "to": 10}
    editor: Editor = open_editor("Some words here.", spans=[region])
    refine_to_the_end(editor)
    inserted = editor.page.locator("ins.tl-ins").first
    expect(inserted).to_be_visible()

    peek = editor.page.get_by_role("button", name="Hold to see the original")
    peek.hover()
    editor.page.mouse.down()
    expect(inserted).to_be_hidden()
    editor.page.mouse.up()

    expect(inserted).to_be_visible()
    assert editor.text == "Some words here."


def test_D4_editing_the_region_takes_its_suggestion_away_and_says_so(open_editor: Any):
    region = {"kind": "region", "from": 0, "to": 10}
    editor: Editor = open_editor("Some words here.", spans=[region])
    refine_to_the_end(editor)

    editor.put_caret("Som")
    editor.type("x")

    expect(editor.page.locator(".tl-card")).to_have_count(0)
    expect(editor.page.locator(".tl-status")).to_contain_text("A suggestion went")
    assert editor.text == "Somxe words here."


def test_region_marks_come_back_after_a_stopped_run(open_editor):
    """What gave way to the draft is drawn again, without a key or a reload."""
    words = "We would be happy if you could perhaps come a bit early so that there is time."
    text = f"Please bring [___] with you. {words} Be there before noon."
    start = text.index(words)
    blank = {"kind": "region", "from": 13, "to": 18, "settings": {"blank": True}}
    region = {"kind": "region", "from": start, "to": start + len(words)}
    editor = open_editor(text, spans=[blank, region])
    marks = editor.page.locator(".tl-region")
    expect(marks).to_have_count(2)

    editor.put_caret("before noon")
    editor.refine()
    expect(editor.page.locator(".tl-draft")).to_have_count(2)
    editor.page.locator(".tl-dock .tl-stop").click()
    editor.wait_run_over()

    expect(editor.page.locator(".tl-draft")).to_have_count(0)
    expect(editor.page.locator(".tl-run-words")).to_have_text(STOPPED)
    editor.page.get_by_role("tab", name="Review").click()
    reject_all = editor.page.get_by_role("button", name="Reject all")
    if reject_all.count():  # what the stopped run had so far stands in place of the marks
        reject_all.click()
    expect(marks).to_have_count(2)


def test_the_page_loads_without_an_error_in_the_console(page, server):
    problems = []
    page.on(
        "console", lambda message: problems.append(message.text) if message.type == "error" else 0
    )
    page.on("pageerror", lambda error: problems.append(str(error)))

    page.goto(f"{server.url}/?token={ACCESS_TOKEN}")
    expect(page.locator(".cm-content")).to_be_visible()
    page.wait_for_load_state("networkidle")

    assert problems == []


def test_what_was_decided_is_not_shown_again_while_the_server_answers(open_editor: Any):
    """The answers come one by one; the first must not bring the others back."""
    editor: Editor = open_editor("First [___] and then [___] and [___] at last.")
    refine_to_the_end(editor)
    editor.page.evaluate(
        """() => {
      window.shownAgain = 0
      new MutationObserver((records) => {
        const nodes = records.flatMap(({ addedNodes }) => [...addedNodes])
        for (const node of nodes)
          if (node instanceof Element && (node.matches('ins') || node.querySelector('ins')))
            window.shownAgain += 1
      }).observe(document.querySelector('.cm-content'), { childList: true, subtree: true })
    }"""
    )

    editor.page.locator(".tl-dock").get_by_role("button", name="Accept all (3)").click()
    editor.wait_saved()
    expect(editor.page.locator(".tl-status")).to_have_text(re.compile("^3 suggestions accepted"))
    editor.page.wait_for_load_state("networkidle")

    assert editor.page.locator("ins.tl-ins").count() == 0
    assert editor.page.evaluate("window.shownAgain") == 0


def test_the_card_below_a_long_region_comes_wholly_into_view(page: Page, open_editor: Any):
    page.set_viewport_size({"width": 390, "height": 844})
    words = "We would be happy if you could perhaps come a bit early, so that there is time."
    text = "First.\n\n" * 9 + words
    region = {"kind": "region", "from": text.index("We"), "to": len(text) - 1}
    editor: Editor = open_editor(text, spans=[region])
    refine_to_the_end(editor)
    editor.page.locator(".cm-content").focus()

    editor.press("F8")

    expect(page.locator(".tl-card")).to_be_focused()
    expect(page.locator(".tl-card").get_by_role("button", name="Accept")).to_be_in_viewport(ratio=1)
