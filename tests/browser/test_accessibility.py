"""axe finds nothing serious in any main state, light and dark; the page works at 320 px."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from static.build_hook import install_dev_packages
from tests.browser.conftest import REPOSITORY, Editor

pytestmark = pytest.mark.browser

AXE = REPOSITORY / "static" / "node_modules" / "axe-core" / "axe.min.js"
TEXT = (
    "# A heading\n\nWords that are locked, [___], and a sentence that may well be rewritten soon."
)


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which npm brings for tests only."""
    if not AXE.is_file():
        install_dev_packages()
    return AXE.read_text(encoding="utf-8")


State = Callable[[Editor], None]


def at_rest(editor: Editor) -> None:
    expect(editor.page.locator(".tl-lock")).to_be_visible()


def in_review(editor: Editor) -> None:
    editor.refine()
    expect(editor.page.locator(".tl-card")).to_be_visible(timeout=60_000)
    editor.wait_run_over()


def in_a_run(editor: Editor) -> None:
    editor.refine()
    expect(editor.page.locator(".tl-draft").first).to_be_visible()


def in_history(editor: Editor) -> None:
    editor.page.get_by_role("tab", name="History").click()


def with_settings_open(editor: Editor) -> None:
    editor.page.get_by_role("button", name="Refine settings").click()
    expect(editor.page.get_by_role("dialog", name="Refine settings")).to_be_visible()


