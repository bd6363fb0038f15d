"""Somebody who never saw the page does the whole job with the mouse, by what it shows."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor, Server

pytestmark = pytest.mark.browser

PARAGRAPH = (
    "Our walk is on Thursday 14 May at 09:30. Please bring [___] with you. "
    "We would be very happy if you could perhaps come a bit early so that there is some time."
)
WORDY = "We would be very happy if you could perhaps come a bit early so that there is some time."

# Where words begin and end on the screen, a pixel inside the first and the last of them.
_EDGES = """words => {
  const content = document.querySelector('.cm-content')
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT)
  const nodes = []
  while (walker.nextNode()) nodes.push(walker.currentNode)
  const start = nodes.map(node => node.data).join('').indexOf(words)
  const boxOf = offset => {
    for (const node of nodes) {
      if (offset < node.data.length) {
        const range = document.createRange()
        range.setStart(node, offset)
        range.setEnd(node, offset + 1)
        return range.getBoundingClientRect()
      }
      offset -= node.data.length
    }
  }
  const [first, last] = [boxOf(start), boxOf(start + words.length - 1)]
  const middle = box => box.top + box.height / 2
  return [first.left + 1, middle(first), last.right - 1, middle(last)]
}"""


def drag_over(page: Page, words: str) -> None:
    """Select words as a hand does."""
    left, top, right, bottom = page.evaluate(_EDGES, words)
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move(right, bottom, steps=4)
    page.mouse.up()


def press(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=name).locator("visible=true").first.click()


def test_a_newcomer_writes_locks_fills_rejects_names_and_compares(page: Page, server: Server):
    page.goto(f"{server.url}/?token={ACCESS_TOKEN}")
    editor = write_a_paragraph(page, server)

    for words in ("Thursday 14 May", "09:30"):
        drag_over(page, words)
        press(page, "Lock")
    expect(page.locator(".tl-lock")).to_have_text(["Thursday 14 May", "09:30"])
    drag_over(page, WORDY)
    press(page, "Region")
    refine_both(page)
    rejected = reject_one_change(page)
    accept_what_is_left(page)

    text = editor.text
    assert text.startswith("Our walk is on Thursday 14 May at 09:30. Please bring ")
    assert "[___]" not in text, "the blank is filled"
    assert rejected in text, "the rejected change left the words as they were"
    assert WORDY not in text, "the rest was taken"
    name_the_version(page)
    see_what_changed(page)


def write_a_paragraph(page: Page, server: Server) -> Editor:
    expect(page.locator('.tl-save[data-kind="saved"]')).to_be_visible()
    before = page.url
    press(page, "New document")
    expect(page).not_to_have_url(before)
    expect(page.get_by_text("Leave a blank as [___]")).to_be_visible()
    editor = Editor(page, server, page.url.rsplit("/", 1)[-1])
    editor.wait_saved()
    page.locator(".cm-content").click()
    page.keyboard.type(PARAGRAPH)
    editor.wait_saved()
    return editor


def refine_both(page: Page) -> None:
    """With the caret beside the regions, the button says that both are meant."""
    left, top, _, _ = page.evaluate(_EDGES, "walk")
    page.mouse.click(left, top)
    press(page, "Refine 2")
    expect(page.get_by_text(re.compile(r"^Pass \d+ of \d+")).first).to_be_visible()
    expect(page.locator(".tl-dock").get_by_text("2 suggestions")).to_be_visible(timeout=60_000)


def reject_one_change(page: Page) -> str:
    """In the Review panel each change of the region has its own two buttons."""
    press(page, re.compile(r"^Review$"))
    changes = page.get_by_role("list", name="Changes")
    expect(changes).to_be_visible()
    first = changes.get_by_role("listitem").first
    before = first.locator("del").inner_text().strip()
    first.get_by_role("button", name="Leave this change out").click()
    expect(changes.get_by_role("listitem").first).to_contain_text("left out")
    return before


def accept_what_is_left(page: Page) -> None:
    press(page, "Accept all (2)")
    expect(page.locator(".tl-status")).to_contain_text("All suggestions decided.")


def name_the_version(page: Page) -> None:
    page.get_by_role("tab", name="History").click()
    press(page, "Name this version")
    page.get_by_role("textbox", name="Name").fill("Invitation")
    press(page, "Save the name")
    expect(page.locator(".tl-revision-name").first).to_have_text("Invitation")


def see_what_changed(page: Page) -> None:
    """From the version before the run to the text now."""
    earlier = page.locator(".tl-revision", has_text="You").filter(has_not_text="Invitation")
    earlier.first.get_by_role("button", name="Compare with now").click()
    dialog = page.get_by_role("dialog", name="Compare versions")
    expect(dialog.locator("del").first).to_contain_text("[___]")
    expect(dialog.locator("ins").first).to_be_visible()
    expect(dialog.get_by_text(re.compile(r"\d+ changes\."))).to_be_visible()
