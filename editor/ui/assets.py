"""Where the built front end lies. It is built by `static/build_hook.py`, never from here."""

from __future__ import annotations

from pathlib import Path

from editor.errors import Unavailable

__all__ = ["DIST_DIR", "bundle_stamp"]

DIST_DIR = Path(__file__).resolve().parents[2] / "static" / "dist"


def bundle_stamp() -> str:
    """Return the stamp of the built front end, 16 hex digits.

    Raises: Unavailable when it was never built.
    """
    stamp = DIST_DIR / "stamp.txt"
    if not (DIST_DIR / "app.js").is_file() or not stamp.is_file():
        raise Unavailable(
            "the front end is not built; build it with `python static/build_hook.py` (it needs "
            "node), or `pip install -e .`"
        )
    return stamp.read_text(encoding="ascii").strip()
