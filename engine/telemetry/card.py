"""Run cards: what it takes to run a job again, and the check that it gave the same text."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from engine.contract import JobFinished, RefineJob, RunCard, StopReason

__all__ = ["NO_MODEL", "ModelIdentity", "make_card", "replay", "runtime_versions", "text_digest"]

CLOCK_REASONS = (StopReason.TIME_BUDGET, StopReason.DEADLINE)


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which weights ran, and on what."""

    model: str
    model_sha256: str
    adapter: str
    adapter_sha256: str
    precision: str
    device: str
    num_threads: int


NO_MODEL = ModelIdentity("", "", "", "", "", "", 0)  # a job that ended before a model was there


def text_digest(text: str) -> str:
    """Return the sha256 of the text's UTF-8 in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def runtime_versions() -> dict[str, str]:
    """Return the versions that the numbers depend on."""
    found = {"python": platform.python_version()}
    for package in ("torch", "tokenizers", "tideline"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def make_card(
    job: RefineJob,
    identity: ModelIdentity,
    *,
    route: str,
    sampler: Mapping[str, Any],
    canvas: Mapping[str, Any],
    result_text: str,
    stop: tuple[StopReason, int],
    versions: Mapping[str, str],
    notes: tuple[str, ...] = (),
) -> RunCard:
    """Return the card of a finished run; `stop` is why it ended and after how many passes."""
    reason, passes = stop
    resolved = dict(sampler) | {"stop_reason": str(reason), "passes": passes}
    if reason in CLOCK_REASONS:
        notes = (*notes, f"ended by the clock after {passes} passes; replay stops there too")
    return RunCard(
        model=identity.model,
        model_sha256=identity.model_sha256,
        adapter=identity.adapter,
        adapter_sha256=identity.adapter_sha256,
        route=route,
        sampler=resolved,
        seed=job.config.seed,
        precision=identity.precision,
        device=identity.device,
        num_threads=identity.num_threads,
        canvas=dict(canvas),
        versions=dict(versions),
        text_sha256=text_digest(job.text),
        result_sha256=text_digest(result_text),
        notes=notes,
    )


def replay(card: RunCard, job: RefineJob, run: Callable[[RefineJob], JobFinished]) -> bool:
    """Run the job again as the card says and tell whether the text is the same.

    `run` carries a job out with the card's model. A run that the clock ended is held to the
    passes it had. Returns False when the job's text is not the card's.
    """
    if text_digest(job.text) != card.text_sha256:
        return False
    config = replace(job.config, seed=card.seed, time_budget_s=None)
    if card.sampler["stop_reason"] in CLOCK_REASONS:
        config = replace(config, steps=card.sampler["passes"])
    again = run(replace(job, config=config, deadline_s=None))
    return again.run_card.result_sha256 == card.result_sha256
