"""Temperatures beside an adapter: `<adapter>.calibration.json`, tied to its sha256."""

from __future__ import annotations

import json
from pathlib import Path

import structlog

from engine.errors import ModelError
from engine.sampling.calibration import Calibration

__all__ = ["calibration_path", "read_calibration", "save_calibration"]


def calibration_path(adapter: Path) -> Path:
    """Return where an adapter's temperatures are kept."""
    return adapter.with_suffix(".calibration.json")


def read_calibration(adapter: Path, adapter_sha256: str) -> Calibration:
    """Return the temperatures fitted for this very adapter, else ones that change nothing.

    Raises: ModelError when the file cannot be read as ten positive numbers.
    """
    path = calibration_path(adapter)
    if not path.exists():
        return Calibration()
    try:
        stored = json.loads(path.read_text("utf-8"))
        calibration = Calibration(tuple(float(value) for value in stored["temperatures"]))
        fitted_for = str(stored["adapter_sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path.name} is not a calibration: {error}. Allowed: adapter_sha256 and ten positive "
            "temperatures; without the file none are used"
        ) from error
    if fitted_for != adapter_sha256:
        structlog.get_logger("worker").warning("calibration.of_another_adapter", file=path.name)
        return Calibration()
    return calibration


def save_calibration(path: Path, calibration: Calibration, adapter_sha256: str) -> None:
    """Write temperatures fitted for the adapter with this checksum."""
    stored = {"adapter_sha256": adapter_sha256, "temperatures": list(calibration.temperatures)}
    path.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
