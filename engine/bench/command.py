"""`python app.py bench`: open the workshop as a worker does and measure."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import torch

from engine.bench.latency import bench_latency
from engine.bench.quality import QualityRequest, bench_quality
from engine.contract import Preset
from engine.errors import InvalidJob
from engine.settings import EngineSettings
from engine.worker.opening import open_workshop

__all__ = ["run_bench"]


def run_bench(
    what: str, settings: EngineSettings, *, heldout: Path | None, per_cell: int, preset: str
) -> dict[str, Any]:
    """Run one benchmark by name and return its report.

    Raises: InvalidJob for an unknown name or preset, or quality without a folder.
    """
    if what not in ("latency", "quality"):
        raise InvalidJob(f"no benchmark {what!r}; allowed: latency, quality")
    if preset not in get_args(Preset):
        raise InvalidJob(f"preset {preset!r}; allowed: {', '.join(get_args(Preset))}")
    if what == "quality" and heldout is None:
        raise InvalidJob("quality needs --heldout FOLDER with one <domain>.txt a domain")
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    workshop = open_workshop(settings, lambda *_: None)
    if heldout is None or what == "latency":
        return bench_latency(workshop)
    request = QualityRequest(heldout, per_cell=per_cell, preset=preset)  # type: ignore[arg-type]
    return bench_quality(workshop, request)
