"""A real server with the scripted denoiser, and Chromium in front of it.

The server is a child process with scratch directories and a free port; one per test session.
Every test makes its own document, so tests do not see each other.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest
from playwright.sync_api import Page, expect

REPOSITORY = Path(__file__).resolve().parents[2]
SHOTS = REPOSITORY / "test-results"
ACCESS_TOKEN = "browser-tests-0123456789abcdef"
SYSTEM_CHROMIUM = Path("/usr/bin/chromium")
START_LIMIT_S = 90

expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Playwright's event loop would end others' tests: these run only where `-m browser` asks."""
    if "browser" in (config.option.markexpr or ""):
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Debian's Chromium where it is installed, else the browser Playwright brought."""
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    found = {"executable_path": str(SYSTEM_CHROMIUM)} if SYSTEM_CHROMIUM.exists() else {}
    return {**browser_type_launch_args, **found, "args": arguments}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_context_args, "viewport": {"width": 1280, "height": 800}}


@dataclass
class Server:
    """A server that can be killed and started again on the same data."""

    directory: Path
    port: int = 0
    settings: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        environment = {
            **os.environ,
            "TIDELINE_DATA_DIR": str(self.directory / "data"),
            "TIDELINE_CACHE_DIR": str(self.directory / "cache"),
            "TIDELINE_DENOISER": "scripted",
            "TIDELINE_ACCESS_TOKEN": ACCESS_TOKEN,
            "TIDELINE_PORT": str(self.port),
            "PYTHONUNBUFFERED": "1",
            **self.settings,
        }
        self.process = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=(self.directory / "server.log").open("a"),
            text=True,
        )
        self.port = _announced_port(self.process)

    def wait_ready(self) -> None:
        """Until runs can be asked for: the worker starts after the link is printed."""
        deadline = time.monotonic() + START_LIMIT_S
        while not self._is_ready():
            assert time.monotonic() < deadline, "the worker did not start"
            time.sleep(0.2)

    def _is_ready(self) -> bool:
        try:
            self.ask("/readyz")
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            return False
        return True

    def kill(self) -> None:
        """End the process the hard way, as a crash would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.kill()

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """Call the HTTP interface as a script would."""
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {ACCESS_TOKEN}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read() or b"null")


def _announced_port(process: subprocess.Popen[str]) -> int:
    lines: Queue[str] = Queue()
    assert process.stdout is not None
    stdout = process.stdout

    def read() -> None:
        for line in stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=START_LIMIT_S)
        except Empty:
            raise AssertionError("the server printed no link") from None
        if line == "":
            raise AssertionError(f"the server ended with {process.wait()} before it was ready")
        if found := re.search(r"http://[^/]+:(\d+)/\?token=", line):
            return int(found.group(1))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"))
    running.start()
    running.wait_ready()
    yield running
    running.stop()


@dataclass(frozen=True)
class Editor:
    """The page as a person uses it."""

    page: Page
    server: Server
    document_id: str

    @property
    def text(self) -> str:
        """The document's text as the server has it, once everything is saved."""
        self.wait_saved()
        return str(self.server.ask(f"/api/documents/{self.document_id}")["text"])

    @property
    def spans(self) -> list[dict[str, Any]]:
        self.wait_saved()
        return list(self.server.ask(f"/api/documents/{self.document_id}")["spans"])

    def wait_saved(self) -> None:
        expect(self.page.locator('.tl-save[data-kind="saved"]')).to_be_visible()

    def select(self, words: str) -> None:
        """Select the first occurrence of `words`, as a mouse would."""
        self.page.evaluate(_SELECT, words)

    def put_caret(self, words: str, *, after: bool = True) -> None:
        self.page.evaluate(_SELECT, words)
        self.page.keyboard.press("ArrowRight" if after else "ArrowLeft")

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def paste(self, text: str) -> None:
        self.page.evaluate(_PASTE, text)

    def refine(self) -> None:
        self.page.locator(".tl-header .tl-refine").click()

    def wait_run_over(self) -> None:
        expect(self.page.locator(".tl-dock.tl-running")).to_have_count(0, timeout=60_000)

    def shoot(self, name: str) -> None:
        SHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=str(SHOTS / f"{name}.png"))


# Puts the selection where the words are, through the DOM, as dragging a mouse does.
_SELECT = """async words => {
  const content = document.querySelector('.cm-content')
  const view = content.cmTile.root.view
  content.focus()
  const find = () => {
    const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT)
    const nodes = []
    while (walker.nextNode()) {
      const node = walker.currentNode
      if (!node.parentElement.closest('.tl-draft, .tl-card, ins')) nodes.push(node)
    }
    const start = nodes.map(node => node.data).join('').indexOf(words)
    if (start < 0) throw new Error('these words are not in the text')
    const place = offset => {
      for (const node of nodes) {
        if (offset <= node.data.length) return [node, offset]
        offset -= node.data.length
      }
    }
    return [place(start), place(start + words.length)]
  }
  // A frame drawn before the editor has read the selection puts its own back, so ask again.
  for (let tries = 0; tries < 50; tries++) {
    const [start, end] = find()
    const range = document.createRange()
    range.setStart(...start)
    range.setEnd(...end)
    const selection = getSelection()
    selection.removeAllRanges()
    selection.addRange(range)
    await new Promise(done => setTimeout(done, 60))
    const {from, to} = view.state.selection.main
    const [first, last] = find()
    if (view.posAtDOM(...first) === from && view.posAtDOM(...last) === to) return
  }
  throw new Error('the editor did not take the selection')
}"""

_PASTE = """text => {
  const data = new DataTransfer()
  data.setData('text/plain', text)
  const event = new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})
  document.querySelector('.cm-content').dispatchEvent(event)
}"""


@pytest.fixture
def open_editor(page: Page, server: Server) -> Any:
    """Make a document over HTTP and open it in the page."""

    def open_document(text: str, *, spans: list[dict[str, Any]] | None = None) -> Editor:
        body = {"title": "Test", "text": text, **({} if spans is None else {"spans": spans})}
        document_id = server.ask("/api/documents", body)["id"]
        return open_existing(document_id)

    def open_existing(document_id: str) -> Editor:
        page.goto(f"{server.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
        editor = Editor(page, server, document_id)
        editor.wait_saved()
        return editor

    open_document.existing = open_existing  # type: ignore[attr-defined]
    return open_document
