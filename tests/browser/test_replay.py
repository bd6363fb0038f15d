"""Replay of a finished run from memory: stepped, scrubbed, masked, in sentences, beside another."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser

REGION = "come a bit early so that there is enough time"
TEXT = f"Dear all. Please {REGION} for tea, and bring [___] too."
FACTS = re.compile(r"^Pass (\d+) of (\d+) · [\d.]+ s · (\d+) % settled$")


NUM_REGIONS = 2
NUM_ALTERNATIVES = 3


@pytest.fixture
def editor(page: Page, open_editor: Any) -> Editor:
    """A finished run; with reduced motion a replay does not start by itself."""
    page.emulate_media(reduced_motion="reduce")
    start, blank = TEXT.index(REGION), TEXT.index("[___]")
    made: Editor = open_editor(
        TEXT,
        spans=[
            {"kind": "region", "from": start, "to": start + len(REGION)},
            {"kind": "region", "from": blank, "to": blank + 5, "settings": {"blank": True}},
        ],
    )
    made.press("Control+Shift+Enter")
    expect(made.page.locator(".tl-card")).to_be_visible(timeout=30_000)
    made.wait_run_over()
    return made


def open_replay(editor: Editor) -> Locator:
    editor.press("Alt+Shift+V")
    dialog = editor.page.get_by_role("dialog", name="Replay")
    expect(dialog.get_by_label("Moment of the run")).to_be_focused()
    return dialog


def facts(dialog: Locator) -> tuple[int, int, int]:
    found = FACTS.match(dialog.locator(".tl-stage-facts").first.inner_text())
    assert found is not None
    return int(found[1]), int(found[2]), int(found[3])


def last_pass(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Last pass").click()


def test_a_run_is_stepped_from_its_first_pass_to_its_last(editor: Editor):
    dialog = open_replay(editor)
    shown = dialog.locator(".tl-stage-facts")
    start = shown.inner_text()
    # Passes may be dropped on their way, the first one too.
    first, last, settled = facts(dialog)
    assert first < last
    assert settled < 100

    editor.press("ArrowRight")
    expect(shown).not_to_have_text(start)
    dialog.get_by_role("button", name="Step back").click()
    expect(shown).to_have_text(start)
    last_pass(dialog)

    assert facts(dialog) == (last, last, 100)
    words = dialog.locator(".tl-stage-region").all_inner_texts()
    best = [row.inner_text() for row in editor.page.locator(".tl-alternative-text").all()]
    assert all(" ".join(one.split()) in [" ".join(text.split()) for text in best] for one in words)
    assert editor.text == TEXT


def test_the_words_stand_in_their_sentence(editor: Editor):
    dialog = open_replay(editor)
    last_pass(dialog)

    paragraphs = dialog.locator(".tl-stage-text p")
    expect(paragraphs).to_have_count(1)
    expect(paragraphs).to_contain_text("Dear all. Please ")
    expect(paragraphs).to_contain_text(" for tea, and bring ")
    expect(paragraphs).not_to_contain_text("[___]")


def test_pressing_a_row_of_the_strip_goes_there(editor: Editor):
    dialog = open_replay(editor)
    picture = dialog.locator(".tl-replay-strip svg")
    box = picture.bounding_box()
    assert box is not None

    picture.click(position={"x": box["width"] / 2, "y": box["height"] - 2})

    number, last, _ = facts(dialog)
    assert number == last
    expect(dialog.locator(".tl-ahead")).to_have_count(0)


def test_a_replay_plays_by_itself_and_pauses(editor: Editor):
    dialog = open_replay(editor)
    dialog.get_by_label("Speed").select_option("4")

    dialog.get_by_role("button", name="Play", exact=True).click()
    expect(dialog.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(dialog.get_by_role("button", name="Play", exact=True)).to_be_visible()

    number, last, settled = facts(dialog)
    assert (number, settled) == (last, 100)


def test_the_replay_is_played_and_stepped_from_the_slider_by_keyboard(editor: Editor):
    dialog = open_replay(editor)
    expect(dialog.get_by_label("What is equal")).to_be_hidden()

    editor.press(" ")
    expect(dialog.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    editor.press("End")
    expect(dialog.get_by_role("button", name="Play", exact=True)).to_be_visible()
    number, last, settled = facts(dialog)
    assert (number, settled) == (last, 100)
    dialog.get_by_role("button", name="As sentences").click()

    told = dialog.locator(".tl-sentences li").last.inner_text()
    assert told.startswith(f"Pass {last} of {last}:"), "the same count as above the words"


def test_N15_hidden_words_are_nowhere_in_the_replay(editor: Editor):
    dialog = open_replay(editor)
    last_pass(dialog)
    # Short words stand in the page's own sentences too.
    texts = " ".join(dialog.locator(".tl-stage-region").all_inner_texts())
    words = {word for word in texts.split() if len(word) > 6}
    assert words

    dialog.get_by_role("button", name="Hide words").click()
    dialog.get_by_role("button", name="As sentences").click()

    shown = dialog.evaluate("element => element.textContent")
    assert "Dear" not in shown
    assert not [word for word in words if re.search(rf"\b{re.escape(word)}\b", shown)]
    assert dialog.locator(".tl-bar").count() > len(words)


def test_N16_the_replay_is_a_list_of_sentences_stepped_by_keyboard(editor: Editor):
    dialog = open_replay(editor)
    dialog.get_by_role("button", name="As sentences").click()
    options = dialog.locator(".tl-sentences").get_by_role("option")
    expect(options.first).to_be_focused()
    expect(options.first).to_have_text(re.compile(r"^Pass \d+ of \d+: \d+ of \d+ words settled"))

    editor.press("ArrowDown")
    expect(options.nth(1)).to_be_focused()
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    editor.press("End")
    expect(options.last).to_be_focused()
    editor.press("Home")

    expect(options.first).to_be_focused()


def test_N12_a_run_left_to_right_stands_beside_it_and_is_not_kept(editor: Editor):
    alternatives = editor.page.locator(".tl-alternative-text")
    expect(alternatives).to_have_count(NUM_REGIONS * NUM_ALTERNATIVES)
    shown = alternatives.all_inner_texts()
    dialog = open_replay(editor)

    dialog.get_by_role("button", name="Set beside left to right").click()

    expect(dialog.locator(".tl-stage")).to_have_count(2)
    beside = dialog.locator(".tl-stage-facts").nth(1)
    expect(beside).to_have_text(
        re.compile(r"^Pass \d+ of \d+ · [\d.]+ s · \d+ words?$"), timeout=60_000
    )
    last_pass(dialog)
    number, last = re.findall(r"\d+", beside.inner_text())[:2]
    assert number == last
    dialog.get_by_label("What is equal").select_option("passes")
    expect(dialog.locator(".tl-stage-facts").first).to_have_text(FACTS)
    editor.press("Escape")
    expect(dialog).to_have_count(0)

    expect(alternatives).to_have_text(shown)
    editor.page.reload()
    editor.wait_saved()
    editor.page.get_by_role("tab", name="Review").click()
    expect(alternatives).to_have_text(shown)
    assert editor.text == TEXT


def test_there_is_nothing_to_replay_before_a_run(open_editor: Any):
    editor: Editor = open_editor("No regions here.")
    editor.put_caret("here")

    editor.press("Alt+Shift+V")

    expect(editor.page.locator(".tl-status")).to_have_text("There is no run to replay yet.")
    expect(editor.page.locator(".tl-replay-button")).to_be_hidden()
