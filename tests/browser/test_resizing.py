"""A region's edges dragged by mouse and finger: what moves, where it stops, when it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor, Server

pytestmark = pytest.mark.browser

TEXT = "One two three four five six seven."

_PLACE = """words => {
  const line = document.querySelector('.cm-content')
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
  const nodes = []
  while (walker.nextNode()) nodes.push(walker.currentNode)
  let start = nodes.map(node => node.data).join('').indexOf(words)
  let end = start + words.length
  const range = document.createRange()
  for (const node of nodes) {
    if (start >= 0 && start < node.data.length) range.setStart(node, start)
    if (end > 0 && end <= node.data.length) range.setEnd(node, end)
    start -= node.data.length
    end -= node.data.length
  }
  const {left, right, top, bottom} = range.getBoundingClientRect()
  return {left, right, middle: (top + bottom) / 2}
}"""


def place(editor: Editor, words: str) -> dict[str, float]:
    """Where words are on the screen, in CSS pixels."""
    found: dict[str, float] = editor.page.evaluate(_PLACE, words)
    return found


def regions(editor: Editor) -> list[str]:
    text, spans = editor.text, editor.spans
    return [text[one["from"] : one["to"]] for one in spans if one["kind"] == "region"]


def region_on(words: str, text: str = TEXT) -> dict[str, Any]:
    start = text.index(words)
    return {"kind": "region", "from": start, "to": start + len(words)}


def lock_on(words: str, text: str = TEXT) -> dict[str, Any]:
    return {**region_on(words, text), "kind": "locked"}


def edge_on_screen(editor: Editor, edge: str) -> tuple[float, float]:
    """Where a region's edge is, by its handle."""
    handle = editor.page.locator(f".tl-handle-{edge}")
    expect(handle).to_have_count(1)
    box = handle.bounding_box()
    assert box is not None
    assert box["height"] >= 24
    within = handle.evaluate("e => parseFloat(e.style.getPropertyValue('--tl-edge-x'))")
    return box["x"] + within, box["y"] + box["height"] / 2


def take_handle(editor: Editor, edge: str) -> None:
    """Point at the region, so that its handles show, and press one."""
    box = editor.page.locator(".tl-region").first.bounding_box()
    assert box is not None
    editor.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    editor.page.mouse.move(*edge_on_screen(editor, edge))
    editor.page.mouse.down()


def drag_to(editor: Editor, words: str, side: str) -> None:
    at = place(editor, words)
    editor.page.mouse.move(at[side], at["middle"], steps=6)


def test_an_edge_is_dragged_to_where_it_is_let_go(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[region_on("three four")])

    take_handle(editor, "to")
    drag_to(editor, "five", "right")
    expect(editor.page.locator(".tl-region")).to_have_text("three four five")
    editor.page.mouse.up()
    assert regions(editor) == ["three four five"]
    expect(editor.page.locator(".tl-status")).to_have_text("Region resized.")

    take_handle(editor, "from")
    drag_to(editor, "two", "left")
    editor.page.mouse.up()
    assert regions(editor) == ["two three four five"]


def test_nothing_is_sent_while_an_edge_is_dragged_and_one_undo_takes_it_back(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[region_on("three four")])
    editor.put_caret("seven")
    editor.type("x")
    editor.wait_saved()

    take_handle(editor, "to")
    drag_to(editor, "four five six", "right")
    expect(editor.page.locator(".tl-region")).to_have_text("three four five six")
    assert regions(editor) == ["three four"], "the server knows of nothing yet"
    drag_to(editor, "four five", "right")
    editor.page.mouse.up()
    assert regions(editor) == ["three four five"]

    editor.page.locator(".cm-content").focus()
    editor.press("Control+z")
    expect(editor.page.locator(".tl-region")).to_have_text("three four")
    assert regions(editor) == ["three four"]
    assert editor.text == TEXT.replace("seven", "sevenx"), "the typing before it is still there"
    editor.press("Control+z")
    assert editor.text == TEXT


def test_escape_leaves_the_region_as_it_was(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[region_on("three four")])

    take_handle(editor, "to")
    drag_to(editor, "six", "right")
    expect(editor.page.locator(".tl-region")).to_have_text("three four five six")
    editor.press("Escape")
    expect(editor.page.locator(".tl-region")).to_have_text("three four")
    editor.page.mouse.up()

    assert regions(editor) == ["three four"]


def test_an_edge_stops_at_a_lock_and_at_another_region(open_editor: Any):
    spans = [region_on("One"), region_on("three four"), lock_on("six")]
    editor: Editor = open_editor(TEXT, spans=spans)
    editor.put_caret("hree")  # the caret's region has handles too

    handles = editor.page.locator(".tl-handle")
    expect(handles).to_have_count(2)
    for edge, words, side in (("to", "seven", "right"), ("from", "One", "left")):
        editor.page.mouse.move(*edge_on_screen(editor, edge))
        editor.page.mouse.down()
        drag_to(editor, words, side)
        editor.page.mouse.up()
        editor.wait_saved()

    assert regions(editor) == ["One", "two three four five"]


def test_a_lock_within_a_region_stays_within(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[region_on("three four five six"), lock_on("five")])

    take_handle(editor, "to")
    drag_to(editor, "three", "right")
    editor.page.mouse.up()

    assert regions(editor) == ["three four five"]


def test_an_edge_never_rests_within_a_character(open_editor: Any):
    text = "Up 👩‍⚕️👩‍⚕️ é🇬🇧 and on."
    editor: Editor = open_editor(text, spans=[region_on("Up", text)])
    whole = ["Up", "Up 👩‍⚕️", "Up 👩‍⚕️👩‍⚕️", "Up 👩‍⚕️👩‍⚕️ é", "Up 👩‍⚕️👩‍⚕️ é🇬🇧"]
    seen = set()

    take_handle(editor, "to")
    end = place(editor, "🇬🇧")
    start = place(editor, "Up")["right"]
    for step in range(41):
        editor.page.mouse.move(start + (end["right"] - start) * step / 40, end["middle"])
        seen.add(editor.page.locator(".tl-region").inner_text().replace("\u2060", ""))
    editor.page.mouse.up()

    assert seen <= set(whole)
    assert regions(editor) == [whole[-1]]


@pytest.fixture
def touch_page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    yield context.new_page()
    context.close()


def test_an_edge_is_dragged_by_finger(touch_page: Page, server: Server):
    body = {"title": "Touch", "text": TEXT, "spans": [region_on("three")]}
    document_id = server.ask("/api/documents", body)["id"]
    touch_page.goto(f"{server.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
    editor = Editor(touch_page, server, document_id)
    editor.wait_saved()
    touch_page.locator(".tl-region").tap()
    box = touch_page.locator(".tl-handle-to").bounding_box()
    assert box is not None
    assert min(box["height"], box["width"]) >= 24
    x, y = edge_on_screen(editor, "to")
    target = place(editor, "four")
    devtools = touch_page.context.new_cdp_session(touch_page)

    def touch(kind: str, points: list[dict[str, float]]) -> None:
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", [{"x": x, "y": y}])
    for step in range(1, 6):
        touch("touchMove", [{"x": x + (target["right"] - x) * step / 5, "y": y}])
    expect(touch_page.locator(".tl-region")).to_have_text("three four")
    touch("touchEnd", [])

    assert regions(editor) == ["three four"]
