"""Regions: marked, resized, joined, removed; their settings; what a run does with them (E, G6)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ACCESS_TOKEN, Editor, Server

pytestmark = pytest.mark.browser

TEXT = "One two three four five six seven."


def regions(editor: Editor) -> list[str]:
    text, spans = editor.text, editor.spans
    return [text[one["from"] : one["to"]] for one in spans if one["kind"] == "region"]


def test_a_region_is_marked_made_larger_joined_smaller_and_removed(open_editor: Any):
    editor: Editor = open_editor(TEXT)
    status = editor.page.locator(".tl-status")

    editor.select("two three")
    editor.press("Alt+Shift+G")
    expect(status).to_have_text("Marked as a region.")
    assert regions(editor) == ["two three"]

    editor.select("three four")
    editor.press("Alt+Shift+G")
    expect(status).to_have_text("Region made larger.")
    assert regions(editor) == ["two three four"]

    editor.select("six")
    editor.page.get_by_role("button", name="Region", exact=True).click()
    assert regions(editor) == ["two three four", "six"]
    editor.select("four five six")
    editor.press("Alt+Shift+G")
    expect(status).to_have_text("Regions joined.")
    assert regions(editor) == ["two three four five six"]

    editor.select("three four")
    editor.press("Alt+Shift+G")
    expect(status).to_have_text("Region made smaller.")
    assert regions(editor) == ["three four"]

    editor.press("ArrowRight")
    editor.press("Alt+Shift+G")
    expect(status).to_have_text("No longer a region.")
    assert regions(editor) == []


def test_resizing_a_region_is_one_undo_step(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[{"kind": "region", "from": 4, "to": 7}])
    editor.select("two three")
    editor.press("Alt+Shift+G")
    assert regions(editor) == ["two three"]

    editor.press("Control+z")

    assert regions(editor) == ["two"]


def test_a_region_takes_a_lock_in_whole(open_editor: Any):
    lock = {"kind": "locked", "from": TEXT.index("four"), "to": TEXT.index("six") - 1}
    editor: Editor = open_editor(TEXT, spans=[lock])

    editor.select("three four")
    editor.press("Alt+Shift+G")

    assert regions(editor) == ["three four five"]


def test_settings_of_a_region_open_at_the_caret_and_are_kept(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[{"kind": "region", "from": 4, "to": 13}])
    editor.put_caret("two")

    editor.press("Alt+Shift+S")
    dialog = editor.page.get_by_role("dialog", name="Region settings")
    expect(dialog.get_by_label("Rewrite")).to_be_focused()
    for _ in range(6):
        editor.press("ArrowLeft")
    dialog.get_by_label("Length, in word pieces").fill("4")
    dialog.get_by_label("Must say").fill("two, tea")
    dialog.get_by_label("Most words").fill("9")
    editor.press("Escape")

    expect(dialog).to_have_count(0)
    expect(editor.page.locator(".cm-content")).to_be_focused()
    (settings,) = [one["settings"] for one in editor.spans]
    assert settings == {
        "strength": 0.4,
        "length": 4,
        "constraints": [
            {"kind": "must_contain", "values": ["two", "tea"]},
            {"kind": "length", "maximum": 9},
        ],
    }
    editor.put_caret("two")
    editor.press("Alt+Shift+S")
    expect(dialog.get_by_label("Must say")).to_have_value("two, tea")


def test_settings_changed_after_typing_keep_the_region_where_it_is(open_editor: Any):
    """The panel's row was drawn before the text moved."""
    editor: Editor = open_editor(TEXT, spans=[{"kind": "region", "from": 4, "to": 13}])
    editor.page.locator(".tl-region-row summary").click()
    editor.put_caret("One")
    editor.type(" and a half")

    field = editor.page.locator(".tl-region-row").get_by_label("Length, in word pieces")
    field.fill("3")
    field.press("Tab")

    assert regions(editor) == ["two three"]
    assert [one["settings"] for one in editor.spans] == [{"length": 3}]


def test_wrong_bounds_are_told_and_not_kept(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[{"kind": "region", "from": 4, "to": 13}])
    editor.put_caret("two")
    editor.press("Alt+Shift+S")
    dialog = editor.page.get_by_role("dialog", name="Region settings")

    dialog.get_by_label("Fewest words").fill("5")
    dialog.get_by_label("Most words").fill("2")
    editor.press("Tab")

    assert dialog.locator("input:invalid").count() == 1
    editor.press("Escape")
    constraints = editor.spans[0]["settings"].get("constraints", [])
    assert constraints in ([], [{"kind": "length", "minimum": 5}])


