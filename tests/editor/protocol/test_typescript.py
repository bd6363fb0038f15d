"""The TypeScript twin of the messages is generated, whole, and not edited by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from editor.protocol.typescript import error_codes, render_typescript

GENERATED = Path(__file__).parents[3] / "static" / "src" / "protocol.gen.ts"


def test_generated_file_is_up_to_date() -> None:
    assert GENERATED.read_text(encoding="utf-8") == render_typescript(), (
        "run: python -m editor.protocol.typescript > static/src/protocol.gen.ts"
    )


def test_two_renderings_are_the_same() -> None:
    assert render_typescript() == render_typescript()


@pytest.mark.parametrize(
    "line",
    [
        '  type: "pass_frame"',
        "  pass: number",  # by alias, not by the Python name
        "  settled: [number, number][]",
        '  regions?: string[] | "all"',  # the browser may leave out what has a default
        "  text: string | null",  # the server never leaves out a field
    ],
)
def test_rendering_follows_the_models(line: str) -> None:
    assert f"\n{line}\n" in render_typescript()


def test_error_codes_hold_both_trees() -> None:
    assert {"lock_violation", "stale_version", "worker_died", "region_too_long"} <= set(
        error_codes()
    )
