"""Fetch an embedded model with a progress bar, in a process of its own.

`ensure_pulled` is what the torch-free side calls: it starts this module as a program only when
the cache lacks the model, passes its progress bar through and turns its exit into an error.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from engine import errors
from engine.denoisers.fetch import EMBEDDED, ensure_model, is_cached
from engine.errors import EngineError, ModelError

__all__ = ["describe_models", "ensure_pulled"]


def ensure_pulled(name: str, cache_dir: Path) -> None:
    """Make sure that base `name` is unpacked in `cache_dir`; shows progress on standard error.

    Raises: UnknownModel, ModelMissing, ChecksumMismatch, DiskFull, as the child reported it.
    """
    if is_cached(name, cache_dir):
        return
    child = subprocess.run(
        [sys.executable, "-m", "engine.denoisers.pull", name, str(cache_dir)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if child.returncode == 0:
        return
    try:
        problem = json.loads(child.stdout)
    except json.JSONDecodeError as error:
        raise ModelError(f"fetching {name} ended with exit code {child.returncode}") from error
    raise getattr(errors, problem["class"], ModelError)(problem["message"])


def describe_models(cache_dir: Path) -> list[dict[str, Any]]:
    """Return what is known of each embedded model: source, licence, checksum, whether cached."""
    return [
        {**asdict(model), "is_cached": is_cached(name, cache_dir)}
        for name, model in EMBEDDED.items()
    ]


class _Bars:
    """One bar per phase, drawn by rich; silent where standard error is no terminal."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase not in self.tasks:
            words = {"download": "Fetching the model", "dequantise": "Unpacking the model"}
            self.tasks[phase] = self.progress.add_task(words[phase], total=total)
        self.progress.update(self.tasks[phase], completed=done, total=total)


def main(name: str, cache_dir: Path) -> int:
    """Fetch, verify and unpack; print one JSON object on standard output if that fails."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<20}"), BarColumn(), "{task.percentage:>3.0f}%")
    try:
        with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
            ensure_model(name, cache_dir, _Bars(progress))
    except EngineError as error:
        print(json.dumps({"class": type(error).__name__, "message": str(error)}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
