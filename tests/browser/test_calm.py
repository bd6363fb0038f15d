"""Nothing the server sends moves the caret, the focus, the selection or the view (E1-E4, R)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser

WORDY = "We would be very happy if you could perhaps come a bit early so that there is some time. "
PARAGRAPH = "The tide comes in and goes out again, and the harbour waits for it.\n\n"


def a_long_document() -> dict[str, Any]:
    """A region on the first screen, and much text after it."""
    text = "First line.\n\n" + WORDY + "\n\n" + PARAGRAPH * 40 + "The end is here."
    start = text.index(WORDY)
    region = {"kind": "region", "from": start, "to": start + len(WORDY) - 1}
    return {"text": text, "spans": [region]}


@pytest.fixture
def editor(open_editor: Any) -> Editor:
    document = a_long_document()
    made: Editor = open_editor(document["text"], spans=document["spans"])
    return made


def wait_for_passes(editor: Editor, count: int) -> None:
    editor.page.wait_for_function(
        "count => Number(/Pass (\\d+)/.exec(document.querySelector('.tl-dock-words')"
        ".textContent)?.[1] ?? 0) >= count",
        arg=count,
    )


def test_E1_typing_lands_in_order_while_passes_arrive(editor: Editor):
    editor.put_caret("First line")
    editor.refine()
    expect(editor.page.locator(".tl-draft")).to_be_visible()
    typed = "".join(f" {number}" for number in range(30))

    editor.type(typed)

    assert editor.page.locator(".tl-draft").count() == 1, "the run was still on"
    editor.wait_run_over()
    assert editor.text.startswith(f"First line{typed}.")


def test_E2_no_frame_moves_the_focus(editor: Editor):
    editor.refine()
    title = editor.page.get_by_label("Title of the document")
    title.focus()

    wait_for_passes(editor, 8)
    expect(title).to_be_focused()
    editor.wait_run_over()

    expect(title).to_be_focused()


def test_E3_a_selection_elsewhere_stays(editor: Editor):
    editor.refine()
    expect(editor.page.locator(".tl-draft")).to_be_visible()
    editor.select("First line")

    wait_for_passes(editor, 12)

    assert editor.page.evaluate("getSelection().toString()") == "First line"
    editor.wait_run_over()
    assert editor.page.evaluate("getSelection().toString()") == "First line"


def test_E4_the_view_does_not_move_while_a_region_above_it_changes(editor: Editor):
    editor.refine()
    expect(editor.page.locator(".tl-draft")).to_be_visible()
    first_visible = """() => {
      const scroller = document.querySelector('.cm-scroller').getBoundingClientRect()
      const lines = [...document.querySelectorAll('.cm-line')]
      const line = window.watched ??= lines.find(
        line => line.getBoundingClientRect().top >= scroller.top + 40 && line.textContent)
      return line.getBoundingClientRect().top
    }"""
    editor.page.locator(".cm-scroller").evaluate("element => element.scrollTop = 900")
    editor.page.wait_for_timeout(300)
    before = editor.page.evaluate(first_visible)

    moves = []
    for count in (8, 16, 24):
        wait_for_passes(editor, count)
        moves.append(abs(editor.page.evaluate(first_visible) - before))

    assert max(moves) < 1


def test_R1_R5_provisional_words_are_in_no_live_region(editor: Editor):
    editor.page.evaluate(
        """() => {
      window.heard = []
      for (const place of document.querySelectorAll('[role=status], [role=alert], [aria-live]')) {
        new MutationObserver(() => window.heard.push(place.textContent))
          .observe(place, {childList: true, characterData: true, subtree: true})
      }
    }"""
    )
    editor.refine()
    expect(editor.page.locator(".tl-draft")).to_be_visible()
    draft_is_live = editor.page.locator(".tl-draft").evaluate(
        "element => element.closest('[role=status], [role=alert], [aria-live]') !== null"
    )
    editor.wait_run_over()

    heard = [words for words in editor.page.evaluate("window.heard") if words]
    assert not draft_is_live
    assert heard[0] == "Refining 1 region."
    assert heard[-1].startswith("Finished. 1 suggestion.")
    assert len(heard) <= 5


def test_R7_pause_freezes_the_view_and_the_run_goes_on(editor: Editor):
    editor.refine()
    wait_for_passes(editor, 3)
    editor.page.get_by_role("button", name="Pause view").click()
    frozen = editor.page.locator(".tl-draft").inner_text()
    at = editor.page.locator(".tl-dock-words").inner_text()

    expect(editor.page.locator(".tl-dock-words")).not_to_have_text(at)

    assert editor.page.locator(".tl-draft").inner_text() == frozen
    editor.wait_run_over()


def test_N3_the_draft_steps_aside_for_the_caret(editor: Editor):
    editor.refine()
    expect(editor.page.locator(".tl-draft")).to_be_visible()
    editor.page.evaluate("document.querySelector('.cm-content').focus()")
    editor.press("F2")  # selects the region
    editor.press("ArrowLeft")
    editor.press("ArrowRight")
    editor.press("ArrowRight")

    expect(editor.page.locator(".tl-draft")).to_have_count(0)
    expect(editor.page.locator(".tl-region.tl-busy")).to_have_text(WORDY.strip())
    editor.wait_run_over()


def test_R7_reduced_motion_shows_a_run_only_when_done(page: Page, open_editor: Any):
    page.emulate_media(reduced_motion="reduce")
    document = a_long_document()
    editor: Editor = open_editor(document["text"], spans=document["spans"])

    editor.refine()
    wait_for_passes(editor, 6)

    assert editor.page.locator(".tl-draft").count() == 0
    animations = editor.page.locator(".tl-busy").evaluate("e => getComputedStyle(e).animationName")
    assert animations == "none"
    editor.wait_run_over()
    expect(editor.page.locator("ins.tl-ins").first).to_be_visible()


def test_E1_the_caret_is_drawn_where_the_text_ends(open_editor: Any):
    editor: Editor = open_editor("Words.")
    editor.put_caret("Words.")
    editor.type(" More")

    # The caret is drawn in a frame of its own, after the text.
    editor.page.wait_for_function(
        """() => {
      const range = document.createRange()
      range.selectNodeContents(document.querySelector('.cm-line'))
      const caret = document.querySelector('.cm-cursor-primary').getBoundingClientRect()
      return Math.abs(caret.left - range.getBoundingClientRect().right) < 3
    }""",
        timeout=10_000,
    )


def test_E5_an_input_method_composes_undisturbed(editor: Editor):
    """Passes and edits that come during a composition wait for its end."""
    editor.refine()
    expect(editor.page.locator(".tl-draft")).to_be_visible()
    editor.put_caret("First line")
    devtools = editor.page.context.new_cdp_session(editor.page)
    for text in ("に", "にほ", "にほん"):
        devtools.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
        editor.page.wait_for_timeout(120)
    devtools.send("Input.insertText", {"text": "日本"})
    editor.wait_run_over()

    assert editor.text.startswith("First line日本.")
    expect(editor.page.locator("ins.tl-ins").first).to_be_visible()