def with_shortcuts_open(editor: Editor) -> None:
    editor.press("Control+/")
    expect(editor.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def with_about_open(editor: Editor) -> None:
    editor.page.get_by_role("button", name="About Tideline").click()
    expect(editor.page.get_by_role("dialog", name="About Tideline")).to_be_visible()


def in_review_of_changes(editor: Editor) -> None:
    in_review(editor)
    editor.page.locator(".cm-content").focus()
    editor.press("F8")
    expect(editor.page.locator(".tl-card")).to_be_focused()


def with_alternatives_open(editor: Editor) -> None:
    in_review(editor)
    editor.press("Alt+Shift+A")
    expect(editor.page.get_by_role("dialog", name="Alternatives side by side")).to_be_visible()


def in_replay(editor: Editor) -> None:
    in_review(editor)
    editor.press("Alt+Shift+V")
    replay = editor.page.get_by_role("dialog", name="Replay")
    replay.get_by_role("button", name="Last pass").click()
    expect(replay.locator(".tl-stage-facts")).to_contain_text("100 % settled")


def in_the_sentences_of_a_replay(editor: Editor) -> None:
    in_replay(editor)
    editor.page.get_by_role("button", name="As sentences").click()
    expect(editor.page.get_by_role("listbox")).to_be_visible()


def in_plain_text(editor: Editor) -> None:
    in_review(editor)
    editor.press("Alt+Shift+T")
    expect(editor.page.get_by_label("Document text, plain")).to_be_focused()


def with_origins_shown(editor: Editor) -> None:
    editor.put_caret("soon")
    editor.paste(" after all")
    editor.press("Alt+Shift+W")
    expect(editor.page.locator(".cm-line .tl-origin-pasted")).to_be_visible()


def comparing_versions(editor: Editor) -> None:
    editor.put_caret("soon")
    editor.type(" after all")
    editor.wait_saved()
    in_history(editor)
    editor.page.get_by_role("button", name="Compare with now").last.click()
    expect(editor.page.get_by_role("dialog").locator("ins")).to_be_visible()


def naming_a_version(editor: Editor) -> None:
    editor.press("Control+s")
    expect(editor.page.get_by_role("dialog", name="Name this version")).to_be_visible()


def with_region_settings_open(editor: Editor) -> None:
    editor.put_caret("a sentence")
    editor.press("ArrowLeft")
    editor.press("Alt+Shift+S")
    expect(editor.page.get_by_role("dialog", name="Region settings")).to_be_visible()


def with_the_menu_and_tour_open(editor: Editor) -> None:
    editor.page.get_by_role("button", name="More", exact=True).click()
    editor.page.get_by_role("button", name="Take the tour").click()
    expect(editor.page.get_by_label("A short tour")).to_be_visible()
    editor.page.get_by_role("button", name="More", exact=True).click()
    expect(editor.page.get_by_role("button", name="Take the tour")).to_be_visible()


def finalising(editor: Editor) -> None:
    editor.page.get_by_role("button", name="Finalise this document").click()
    expect(editor.page.get_by_role("dialog", name="Finalise this document")).to_be_visible()


def with_the_run_card_open(editor: Editor) -> None:
    in_review(editor)
    editor.page.get_by_role("tab", name="Refine").click()
    editor.page.locator(".tl-run-card summary").click()
    expect(editor.page.get_by_role("button", name="Copy as JSON")).to_be_visible()


def with_handles_shown(editor: Editor) -> None:
    editor.put_caret("a sentence")
    expect(editor.page.locator(".tl-handle")).to_have_count(2)


def in_the_sheet_of_a_phone(editor: Editor) -> None:
    editor.page.set_viewport_size({"width": 390, "height": 844})
    editor.page.locator(".tl-phone-tools").get_by_role("button", name="Runs, review").click()
    expect(editor.page.get_by_role("tab", name="History")).to_be_visible()


def with_nothing_written(editor: Editor) -> None:
    editor.page.get_by_role("button", name="New document").click()
    expect(editor.page.locator(".cm-content")).to_be_focused()


STATES: list[State] = [
    at_rest,
    in_a_run,
    in_review,
    in_history,
    with_settings_open,
    with_shortcuts_open,
    with_about_open,
    in_review_of_changes,
    with_alternatives_open,
    in_replay,
    in_the_sentences_of_a_replay,
    in_plain_text,
    with_origins_shown,
    comparing_versions,
    naming_a_version,
    with_region_settings_open,
    with_the_menu_and_tour_open,
    finalising,
    with_the_run_card_open,
    with_handles_shown,
    in_the_sheet_of_a_phone,
    with_nothing_written,
]


def open_sample(open_editor: Any) -> Editor:
    lock, region = TEXT.index("locked"), TEXT.index("a sentence")
    blank = TEXT.index("[___]")
    made: Editor = open_editor(
        TEXT,
        spans=[
            {"kind": "locked", "from": lock, "to": lock + len("locked")},
            {"kind": "region", "from": blank, "to": blank + 5, "blank": True},
            {"kind": "region", "from": region, "to": len(TEXT) - 1},
        ],
    )
    return made


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_R13_axe_finds_nothing_serious(
    page: Page, open_editor: Any, axe: str, theme: Any, state: State
):
    page.emulate_media(color_scheme=theme)
    editor = open_sample(open_editor)
    state(editor)
    editor.shoot(f"{state.__name__}-{theme}")

    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")

    serious = [
        (violation["id"], [node["target"] for node in violation["nodes"][:4]])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert not serious


def test_R17_a_width_of_320_needs_no_sideways_scrolling(page: Page, open_editor: Any):
    page.set_viewport_size({"width": 320, "height": 640})
    editor = open_sample(open_editor)
    editor.page.locator(".tl-phone-tools .tl-refine").click()
    stop = editor.page.locator(".tl-dock .tl-stop")
    expect(stop).to_be_in_viewport(ratio=1)
    expect(editor.page.locator(".tl-status")).to_be_in_viewport()
    editor.shoot("narrow-run")
    editor.wait_run_over()
    editor.shoot("narrow-review")

    overflow = editor.page.evaluate(
        "Math.max(...['html', '.tl-app', '.cm-scroller'].map(name => {"
        " const e = document.querySelector(name); return e.scrollWidth - e.clientWidth }))"
    )
    assert overflow <= 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_phone_screens(page: Page, open_editor: Any, theme: Any):
    """The phone layout: one column, panels in a sheet that closes again."""
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": 390, "height": 844})
    editor = open_sample(open_editor)
    editor.shoot(f"phone-{theme}")

    page.locator(".tl-phone-tools").get_by_role("button", name="Runs, review").click()
    expect(page.get_by_role("tab", name="History")).to_be_visible()
    editor.shoot(f"phone-sheet-{theme}")
    page.keyboard.press("Escape")

    expect(page.get_by_role("tab", name="History")).to_be_hidden()


def test_R19_prose_is_spellchecked(open_editor: Any):
    editor = open_sample(open_editor)
    content = editor.page.locator(".cm-content")

    for name, value in {
        "spellcheck": "true",
        "autocorrect": "on",
        "writingsuggestions": "true",
        "translate": "yes",
    }.items():
        expect(content).to_have_attribute(name, value)


def test_R14_tab_leaves_the_text(open_editor: Any):
    editor = open_sample(open_editor)
    editor.page.locator(".cm-content").focus()

    editor.press("Tab")

    expect(editor.page.locator(".cm-content")).not_to_be_focused()
    assert editor.text == TEXT


def test_R11_blanks_have_a_text_alternative(open_editor: Any):
    editor = open_sample(open_editor)
    in_a_run(editor)

    expect(editor.page.locator('.tl-masks[role="img"][aria-label="blank"]').first).to_be_attached()
    editor.wait_run_over()


def test_R9_forced_colours_keep_states_apart(page: Page, open_editor: Any):
    page.emulate_media(forced_colors="active")
    editor = open_sample(open_editor)
    editor.shoot("forced-colours")

    borders = {
        name: page.locator(f".{name}").first.evaluate("e => getComputedStyle(e).borderBottomStyle")
        for name in ("tl-lock", "tl-region")
    }
    assert borders == {"tl-lock": "solid", "tl-region": "dashed"}


# How each state is drawn, colours left out.
_SHAPE = """name => {
  const style = getComputedStyle(document.querySelector(name))
  const line = style.textDecorationLine
  const picture = style.backgroundImage === 'none' ? '' : 'picture'
  const kind = line === 'none' ? '' : style.textDecorationStyle
  const frame = style.borderTopWidth === '0px' ? 'none' : style.borderTopStyle
  return [line, kind, frame, picture].join(' ')
}"""


def test_R9_every_state_has_a_shape_of_its_own(page: Page, open_editor: Any):
    editor = open_sample(open_editor)
    shapes = {name: page.evaluate(_SHAPE, name) for name in (".tl-lock", ".tl-region")}
    in_a_run(editor)
    expect(page.locator(".tl-box").first).to_be_visible()
    shapes[".tl-box"] = page.evaluate(_SHAPE, ".tl-box")
    editor.wait_run_over()
    expect(page.locator(".cm-line del.tl-del, .cm-line .tl-del").first).to_be_visible()
    shapes |= {name: page.evaluate(_SHAPE, name) for name in ("ins.tl-ins", ".tl-del")}

    assert shapes[".tl-lock"] == "underline solid none picture"
    assert shapes[".tl-region"] == "underline dashed none "
    assert shapes[".tl-del"].startswith("line-through")
    assert len(set(shapes.values())) == len(shapes)


def test_R17_at_400_percent_zoom_the_text_keeps_most_of_the_height(page: Page, open_editor: Any):
    """A screen of 1280 by 800 leaves 320 by 200."""
    page.set_viewport_size({"width": 320, "height": 200})
    editor = open_sample(open_editor)
    paper = page.locator(".tl-paper").bounding_box()
    assert paper is not None
    assert paper["height"] >= 100

    page.locator(".tl-phone-tools .tl-refine").click()

    expect(page.locator(".tl-dock .tl-stop")).to_be_in_viewport(ratio=1)
    expect(page.locator(".tl-status")).to_be_in_viewport(ratio=1)
    editor.shoot("zoomed-run")
    editor.wait_run_over()


def test_R8_with_reduced_motion_nothing_moves_in_any_state(page: Page, open_editor: Any):
    page.emulate_media(reduced_motion="reduce")
    editor = open_sample(open_editor)
    moving = """() => [...document.querySelectorAll('.tl-app, .tl-app *')].flatMap(element =>
      ['', '::before', '::after'].flatMap(pseudo => {
        const style = getComputedStyle(element, pseudo || null)
        const still = style.animationName === 'none'
          && style.transitionDuration.split(', ').every(one => parseFloat(one) === 0)
        return still ? [] : [element.className + pseudo]
      }))"""

    for state in (at_rest, in_review, in_history, with_the_menu_and_tour_open):
        state(editor)
        assert page.evaluate(moving) == []


def test_R8_with_reduced_motion_the_text_is_swapped_once_a_second_at_most(
    page: Page, open_editor: Any
):
    """Also when every pass is asked for."""
    page.emulate_media(reduced_motion="reduce")
    page.add_init_script("localStorage.setItem('tideline.rate', 'live')")
    editor = open_sample(open_editor)
    page.evaluate(
        """() => {
      window.swaps = []
      const seen = node => node.nodeType === 1 && node.closest('.tl-draft')
      new MutationObserver(records => {
        if (records.some(({target}) => seen(target))) window.swaps.push(performance.now())
      }).observe(document.querySelector('.cm-content'), {childList: true, subtree: true})
    }"""
    )

    editor.refine()
    expect(page.locator(".tl-card")).to_be_visible(timeout=60_000)
    editor.wait_run_over()

    swaps = page.evaluate("window.swaps")
    gaps = [later - earlier for earlier, later in pairwise(swaps)]
    assert all(gap > 900 for gap in gaps)
