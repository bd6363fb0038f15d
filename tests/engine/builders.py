"""Builders for engine tests: a job from marked text, a workshop over the scripted denoiser."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

from engine.contract import (
    JobEvent,
    JobFinished,
    LockSpec,
    PassCompleted,
    RefineJob,
    RegionSpec,
    SamplerConfig,
)
from engine.denoisers.scripted import Answer, ScriptedDenoiser, Slot, pool_script
from engine.sampling.job import JobRun, Workshop
from engine.sampling.vocabulary import Vocabulary
from engine.telemetry.card import ModelIdentity

IDENTITY = ModelIdentity("scripted", "0" * 64, "none", "0" * 64, "fp32", "cpu", 1)


def ticking() -> Callable[[], float]:
    """A clock that moves on by a millisecond whenever it is read."""
    ticks = itertools.count()
    return lambda: next(ticks) / 1000


def a_workshop(
    denoiser: ScriptedDenoiser | None = None, *, now_s: Callable[[], float] | None = None
) -> Workshop:
    """A workshop with 64 context tokens a side."""
    denoiser = denoiser or ScriptedDenoiser()
    words = Vocabulary(denoiser.codec, denoiser.device)
    return Workshop(denoiser, words, 64, IDENTITY, {}, b"key", now_s or ticking())


def a_job(
    marked: str, *, job_id: str = "job", deadline_s: float | None = None, **config: Any
) -> RefineJob:
    """A job from text in which [___] is a blank, <text> a region and {text} a lock.

    A lock inside a region is written <old {kept} old>. Offsets are those of the text without
    angle and curly brackets; blanks keep their marker.
    """
    text, regions, locks = "", list[RegionSpec](), list[LockSpec]()
    opened = {"<": 0, "{": 0}
    for piece in re.split(r"(\[_+\]|[<>{}])", marked):
        if piece in opened:
            opened[piece] = len(text)
        elif piece == ">":
            regions.append(RegionSpec(f"r{len(regions)}", opened["<"], len(text)))
        elif piece == "}":
            locks.append(LockSpec(opened["{"], len(text)))
        elif piece.startswith("[_"):
            name = f"r{len(regions)}"
            regions.append(RegionSpec(name, len(text), len(text) + len(piece), is_blank=True))
            text += piece
        else:
            text += piece
    return RefineJob(
        job_id, text, tuple(regions), tuple(locks), SamplerConfig(**config), deadline_s
    )


def run_job(job: RefineJob, workshop: Workshop | None = None) -> JobFinished:
    """Run a job to its end."""
    return finish(JobRun(workshop or a_workshop(), job).events())


def finish(events: Iterator[JobEvent]) -> JobFinished:
    """Return the last event of a run."""
    *_, last = events
    assert isinstance(last, JobFinished)
    return last


def passes(job: RefineJob, workshop: Workshop | None = None) -> list[PassCompleted]:
    """Return the pass events of a run."""
    events = JobRun(workshop or a_workshop(), job).events()
    return [event for event in events if isinstance(event, PassCompleted)]


def saying(*texts: str, confidence: float = 0.9) -> ScriptedDenoiser:
    """A denoiser that wants region i to read `texts[i]`, and nothing behind it."""
    words = tuple(word for text in texts for word in re.findall(r"[^\W\d_]+", text))
    codec = ScriptedDenoiser(words=words).codec

    def script(slot: Slot) -> Answer:
        tokens = codec.encode(texts[slot.region % len(texts)])
        if slot.index >= len(tokens):
            return Answer("", confidence)
        # The right length is the one whose every slot is certain.
        sure = confidence if slot.num_slots == len(tokens) else confidence / 2
        return Answer(codec.decode([tokens[slot.index]]), sure)

    return ScriptedDenoiser(script, words=words)


__all__ = [
    "a_job",
    "a_workshop",
    "finish",
    "passes",
    "pool_script",
    "run_job",
    "saying",
    "ticking",
]