@pytest.fixture(scope="module")
def slow_server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Passes that last: what happens during a run can be done in peace."""
    running = Server(tmp_path_factory.mktemp("slow"), settings={"TIDELINE_SCRIPTED_PASS_MS": "400"})
    running.start()
    running.wait_ready()
    yield running
    running.stop()


LONG = "We would be very happy if you could perhaps come a bit early so that there is time."


def start_slow_run(page: Page, server: Server) -> Editor:
    text = f"First line.\n\n{LONG}\n\nAnother: {LONG}"
    start, other = text.index(LONG), text.rindex(LONG)
    spans = [
        {"kind": "region", "from": start, "to": start + len(LONG)},
        {"kind": "region", "from": other, "to": other + len(LONG)},
    ]
    document_id = server.ask("/api/documents", {"title": "Slow", "text": text, "spans": spans})[
        "id"
    ]
    page.goto(f"{server.url}/?token={ACCESS_TOKEN}#/d/{document_id}")
    editor = Editor(page, server, document_id)
    editor.wait_saved()
    editor.press("Control+Shift+Enter")
    expect(page.locator(".tl-draft")).to_have_count(2)
    return editor


def stop_run(editor: Editor) -> None:
    editor.page.locator(".tl-dock .tl-stop").click()
    editor.wait_run_over()


def test_G6_a_run_is_still_there_after_a_reload_and_can_be_stopped(page: Page, slow_server: Server):
    editor = start_slow_run(page, slow_server)

    page.reload()
    editor.wait_saved()

    expect(page.locator(".tl-dock.tl-running")).to_be_visible()
    expect(page.locator(".tl-run-words")).not_to_have_text("No run yet")
    expect(page.locator(".tl-draft")).to_have_count(2)
    stop_run(editor)
    expect(page.locator(".tl-draft")).to_have_count(0)


def test_an_edit_inside_one_region_leaves_the_run_to_the_others(page: Page, slow_server: Server):
    editor = start_slow_run(page, slow_server)

    editor.put_caret("Another: ")
    editor.press("ArrowRight")
    editor.type("x")

    expect(page.locator(".tl-draft")).to_have_count(1)
    expect(page.locator(".tl-dock.tl-running")).to_be_visible()
    expect(page.locator(".tl-status")).to_contain_text("left the region you are writing in")
    stop_run(editor)


def test_settled_words_only_shows_open_words_as_blanks(page: Page, slow_server: Server):
    page.add_init_script("localStorage.setItem('tideline.words', 'settled')")
    editor = start_slow_run(page, slow_server)

    expect(page.locator(".tl-draft .tl-masks").first).to_be_visible()
    expect(page.locator(".tl-draft .tl-open")).to_have_count(0)

    label = page.get_by_label("While it works")
    expect(label).to_have_value("settled")
    stop_run(editor)


def test_B5_markup_inside_a_region_is_kept_unless_said_otherwise(open_editor: Any):
    editor: Editor = open_editor(TEXT, spans=[{"kind": "region", "from": 4, "to": 13}])
    editor.put_caret("two")
    editor.press("Alt+Shift+S")
    keep = editor.page.get_by_role("dialog").get_by_label("Keep links, images and code")
    expect(keep).to_be_checked()

    keep.uncheck()
    editor.press("Escape")

    assert [one["settings"] for one in editor.spans] == [{"lock_markup": False}]


def test_G5_a_run_told_to_stop_says_that_it_will(page: Page, slow_server: Server):
    editor = start_slow_run(page, slow_server)

    page.locator(".tl-dock .tl-stop").click()

    expect(page.locator(".tl-dock-words")).to_have_text("Stopping after this pass")
    expect(page.locator(".tl-stop")).to_be_disabled()
    editor.wait_run_over()
    expect(page.locator(".tl-run-words")).to_contain_text("Stopped by you")


def test_B2_of_a_repeated_word_the_chosen_one_is_changed(open_editor: Any):
    text = "the tide, the tide, the tide."
    start = text.index("tide", 10)
    region = {"kind": "region", "from": start, "to": start + len("tide")}
    editor: Editor = open_editor(text, spans=[region])

    editor.refine()
    expect(editor.page.locator(".tl-card")).to_be_visible(timeout=60_000)
    editor.wait_run_over()
    editor.page.get_by_role("button", name="Accept all (1)").first.click()
    expect(editor.page.locator("ins.tl-ins")).to_have_count(0)

    after = editor.text
    assert after.startswith("the tide, the ")
    assert after.endswith(", the tide.")
    assert after != text
