"""Refine where a run is at work stops it and starts anew, in one press (G7)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser

TEXT = "We would be very happy if you could perhaps come a bit early so that there is some time."


def listen_for_ends(page: Page) -> list[str]:
    """How each run ended, as the server says it; grows while the page is open."""
    ends: list[str] = []

    def note(payload: str | bytes) -> None:
        message = json.loads(payload)
        if message.get("type") == "run_ended":
            ends.append(message["state"])

    def watch(socket: WebSocket) -> None:
        socket.on("framereceived", note)

    page.on("websocket", watch)
    return ends


def test_G7_refining_again_stops_the_run_and_starts_another(page: Page, open_editor: Any):
    ends = listen_for_ends(page)
    editor: Editor = open_editor(TEXT, spans=[{"kind": "region", "from": 0, "to": len(TEXT)}])
    editor.refine()
    expect(page.locator(".tl-draft")).to_be_visible()

    editor.refine()
    expect(page.locator(".tl-status")).to_have_text("The run is stopped and starts again.")
    editor.refine()  # while that run ends, a third press is no third run; later it is one more

    expect(page.locator(".tl-status")).to_contain_text("Finished.", timeout=60_000)
    assert ends in (["cancelled", "finished"], ["cancelled", "cancelled", "finished"])
    assert editor.text == TEXT
