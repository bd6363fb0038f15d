"""`python app.py bench`: open the workshop as a worker does and measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from engine.bench.agreement import bench_agreement
from engine.bench.judge import open_judge
from engine.bench.latency import bench_latency
from engine.bench.lengths import LengthRequest, bench_lengths
from engine.bench.plots import Line, plot_lines
from engine.bench.positions import PositionRequest, bench_positions
from engine.bench.quality import QualityRequest, bench_quality
from engine.bench.report import machine
from engine.bench.sweep import SweepRequest, bench_sweep
from engine.bench.templates import bench_templates
from engine.contract import Preset, SamplerConfig
from engine.errors import InvalidJob
from engine.sampling.calibration import Calibration
from engine.sampling.job import Workshop
from engine.settings import EngineSettings
from engine.worker.calibration_file import save_calibration
from engine.worker.opening import open_workshop

__all__ = ["BENCHES", "BenchRequest", "run_bench"]


WITHOUT_TEXT = ("latency", "agreement")  # they bring their own


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """What to measure; most fields matter to some benchmarks only.

    Raises: InvalidJob for an unknown name, or one that needs held-out text without it.
    """

    what: str
    heldout: Path | None = None  # folder of <domain>.txt; templates: a templates.jsonl
    count: int | None = None  # gaps a cell, windows, pairs or templates; None = the benchmark's own
    preset: Preset = "balanced"
    seed: int = 0
    judged: bool = False  # quality: fetch and ask the other model
    sweep: bool = False  # quality: every policy on the same gaps instead
    plot: Path | None = None  # lengths and sweep: where to draw
    calibration: Path | None = None  # positions: where to write the temperatures

    def __post_init__(self) -> None:
        if self.what not in BENCHES:
            raise InvalidJob(f"no benchmark {self.what!r}; allowed: {', '.join(BENCHES)}")
        if self.what not in WITHOUT_TEXT and self.heldout is None:
            raise InvalidJob(
                f"{self.what} needs --heldout: a folder with one <domain>.txt a domain, or for "
                "templates a templates.jsonl"
            )


def run_bench(request: BenchRequest, settings: EngineSettings) -> dict[str, Any]:
    """Run one benchmark by name and return its report with facts about the machine."""
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    workshop = open_workshop(settings, lambda *_: None)
    return BENCHES[request.what](workshop, request, settings) | machine()


def _latency(workshop: Workshop, _: BenchRequest, __: EngineSettings) -> dict[str, Any]:
    return bench_latency(workshop)


def _agreement(workshop: Workshop, request: BenchRequest, _: EngineSettings) -> dict[str, Any]:
    config = SamplerConfig(preset=request.preset, alternatives=1)
    return bench_agreement(workshop, count=request.count or 200, seed=request.seed, config=config)


def _quality(workshop: Workshop, request: BenchRequest, settings: EngineSettings) -> dict[str, Any]:
    judge = open_judge(settings.cache_dir, lambda *_: None) if request.judged else None
    if request.sweep:
        swept = SweepRequest(
            _folder(request), per_cell=request.count or 1, seed=request.seed, plot=request.plot
        )
        return bench_sweep(workshop, swept, judge)
    wanted = QualityRequest(_folder(request), preset=request.preset, seed=request.seed)
    if request.count is not None:
        wanted = QualityRequest(
            wanted.folder, per_cell=request.count, preset=request.preset, seed=request.seed
        )
    return bench_quality(workshop, wanted, judge)


def _positions(
    workshop: Workshop, request: BenchRequest, settings: EngineSettings
) -> dict[str, Any]:
    wanted = PositionRequest(_folder(request), windows=request.count or 160, seed=request.seed)
    report = bench_positions(workshop, wanted)
    if request.calibration is not None:
        save_calibration(
            request.calibration,
            Calibration(tuple(report["temperatures"])),
            workshop.identity.adapter_sha256,
        )
    return report


def _lengths(workshop: Workshop, request: BenchRequest, _: EngineSettings) -> dict[str, Any]:
    wanted = LengthRequest(_folder(request), windows=request.count or 24, seed=request.seed)
    report = bench_lengths(workshop, wanted)
    if request.plot is not None:
        lines = {
            name: Line([(float(true), error) for true, error in method["by_length"].items()])
            for name, method in report["methods"].items()
        }
        plot_lines(
            request.plot, lines, x_label="true length, tokens", y_label="|error| / true length"
        )
    return report


def _templates(workshop: Workshop, request: BenchRequest, _: EngineSettings) -> dict[str, Any]:
    return bench_templates(workshop, _folder(request), preset=request.preset, limit=request.count)


def _folder(request: BenchRequest) -> Path:
    assert request.heldout is not None, "checked before the model was loaded"
    return request.heldout


BENCHES: dict[str, Callable[[Workshop, BenchRequest, EngineSettings], dict[str, Any]]] = {
    "latency": _latency,
    "agreement": _agreement,
    "quality": _quality,
    "positions": _positions,
    "lengths": _lengths,
    "templates": _templates,
}
