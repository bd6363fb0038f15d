"""Colours of the theme, computed from its tokens: text 4.5 to 1, borders of states 3 to 1 (R10)."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import REPOSITORY

THEME = REPOSITORY / "static" / "theme.css"
GROUNDS = ("paper", "side", "raised", "hover", "press", "lock-wash", "tide-wash")
# Text of a state on the ground it is drawn on.
TEXTS = [
    *((ink, ground) for ink in ("ink", "ink-2") for ground in GROUNDS),
    *(("ink-3", ground) for ground in ("paper", "side", "raised", "tide-wash")),
    *(("tide", ground) for ground in ("paper", "side", "raised", "tide-wash")),
    ("lock-ink", "lock-wash"),
    ("ins-ink", "ins-wash"),
    ("ins-ink", "paper"),
    ("ins-ink", "raised"),
    ("del-ink", "paper"),
    ("del-ink", "tide-wash"),
    ("del-ink", "raised"),
    ("on-tide", "tide"),
    ("on-tide", "tide-deep"),
    *(("warn", ground) for ground in ("paper", "side", "raised", "lock-wash")),
]
# Lines that tell a state, against both neighbours.
BORDERS = [
    *(("edge-strong", ground) for ground in ("paper", "raised", "side", "lock-wash")),
    *(("tide-line", ground) for ground in ("paper", "raised", "side", "tide-wash")),
    *(("ins-ink", ground) for ground in ("paper", "ins-wash")),
    ("ink-2", "tide-wash"),
]


def tokens(theme: str) -> dict[str, str]:
    """The colours of one theme, by name without the prefix."""
    css = THEME.read_text(encoding="utf-8")
    block = re.search(rf':root\[data-theme="{theme}"\] {{(.*?)\n}}', css, re.DOTALL)
    assert block is not None
    return dict(re.findall(r"--tl-([a-z0-9-]+): (#[0-9a-f]{6});", block.group(1)))


def luminance(colour: str) -> float:
    """Relative luminance in [0, 1]. Source: WCAG 2.2."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_known_pairs():
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert round(contrast("#767676", "#ffffff"), 2) == 4.54


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXTS)
def test_R10_text_stands_out_from_its_ground(theme: str, ink: str, ground: str):
    colours = tokens(theme)

    assert contrast(colours[ink], colours[ground]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("line", "ground"), BORDERS)
def test_R10_a_line_that_tells_a_state_stands_out_from_both_sides(
    theme: str, line: str, ground: str
):
    colours = tokens(theme)

    assert contrast(colours[line], colours[ground]) >= 3
