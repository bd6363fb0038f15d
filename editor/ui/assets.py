"""Where the built front end lies, and whether it is the one these sources make.

Knows files only. The bundle is built while the package is installed (`static/build_hook.py`).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from editor.errors import Unavailable

__all__ = ["DIST_DIR", "bundle_stamp", "find_stale_bundle"]

STATIC_DIR = Path(__file__).resolve().parents[2] / "static"
DIST_DIR = STATIC_DIR / "dist"

_HOW_TO_BUILD = "build it with `python static/build_hook.py` (it needs node), or `pip install -e .`"


def bundle_stamp() -> str:
    """Return the stamp of the built front end, 16 hex digits.

    Raises: Unavailable when it was never built.
    """
    stamp = DIST_DIR / "stamp.txt"
    if not (DIST_DIR / "app.js").is_file() or not stamp.is_file():
        raise Unavailable(f"the front end is not built; {_HOW_TO_BUILD}")
    return stamp.read_text(encoding="ascii").strip()


def find_stale_bundle() -> str | None:
    """Say what is wrong when the sources beside the bundle have changed since; None if nothing.

    An installed wheel has no sources, so its bundle is never stale.
    """
    hook = STATIC_DIR / "build_hook.py"
    if not hook.is_file():
        return None
    if _load(hook).current_stamp() == bundle_stamp():
        return None
    return f"the front end was built from older sources; {_HOW_TO_BUILD}"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("tideline_build_hook", path)
    assert spec is not None, "a .py file always has a loader"
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
