"""The card of a finished run: read, copied, still there after a reload; a stopped run's draft."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser

TEXT = "Please bring a warm [___] and good shoes."


def finish_a_run(open_editor: Any) -> Editor:
    editor: Editor = open_editor(TEXT)
    editor.refine()
    expect(editor.page.locator(".tl-card")).to_be_visible(timeout=60_000)
    editor.wait_run_over()
    editor.page.get_by_role("tab", name="Refine").click()
    return editor


def open_card(page: Page) -> Locator:
    card = page.locator(".tl-run-card")
    card.locator("summary").click()
    expect(card.get_by_role("button", name="Copy as JSON")).to_be_visible()
    return card


def value_of(card: Locator, name: str) -> str:
    term = card.locator("dt").filter(has_text=name).first
    return term.locator("xpath=following-sibling::dd[1]").inner_text()


def test_the_card_of_a_run_says_how_it_was_made(open_editor: Any):
    editor = finish_a_run(open_editor)

    card = open_card(editor.page)

    run = the_run(editor)
    assert value_of(card, "Passes") == f"{run['passes']} of {run['max_passes']}"
    assert value_of(card, "Stop reason") == "everything settled"
    assert value_of(card, "Seed") == "0"
    assert value_of(card, "Model") == run["run_card"]["model"]
    for title in ("Outcome", "Model", "Sampler", "Time"):
        expect(card.get_by_role("heading", name=title, exact=True)).to_be_visible()


def the_run(editor: Editor) -> dict[str, Any]:
    kept = editor.page.evaluate("JSON.parse(localStorage.getItem('tideline.runs'))")
    run_id = dict(kept)[editor.document_id]
    return dict(editor.server.ask(f"/api/runs/{run_id}"))


def test_the_card_is_copied_as_json_without_words_of_the_text(open_editor: Any):
    editor = finish_a_run(open_editor)
    editor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    card = open_card(editor.page)

    card.get_by_role("button", name="Copy as JSON").click()

    expect(editor.page.locator(".tl-status")).to_have_text("Run card copied.")
    copied = json.loads(editor.page.evaluate("navigator.clipboard.readText()"))
    run = the_run(editor)
    assert copied == {key: value for key, value in run.items() if key != "suggestions"}
    assert run["suggestions"][0]["alternatives"][0]["text"] not in json.dumps(copied["run_card"])


def test_the_card_is_there_after_a_reload(open_editor: Any):
    editor = finish_a_run(open_editor)
    editor.page.get_by_role("button", name="Accept all (1)").first.click()
    editor.wait_saved()

    editor.page.reload()
    editor.wait_saved()
    card = open_card(editor.page)

    assert value_of(card, "State") == "finished"


def test_a_stopped_run_that_offers_its_draft_is_reviewed_like_a_finished_one(
    page: Page, open_editor: Any
):
    """The server's last frame is rewritten: stopped, with the suggestions that came before it."""

    def stop_instead(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            frame = json.loads(message)
            if frame["type"] == "run_ended":
                frame |= {"state": "cancelled", "stop_reason": "cancelled"}
            route.send(json.dumps(frame))

        server.on_message(pass_on)
        route.on_message(server.send)

    page.route_web_socket("**/ws/documents/**", stop_instead)

    editor = finish_a_run(open_editor)

    expect(page.locator(".tl-status")).to_have_text(
        "Stopped. The draft so far is offered. 1 suggestion. Press F8 to review."
    )
    expect(page.locator(".tl-run-words")).to_contain_text("The draft so far is offered.")
    expect(page.locator(".tl-draft")).to_have_count(0)
    expect(page.locator("ins.tl-ins")).to_have_count(1)
    page.get_by_role("button", name="Accept all (1)").first.click()
    expect(page.locator("ins.tl-ins")).to_have_count(0)
    assert "[___]" not in editor.text
