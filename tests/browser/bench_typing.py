"""How long a keystroke takes until it is painted, in large documents (G1, G2).

Run from the repository's root: `python -m tests.browser.bench_typing`. Not a test: nothing is
asserted, and pytest does not collect it. Starts a server with the scripted denoiser in a scratch
directory and types in a headless Chromium; the last line of standard output is one JSON document.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import ACCESS_TOKEN, SYSTEM_CHROMIUM, Server

KEYSTROKES = 120
WARM_UP = 10
NUM_REGIONS = 500
LONG_WORDS = 100_000
LINE_WORDS = 2_000
WORDS_PER_PARAGRAPH = 80
WORDS = ("the", "tide", "comes", "in", "and", "goes", "out", "while", "the", "harbour", "waits")
OPEN_LIMIT_MS = 120_000

# From the key press to the first task after the frame that shows it.
_MEASURE = """() => {
  window.measured = []
  const channel = new MessageChannel()
  let pressedAt = 0
  channel.port1.onmessage = () => window.measured.push(performance.now() - pressedAt)
  document.addEventListener('keydown', event => {
    pressedAt = event.timeStamp
    requestAnimationFrame(() => channel.port2.postMessage(null))
  }, true)
}"""


@dataclass(frozen=True)
class Figures:
    """Milliseconds from key press to paint."""

    document: str
    num_words: int
    num_regions: int
    p50_ms: float
    p95_ms: float
    worst_ms: float


def plain_words(count: int) -> Iterator[str]:
    for number in range(count):
        yield WORDS[number % len(WORDS)]


def long_document() -> str:
    words = list(plain_words(LONG_WORDS))
    starts = range(0, LONG_WORDS, WORDS_PER_PARAGRAPH)
    return "\n\n".join(" ".join(words[at : at + WORDS_PER_PARAGRAPH]) + "." for at in starts)


def evenly_spaced_regions(text: str, count: int) -> list[dict[str, Any]]:
    """Regions of one word each, spread over the text."""
    regions: list[dict[str, Any]] = []
    for number in range(count):
        start = text.find(" ", number * len(text) // (count + 1)) + 1
        end = text.find(" ", start)
        regions.append({"kind": "region", "from": start, "to": end})
    return regions


def measure(page: Page, server: Server, name: str, text: str, *, num_regions: int = 0) -> Figures:
    spans = evenly_spaced_regions(text, num_regions)
    body = {"title": name, "text": text, "spans": spans}
    document_id = server.ask("/api/documents", body)["id"]
    page.goto(f"{server.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
    saved = page.locator('.tl-save[data-kind="saved"]')
    expect(saved).to_be_visible(timeout=OPEN_LIMIT_MS)
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+Home")
    for _ in range(WARM_UP):
        page.keyboard.press("ArrowRight")
    page.evaluate(_MEASURE)
    for number in range(KEYSTROKES):
        page.keyboard.press("abcdefghij "[number % 11])
    page.wait_for_function("count => window.measured.length >= count", arg=KEYSTROKES)
    times = sorted(page.evaluate("window.measured"))
    expect(saved).to_be_visible(timeout=OPEN_LIMIT_MS)
    page.goto("about:blank")
    return Figures(
        document=name,
        num_words=len(text.split()),
        num_regions=num_regions,
        p50_ms=round(times[len(times) // 2], 1),
        p95_ms=round(times[int(len(times) * 0.95)], 1),
        worst_ms=round(times[-1], 1),
    )


def measure_all(browser: Browser, server: Server) -> list[Figures]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    long_text, line = long_document(), " ".join(plain_words(LINE_WORDS)) + "."
    return [
        measure(page, server, "one short line", "Start."),
        measure(page, server, "2,000 words in one line", line),
        measure(page, server, "100,000 words", long_text),
        measure(page, server, "100,000 words, 500 regions", long_text, num_regions=NUM_REGIONS),
        measure(
            page, server, "2,000 words in one line, 500 regions", line, num_regions=NUM_REGIONS
        ),
    ]


def main() -> None:
    found = {"executable_path": str(SYSTEM_CHROMIUM)} if SYSTEM_CHROMIUM.exists() else {}
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        server = Server(Path(scratch))
        server.start()
        try:
            browser = playwright.chromium.launch(args=["--no-sandbox", "--disable-gpu"], **found)
            figures = measure_all(browser, server)
            browser.close()
        finally:
            server.stop()
    for one in figures:
        sys.stderr.write(f"{one.document}: p50 {one.p50_ms} ms, p95 {one.p95_ms} ms\n")
    sys.stdout.write(json.dumps([asdict(one) for one in figures]) + "\n")


if __name__ == "__main__":
    main()
