"""Undo beside runs: a run is never an undo step until it is accepted, then it is one (C2-C4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor, Server

pytestmark = pytest.mark.browser

REGION = "We would be very happy if you could perhaps come a bit early."
TEXT = f"First line.\n\n{REGION}\n\nLast line."

# How many steps the editor's undo stack holds.
_HISTORY = """() => {
  const {values} = document.querySelector('.cm-content').cmTile.root.view.state
  const history = values.find(value => value?.done && value?.undone)
  return history.done.filter(event => event.changes || event.effects.length > 0).length
}"""


def open_with_region(page: Page, server: Server) -> Editor:
    start = TEXT.index(REGION)
    spans = [{"kind": "region", "from": start, "to": start + len(REGION)}]
    body = {"title": "Undo", "text": TEXT, "spans": spans}
    document_id = server.ask("/api/documents", body)["id"]
    page.goto(f"{server.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
    editor = Editor(page, server, document_id)
    editor.wait_saved()
    return editor


@pytest.fixture(scope="module")
def slow_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Passes that last: a run is still on while a person does something."""
    running = Server(tmp_path_factory.mktemp("slow"), settings={"TIDELINE_SCRIPTED_PASS_MS": "300"})
    running.start()
    running.wait_ready()
    yield running
    running.stop()


def test_C3_undo_during_a_run_takes_back_typing_only(page: Page, slow_server: Server):
    """Passes are not in the text, so there is nothing of them that undo could mix with."""
    editor = open_with_region(page, slow_server)
    editor.put_caret("First line")
    editor.type(" here")
    editor.wait_saved()
    editor.press("Control+Shift+Enter")
    expect(page.locator(".tl-draft")).to_have_count(1)

    editor.press("Control+z")

    assert editor.text == TEXT
    expect(page.locator(".tl-draft")).to_have_count(1)
    expect(page.locator(".tl-dock.tl-running")).to_be_visible()
    page.locator(".tl-dock .tl-stop").click()
    editor.wait_run_over()
    assert editor.text == TEXT


def test_C3_undo_within_the_region_makes_the_run_leave_it(page: Page, slow_server: Server):
    editor = open_with_region(page, slow_server)
    editor.put_caret("happy")
    editor.type(" indeed")
    editor.wait_saved()
    editor.press("Control+Shift+Enter")
    expect(page.locator(".tl-dock.tl-running")).to_be_visible()

    editor.press("Control+z")

    expect(page.locator(".tl-draft")).to_have_count(0)
    editor.wait_run_over()
    assert editor.text == TEXT
    assert len(editor.spans) == 1
    expect(page.locator("ins.tl-ins")).to_have_count(0)


def test_C2_C4_a_run_adds_no_undo_step_and_accepting_it_adds_one(open_editor: Any):
    start = TEXT.index(REGION)
    spans = [{"kind": "region", "from": start, "to": start + len(REGION)}]
    editor: Editor = open_editor(TEXT, spans=spans)
    editor.put_caret("First line")
    editor.type(" here")
    before = editor.page.evaluate(_HISTORY)

    editor.refine()
    expect(editor.page.locator(".tl-card")).to_be_visible(timeout=60_000)
    editor.wait_run_over()
    num_passes = editor.page.locator(".tl-facts dd").first
    expect(num_passes).to_have_text(re.compile(r"^\d+$"))
    assert int(num_passes.inner_text()) > 3
    assert editor.page.evaluate(_HISTORY) == before, "passes leave nothing in the history"

    editor.page.get_by_role("button", name="Accept all (1)").first.click()
    expect(editor.page.locator("ins.tl-ins")).to_have_count(0)
    assert editor.page.evaluate(_HISTORY) == before + 1
    assert REGION not in editor.text

    editor.page.locator(".cm-content").focus()
    editor.press("Control+z")
    assert editor.text == TEXT.replace("First line", "First line here")
    editor.press("Control+z")
    assert editor.text == TEXT
