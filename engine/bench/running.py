"""Run one gap by one route and keep what the benchmarks compare."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.bench.tasks import Gap
from engine.contract import JobFinished, RefineJob, RegionSpec, SamplerConfig
from engine.sampling.job import JobRun, Workshop

__all__ = ["Answer", "fill_gap"]

BLANK = "[___]"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a gap; times in milliseconds."""

    text: str
    confidence: float
    passes: int
    tokens_per_pass: float
    first_stable_ms: float
    complete_ms: float
    outside_changed: bool


def fill_gap(workshop: Workshop, gap: Gap, config: SamplerConfig, *, knows_length: bool) -> Answer:
    """Put a blank where the reference stood and fill it."""
    text = gap.text[: gap.start] + BLANK + gap.text[gap.end :]
    length = gap.num_tokens if knows_length else None
    region = RegionSpec("gap", gap.start, gap.start + len(BLANK), is_blank=True, length=length)
    job = RefineJob("bench", text, (region,), config=replace(config, length=length))
    last = None
    for event in JobRun(workshop, job).events():
        last = event
    assert isinstance(last, JobFinished), "a job without failure ends finished"
    filled = last.regions[0].alternatives[0].text
    result = gap.text[: gap.start] + filled + gap.text[gap.end :]
    return Answer(
        text=filled,
        confidence=last.regions[0].confidence,
        passes=last.passes,
        tokens_per_pass=last.tokens_per_pass,
        first_stable_ms=last.timings.first_stable_ms,
        complete_ms=last.timings.complete_ms,
        outside_changed=not (
            result.startswith(gap.text[: gap.start]) and result.endswith(gap.text[gap.end :])
        ),
    )
