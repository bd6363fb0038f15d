"""Open the workshop that every job of a process shares: the model, loaded and warm.

Used by the worker process and by the benchmarks, so that both run the same thing.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

import torch

from engine.contract import RefineJob, RegionSpec, SamplerConfig
from engine.denoisers.loading import SHIPPED_ADAPTER
from engine.denoisers.registry import open_denoiser
from engine.sampling.job import JobRun, Workshop
from engine.sampling.vocabulary import Vocabulary
from engine.settings import EngineSettings
from engine.telemetry.card import ModelIdentity, runtime_versions
from engine.worker.calibration_file import read_calibration

__all__ = ["open_workshop"]

CONTEXT_TOKENS = {"cpu": 256, "cuda": 2048}
WARM_UP = "The meeting is on ___ and will be held in the small room."


def open_workshop(settings: EngineSettings, report: Callable[[str, int, int], None]) -> Workshop:
    """Load the model and run both routes once, so that the first job is not the slow one."""
    denoiser = open_denoiser(settings, report)
    report("warm up", 0, 0)
    identity = ModelIdentity(
        model=denoiser.name,
        model_sha256=denoiser.sha256,
        adapter=denoiser.adapter_name,
        adapter_sha256=denoiser.adapter_sha256,
        precision=denoiser.precision,
        device=str(denoiser.device),
        num_threads=torch.get_num_threads(),
    )
    workshop = Workshop(
        denoiser=denoiser,
        words=Vocabulary(denoiser.codec, denoiser.device),
        context_tokens=settings.context_tokens or CONTEXT_TOKENS[denoiser.device.type],
        identity=identity,
        versions=runtime_versions(),
        trace_key=secrets.token_bytes(32),
        now_s=time.monotonic,
        calibration=read_calibration(settings.adapter or SHIPPED_ADAPTER, denoiser.adapter_sha256),
    )
    if settings.denoiser == "neural":
        _warm_up(workshop)
    return workshop


def _warm_up(workshop: Workshop) -> None:
    start = WARM_UP.index("___")
    region = RegionSpec("warm-up", start, start + 3, is_blank=True, length=4)
    for route in ("diffusion", "autoregressive"):
        config = SamplerConfig(route=route, preset="fast")
        for _ in JobRun(workshop, RefineJob("warm-up", WARM_UP, (region,), config=config)).events():
            pass
