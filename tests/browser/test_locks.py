"""Locked text stays as it is, whatever the keyboard, the clipboard or undo try (B4, T1-T6)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Editor

pytestmark = pytest.mark.browser

TEXT = "Take 5 mg of the blue tablets every day."
LOCKED = "5 mg"


@pytest.fixture
def editor(open_editor: Any) -> Editor:
    start = TEXT.index(LOCKED)
    lock = {"kind": "locked", "from": start, "to": start + len(LOCKED)}
    made: Editor = open_editor(TEXT, spans=[lock])
    return made


def expect_refusal(editor: Editor, words: str) -> None:
    expect(editor.page.locator(".tl-refusal")).to_contain_text(words)
    expect(editor.page.locator(".tl-status")).to_contain_text(words)


def test_B4_typing_inside_a_lock_is_refused_at_the_caret(editor: Editor):
    editor.put_caret("5 m")

    editor.type("x")

    expect_refusal(editor, "locked")
    assert editor.text == TEXT


def test_B4_the_refusal_is_readable_and_stays_over_the_paper(open_editor: Any):
    text = " ".join(["word"] * 60)
    lock = {"kind": "locked", "from": 0, "to": len(text)}
    editor: Editor = open_editor(text, spans=[lock])
    editor.put_caret("word")
    editor.press("End")

    editor.press("Backspace")

    note = editor.page.locator(".tl-refusal")
    expect(note).to_be_visible()
    expect(note).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    shown, paper = note.bounding_box(), editor.page.locator(".tl-paper").bounding_box()
    assert shown is not None
    assert paper is not None
    assert shown["x"] >= paper["x"]
    assert shown["x"] + shown["width"] <= paper["x"] + paper["width"]


def test_T3_a_digit_against_a_locked_number_is_refused(editor: Editor):
    editor.put_caret("Take ")

    editor.type("1")

    expect_refusal(editor, "would change the locked word")
    assert editor.text == TEXT


def test_T3_a_word_typed_before_a_lock_gets_its_space(editor: Editor):
    editor.put_caret("Take ")

    editor.type("only")

    assert editor.text == TEXT.replace("Take ", "Take only ")


def test_B4_backspace_and_cut_leave_a_lock(editor: Editor):
    editor.put_caret("5 mg")
    editor.press("Backspace")
    expect_refusal(editor, "locked")

    editor.select("Take 5 mg of")
    editor.press("Control+x")

    assert editor.text == "5 mg the blue tablets every day."


def test_T2_pasting_over_everything_keeps_a_lock(editor: Editor):
    editor.page.locator(".cm-content").focus()
    editor.press("Control+a")

    editor.paste("New words.")

    assert LOCKED in editor.text
    assert "tablets" not in editor.text


def test_T2_words_pasted_over_everything_do_not_run_into_a_lock(editor: Editor):
    editor.page.locator(".cm-content").focus()
    editor.press("Control+a")

    editor.paste("New words")

    assert editor.text == f"New words {LOCKED}"


def test_T2_a_number_pasted_over_everything_is_refused(editor: Editor):
    editor.page.locator(".cm-content").focus()
    editor.press("Control+a")

    editor.paste("Room 1")

    expect_refusal(editor, "This would change the locked word or number.")
    assert editor.text == TEXT


def test_T4_undo_of_typing_that_was_locked_later_is_refused(editor: Editor):
    editor.put_caret("every day")
    editor.type(" at noon")
    editor.wait_saved()
    editor.select("at noon")
    editor.press("Alt+Shift+L")
    editor.press("Control+z")  # the lock itself is undone first
    expect(editor.page.locator(".tl-lock")).to_have_text([LOCKED])
    editor.press("Control+y")
    expect(editor.page.locator(".tl-lock")).to_have_text([LOCKED, "at noon"])
    # Forget the lock as an undo step: another client holds it now.
    editor.page.reload()
    editor.wait_saved()

    editor.put_caret("blue")
    editor.type("!")
    editor.select("blue!")
    editor.page.get_by_role("button", name="Lock", exact=True).click()
    editor.press("Control+z")
    editor.press("Control+z")

    assert "at noon" in editor.text
    assert LOCKED in editor.text


def test_C6_undoing_a_deletion_brings_a_region_back(open_editor: Any):
    editor: Editor = open_editor("One two three.", spans=[{"kind": "region", "from": 4, "to": 7}])
    editor.select("two")
    editor.press("Delete")
    expect(editor.page.locator(".tl-region")).to_have_count(0)
    editor.wait_saved()

    editor.press("Control+z")

    expect(editor.page.locator(".tl-region")).to_have_text("two")
    assert [(s["kind"], s["from"], s["to"]) for s in editor.spans] == [("region", 4, 7)]


def test_B4_a_lock_from_elsewhere_stops_an_undo_that_would_remove_it(editor: Editor):
    """T4 in the wild: the history cannot know of a lock that came from the server."""
    editor.put_caret("every day")
    editor.type(" at noon")
    text = editor.text
    start = text.index("at noon")
    spans = [*editor.spans, {"kind": "locked", "from": start, "to": start + len("at noon")}]
    editor.server.ask(f"/api/documents/{editor.document_id}/spans", {"spans": spans}, "PUT")
    expect(editor.page.locator(".tl-lock")).to_have_text([LOCKED, "at noon"])

    editor.page.locator(".cm-content").focus()
    editor.press("Control+z")

    expect_refusal(editor, "Undo would change locked text")
    assert editor.text == text


@pytest.mark.parametrize(
    "words", ["👩‍⚕️ nurse", "🇬🇧 flag", "é accent", "שלום עולם", "日本語の文", "mañana"]
)
def test_E7_unicode_goes_through_lock_edit_and_undo(open_editor: Any, words: str):
    text = f"Before {words} after."
    editor: Editor = open_editor(text)
    editor.select(words)
    editor.press("Alt+Shift+L")
    locked = editor.spans[0]
    assert text[locked["from"] : locked["to"]] == words

    editor.put_caret("after")
    editor.type(" all")
    assert editor.text == f"Before {words} after all."
    editor.press("Control+z")
    assert editor.text == text


@pytest.mark.parametrize("sign", ["%", "-10", "/day", ".5", "\u200b0"])
def test_a_sign_or_unit_against_a_locked_number_is_refused(open_editor: Any, sign: str):
    """As the server does: it would otherwise come back as a conflict."""
    text = "Take 5 now."
    editor: Editor = open_editor(text, spans=[{"kind": "locked", "from": 5, "to": 6}])
    editor.put_caret("Take 5")

    editor.paste(sign)

    expect_refusal(editor, "would change the locked word")
    assert editor.text == text


def test_T6_pasting_the_whole_text_back_keeps_locks_regions_and_version(open_editor: Any):
    """Someone edits a copy elsewhere and pastes it over all: only what differs is replaced."""
    region = TEXT.index("blue tablets")
    spans = [
        {"kind": "locked", "from": TEXT.index(LOCKED), "to": TEXT.index(LOCKED) + len(LOCKED)},
        {"kind": "region", "from": region, "to": region + len("blue tablets")},
    ]
    editor: Editor = open_editor(TEXT, spans=spans)
    saved = editor.page.locator(".tl-save")
    editor.page.locator(".cm-content").focus()
    for _ in range(2):  # the region first, then all
        editor.press("Control+a")
    editor.paste(TEXT)
    expect(saved).to_have_text("Saved (r0)")
    assert editor.text == TEXT

    editor.press("Control+a")
    editor.paste(TEXT.replace("every", "each") + " Or two.")

    assert editor.text == TEXT.replace("every", "each") + " Or two."
    expect(editor.page.locator(".tl-lock")).to_have_text(LOCKED)
    expect(editor.page.locator(".tl-region")).to_have_text("blue tablets")


def test_G3_what_is_pasted_is_plain_text(open_editor: Any):
    """Word processors put all of it into one bold element on the clipboard."""
    editor: Editor = open_editor("Start. ")
    editor.put_caret("Start. ")
    editor.page.evaluate(
        """() => {
      const data = new DataTransfer()
      data.setData('text/plain', 'Two words\\r\\nand a line')
      data.setData('text/html',
        '<b style="font-weight:normal"><script>1</script><p class="c1">Two words</p></b>')
      document.querySelector('.cm-content').dispatchEvent(
        new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))
    }"""
    )

    assert editor.text == "Start. Two words\nand a line"
    expect(editor.page.locator(".cm-content :is(b, script, p)")).to_have_count(0)
