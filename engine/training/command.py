"""`python app.py train`: prepare the corpus if needed, train or resume, keep a curve."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

import structlog
import torch

from engine.denoisers.adapter import Adapter
from engine.denoisers.codec import BytePairCodec
from engine.denoisers.fetch import ensure_model
from engine.denoisers.loading import (
    DTYPES,
    SHIPPED_ADAPTER,
    choose_device,
    choose_precision,
    load_base,
)
from engine.settings import EngineSettings
from engine.training import checkpoint
from engine.training.corpus import Corpus, prepare_corpus
from engine.training.heldout import measure, read_windows
from engine.training.trainer import StepReport, TrainConfig, Trainer

__all__ = ["TrainRequest", "run_training"]

WINDOW_TOKENS = 192
HELDOUT_WINDOWS = 128


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """Where to read and write, and for how long."""

    corpus: Path
    out: Path
    heldout: Path | None = None
    init: Path | None = None  # an adapter to start from; default: the shipped one
    steps: int | None = None  # stop after this many in all; None = until stopped
    minutes: float | None = None  # stop after this long
    measure_every: int = 100
    save_every: int = 20
    compile: bool = False
    idle: bool = False  # give way to everything else on the machine


def run_training(request: TrainRequest, settings: EngineSettings, config: TrainConfig) -> int:
    """Train until told to stop; return the number of steps in all. SIGTERM saves first.

    Raises: ModelMissing, ChecksumMismatch, FileNotFoundError (no corpus), ValueError (checkpoint of
    another configuration).
    """
    log = structlog.get_logger("train")
    if request.idle:
        _give_way()
    if settings.threads:
        torch.set_num_threads(settings.threads)
    trainer, codec = _build(request, settings, config)
    state = request.out / "checkpoint.pt"
    if state.exists():
        checkpoint.resume(trainer, state)
        log.info("train.resumed", step=trainer.step_index, region_tokens=trainer.region_tokens)
    if request.compile:
        trainer.compile()
    windows = (
        read_windows(request.heldout, codec, count=HELDOUT_WINDOWS, length=WINDOW_TOKENS)
        if request.heldout
        else None
    )
    is_over = _stop_condition(request, trainer)
    while not is_over():
        if windows is not None and trainer.step_index % request.measure_every == 0:
            _record(request.out, trainer, [asdict(score) for score in measure(trainer, windows)])
        report = trainer.step()
        _log_step(log, report)
        if trainer.step_index % request.save_every == 0:
            checkpoint.save(trainer, state)
    checkpoint.save(trainer, state)
    checkpoint.export_adapter(trainer, request.out / "adapter.safetensors")
    return trainer.step_index


def _build(
    request: TrainRequest, settings: EngineSettings, config: TrainConfig
) -> tuple[Trainer, BytePairCodec]:
    device = choose_device(settings.device)
    files = ensure_model(settings.model, settings.cache_dir)
    dtype = DTYPES[choose_precision(settings.precision, device)]
    base, shape, specials = load_base(files.weights, device=device, dtype=dtype)
    codec = BytePairCodec.load(files.tokenizer, specials)
    tokens = request.out / "tokens"
    if not (tokens / "tokens.bin").exists():
        if not any(request.corpus.glob("*/*.txt")):
            raise FileNotFoundError(f"no <domain>/<source>.txt below {request.corpus}")
        prepare_corpus(request.corpus, tokens, codec, heldout=request.heldout)
    adapter = Adapter.load(request.init or SHIPPED_ADAPTER)
    return Trainer(base, shape, adapter, Corpus.open(tokens), config), codec


def _stop_condition(request: TrainRequest, trainer: Trainer) -> Callable[[], bool]:
    stopped: list[int] = []

    def stop(signum: int, _frame: FrameType | None) -> None:
        stopped.append(signum)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    end = time.monotonic() + 60 * request.minutes if request.minutes else float("inf")
    steps = request.steps if request.steps is not None else float("inf")
    return lambda: bool(stopped) or trainer.step_index >= steps or time.monotonic() >= end


def _give_way() -> None:
    """Lower this process and its scheduling group, so that interactive work comes first."""
    os.setsid() if os.getpid() != os.getsid(0) else None
    os.nice(19)
    group = Path("/proc/self/autogroup")
    if group.exists():
        group.write_text("19")


def _record(out: Path, trainer: Trainer, scores: list[dict[str, object]]) -> None:
    line = {"step": trainer.step_index, "region_tokens": trainer.region_tokens, "scores": scores}
    with (out / "curve.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def _log_step(log: structlog.typing.FilteringBoundLogger, report: StepReport) -> None:
    log.info(
        "train.step",
        step=report.step,
        loss=round(report.loss, 3),
        masked_accuracy=round(report.masked_accuracy, 3),
        tokens_per_s=round(report.region_tokens / report.seconds),
    )
