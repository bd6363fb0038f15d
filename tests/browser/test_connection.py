"""No keystroke is lost: a cut line, a killed server, a closed tab, two tabs at once (A)."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor, Server

pytestmark = pytest.mark.browser


FAILURE = re.compile(
    r"^The run failed after \d+ pass(es)?; the text is as it was\. "
    r"The worker process ended; it is being restarted\.$"
)


def save_words(editor: Editor, words: str) -> None:
    expect(editor.page.locator(".tl-save")).to_have_text(words)


def test_A1_typing_offline_is_kept_and_sent_after(open_editor: Any):
    editor: Editor = open_editor("Start.")
    editor.put_caret("Start.")
    editor.page.context.set_offline(True)
    editor.page.evaluate("window.dispatchEvent(new Event('offline'))")
    save_words(editor, "Offline – kept on this device")
    typed = " word" * 40

    editor.type(typed)
    save_words(editor, "Offline – kept on this device")
    editor.page.context.set_offline(False)

    assert editor.text == "Start." + typed


def test_A13_a_killed_server_loses_nothing_and_typing_goes_on(page: Page, tmp_path: Path):
    own = Server(tmp_path)
    own.start()
    try:
        document_id = own.ask("/api/documents", {"title": "Kill", "text": "Start."})["id"]
        page.goto(f"{own.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
        editor = Editor(page, own, document_id)
        editor.wait_saved()
        editor.put_caret("Start.")
        editor.type(" Acknowledged.")
        editor.wait_saved()

        own.kill()
        save_words(editor, "Offline – kept on this device")
        editor.type(" Not yet.")
        own.start()

        assert editor.text == "Start. Acknowledged. Not yet."
    finally:
        own.stop()


def worker_pids(server: Server) -> list[int]:
    assert server.process is not None
    tasks = Path(f"/proc/{server.process.pid}/task").iterdir()
    children = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    return [
        pid for pid in children if b"engine.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def test_a_run_whose_worker_dies_is_told_once_in_sentences(page: Page, tmp_path: Path):
    own = Server(tmp_path, settings={"TIDELINE_SCRIPTED_PASS_MS": "300"})
    own.start()
    try:
        text = "Please bring [___] with you, and a few words more. " * 6
        document_id = own.ask("/api/documents", {"title": "Worker", "text": text})["id"]
        page.goto(f"{own.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
        editor = Editor(page, own, document_id)
        editor.wait_saved()
        editor.refine()
        expect(page.locator(".tl-draft").first).to_be_visible()

        for pid in worker_pids(own):
            os.kill(pid, signal.SIGKILL)

        expect(page.get_by_role("alert").filter(has_text="The run failed")).to_have_text(FAILURE)
        expect(page.locator(".tl-status")).to_have_text("")
        expect(page.locator(".tl-run-words")).to_have_text(re.compile(r"^Failed after \d+ pass"))
        expect(page.locator(".tl-facts")).not_to_contain_text("Time")
        expect(page.locator(".tl-region")).to_have_count(6)
    finally:
        own.stop()


def test_A4_a_tab_closed_at_once_leaves_its_text_on_the_device(open_editor: Any):
    editor: Editor = open_editor("Start.")
    editor.put_caret("Start.")
    context = editor.page.context
    context.set_offline(True)
    editor.page.evaluate("window.dispatchEvent(new Event('offline'))")
    editor.type(" Kept.")
    save_words(editor, "Offline – kept on this device")
    editor.page.wait_for_timeout(100)
    editor.page.close(run_before_unload=False)
    context.set_offline(False)

    again = context.new_page()
    again.goto(f"{editor.server.url}/#/d/{editor.document_id}")
    reopened = Editor(again, editor.server, editor.document_id)

    expect(again.locator(".cm-line").first).to_have_text("Start. Kept.")
    assert reopened.text == "Start. Kept."


def test_A2_two_tabs_type_at_once_and_agree(open_editor: Any):
    first: Editor = open_editor("Left right.")
    second_page = first.page.context.new_page()
    second_page.goto(f"{first.server.url}/#/d/{first.document_id}")
    second = Editor(second_page, first.server, first.document_id)
    second.wait_saved()
    first.put_caret("Left")
    second.put_caret("right")

    for number in range(10):
        first.type(f" a{number}")
        second.type(f" b{number}")

    expected = (
        f"Left{''.join(f' a{n}' for n in range(10))} right{''.join(f' b{n}' for n in range(10))}."
    )
    expect(first.page.locator(".cm-line").first).to_have_text(expected)
    expect(second.page.locator(".cm-line").first).to_have_text(expected)
    assert first.text == expected


class SlowLine:
    """The socket of a page whose edits are on their way until they are let go."""

    def __init__(self, page: Page) -> None:
        self.is_slow = False
        self._held: list[str | bytes] = []
        self._server: WebSocketRoute | None = None
        page.route_web_socket(lambda _: True, self._open)

    def _open(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        self._server = server

        def send(message: str | bytes) -> None:
            if self.is_slow:
                self._held.append(message)
            else:
                server.send(message)

        socket.on_message(send)

    @property
    def num_held(self) -> int:
        return len(self._held)

    def let_go(self) -> None:
        assert self._server is not None
        self.is_slow = False
        for message in self._held:
            self._server.send(message)
        self._held.clear()


@pytest.fixture
def two_writers(page: Page, open_editor: Any) -> tuple[Editor, SlowLine, Editor]:
    """Two tabs on one document; what the first sends is held back."""
    line = SlowLine(page)
    first: Editor = open_editor("Left right.")
    second_page = page.context.new_page()
    second_page.goto(f"{first.server.url}/#/d/{first.document_id}")
    second = Editor(second_page, first.server, first.document_id)
    second.wait_saved()
    line.is_slow = True
    return first, line, second


def test_A10_a_remote_edit_leaves_what_is_typed_and_not_yet_stored(
    two_writers: tuple[Editor, SlowLine, Editor],
):
    first, line, second = two_writers
    first.put_caret("right")
    first.type(" mine")
    second.put_caret("Left")

    second.type(" theirs")

    shown = first.page.locator(".cm-line").first
    expect(shown).to_have_text("Left theirs right mine.")
    expect(first.page.locator(".tl-save")).not_to_contain_text("Saved")
    assert second.text == "Left theirs right."
    first.type("!")
    expect(shown).to_have_text("Left theirs right mine!.")
    line.let_go()
    assert first.text == "Left theirs right mine!."


def test_A9_A16_a_late_edit_of_an_old_version_replaces_nothing(
    two_writers: tuple[Editor, SlowLine, Editor],
):
    first, line, second = two_writers
    first.select("Left")
    first.type("Port")
    first.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it is sent
    second.select("right")
    second.type("starboard")
    assert second.text == "Left starboard."
    assert line.num_held > 0

    line.let_go()

    assert first.text == "Port starboard."
    expect(second.page.locator(".cm-line").first).to_have_text("Port starboard.")


def test_A8_saved_names_the_acknowledged_version(open_editor: Any):
    editor: Editor = open_editor("Start.")
    save_words(editor, "Saved (r0)")
    editor.put_caret("Start.")

    editor.type("x")

    assert editor.page.locator(".tl-save").inner_text().strip("✓↑ ") == "Saving…"
    save_words(editor, "Saved (r1)")


def test_an_edit_the_server_refuses_is_kept_as_a_copy(open_editor: Any):
    """A lock that came while offline: what was typed into it goes to a document of its own."""
    editor: Editor = open_editor("Dose 5 mg daily.")
    editor.put_caret("5 m")
    editor.page.context.set_offline(True)
    editor.page.evaluate("window.dispatchEvent(new Event('offline'))")
    save_words(editor, "Offline – kept on this device")
    editor.type("X")
    lock = {"spans": [{"kind": "locked", "from": 5, "to": 9}]}
    editor.server.ask(f"/api/documents/{editor.document_id}/spans", lock, "PUT")
    editor.page.context.set_offline(False)

    save_words(editor, "Conflict – your copy kept")
    expect(editor.page.locator(".cm-line").first).to_have_text("Dose 5 mg daily.")
    editor.page.get_by_role("button", name="Open your copy").click()

    expect(editor.page.locator(".cm-line").first).to_have_text("Dose 5 mXg daily.")


def test_a_span_removed_elsewhere_meanwhile_is_no_trouble(open_editor: Any):
    region = {"kind": "region", "from": 4, "to": 7}
    editor: Editor = open_editor("One two three.", spans=[region])
    editor.page.context.set_offline(True)
    editor.page.evaluate("window.dispatchEvent(new Event('offline'))")
    save_words(editor, "Offline – kept on this device")
    editor.select("two")
    editor.press("Alt+Shift+G")
    editor.type("2")
    editor.server.ask(f"/api/documents/{editor.document_id}/spans", {"spans": []}, "PUT")
    editor.page.context.set_offline(False)

    assert editor.text == "One 2 three."
    assert editor.spans == []


def end_access(editor: Editor) -> None:
    """The server no longer knows this browser, and its socket is gone."""
    editor.page.context.clear_cookies()
    editor.page.context.set_offline(True)
    editor.page.evaluate("window.dispatchEvent(new Event('offline'))")
    save_words(editor, "Offline – kept on this device")
    editor.page.context.set_offline(False)
    expect(editor.page.get_by_role("alert").first).to_contain_text("Your access has ended.")


def test_A3_one_person_without_access_keeps_their_text_and_others_write_on(
    open_editor: Any, browser: Browser
):
    revoked: Editor = open_editor("Shared.")
    others = browser.new_context()
    try:
        page = others.new_page()
        page.goto(f"{revoked.server.url}/?token={ACCESS_TOKEN}#/d/{revoked.document_id}")
        other = Editor(page, revoked.server, revoked.document_id)
        other.wait_saved()
        revoked.put_caret("Shared.")
        end_access(revoked)
        revoked.type(" Mine, unsent.")

        other.put_caret("Shared")
        other.type(" text")
        assert other.text == "Shared text."
    finally:
        others.close()

    save_words(revoked, "Offline – kept on this device")
    revoked.page.locator(".cm-content").focus()
    revoked.press("Control+a")
    assert revoked.page.evaluate("getSelection().toString()") == "Shared. Mine, unsent."


def test_A15_signing_in_again_elsewhere_sends_what_was_typed_meanwhile(open_editor: Any):
    editor: Editor = open_editor("Start.")
    editor.put_caret("Start.")
    end_access(editor)
    editor.type(" Typed without access.")
    expect(editor.page.locator(".cm-line").first).to_have_text("Start. Typed without access.")

    tab = editor.page.context.new_page()
    tab.goto(f"{editor.server.url}/?token={ACCESS_TOKEN}")
    expect(tab.locator(".cm-content")).to_be_visible()
    tab.close()

    assert editor.text == "Start. Typed without access."
    expect(editor.page.get_by_role("alert").first).to_have_text("")


def test_A5_a_socket_that_only_looks_open_is_noticed_and_nothing_is_lost(
    page: Page, tmp_path: Path
):
    """As after a long freeze: the page wakes, the server does not answer."""
    own = Server(tmp_path)
    own.start()
    assert own.process is not None
    try:
        document_id = own.ask("/api/documents", {"title": "Frozen", "text": "Start."})["id"]
        page.goto(f"{own.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
        editor = Editor(page, own, document_id)
        editor.wait_saved()
        editor.put_caret("Start.")
        own.process.send_signal(signal.SIGSTOP)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        editor.type(" Thawed.")
        save_words(editor, "Offline – kept on this device")
        own.process.send_signal(signal.SIGCONT)

        assert editor.text == "Start. Thawed."
    finally:
        own.process.send_signal(signal.SIGCONT)
        own.stop()


def test_R4_a_lost_connection_is_told_once_however_often_it_is_tried_again(open_editor: Any):
    editor: Editor = open_editor("Start.")
    page = editor.page
    page.evaluate(
        """() => {
      window.told = []
      const alert = document.querySelector('.tl-alert-text')
      const note = () => window.told.push(alert.textContent)
      new MutationObserver(note).observe(alert, {childList: true, characterData: true})
    }"""
    )
    page.context.set_offline(True)
    page.evaluate("window.dispatchEvent(new Event('offline'))")
    for _ in range(3):
        page.wait_for_event("requestfailed")

    (told,) = page.evaluate("window.told")
    assert told.startswith("Connection lost.")
    page.context.set_offline(False)
    editor.wait_saved()
