"""Run one task by one route and keep what the benchmarks compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.bench.judge import Passage
from engine.bench.tasks import Gap
from engine.contract import JobFinished, RefineJob, RegionSpec, SamplerConfig
from engine.sampling.job import JobRun, Workshop
from engine.telemetry.card import text_digest

__all__ = ["Answer", "blank_out", "fill_gap", "passages", "run_job", "splice"]

BLANK = "[___]"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a task, one text a gap; times in milliseconds."""

    texts: tuple[str, ...]
    confidence: float
    passes: int
    tokens_per_pass: float
    first_stable_ms: float
    complete_ms: float
    outside_changed: bool


def fill_gap(workshop: Workshop, gap: Gap, config: SamplerConfig, *, knows_length: bool) -> Answer:
    """Put blanks where the references stood and fill them jointly."""
    text, ranges = blank_out(gap)
    length = gap.num_tokens if knows_length else None
    regions = tuple(
        RegionSpec(str(index), start, end, is_blank=True, length=length)
        for index, (start, end) in enumerate(ranges)
    )
    return run_job(workshop, RefineJob("bench", text, regions, config=config))


def blank_out(gap: Gap) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the task's text with a blank for each gap, and where the blanks are."""
    text = splice(gap.text, gap.ranges, [BLANK] * len(gap.ranges))
    shift, ranges = 0, []
    for start, end in gap.ranges:
        ranges.append((start + shift, start + shift + len(BLANK)))
        shift += len(BLANK) - (end - start)
    return text, tuple(ranges)


def run_job(workshop: Workshop, job: RefineJob) -> Answer:
    """Run a job to its end and keep each region's first alternative."""
    last = None
    for event in JobRun(workshop, job).events():
        last = event
    assert isinstance(last, JobFinished), "a job without failure ends finished"
    texts = tuple(region.alternatives[0].text for region in last.regions)
    ranges = [(region.start, region.end) for region in job.regions]
    result = splice(job.text, ranges, texts)
    return Answer(
        texts=texts,
        confidence=sum(region.confidence for region in last.regions) / len(last.regions),
        passes=last.passes,
        tokens_per_pass=last.tokens_per_pass,
        first_stable_ms=last.timings.first_stable_ms,
        complete_ms=last.timings.complete_ms,
        # The engine's whole text, by its hash, against the input with only the regions replaced.
        outside_changed=text_digest(result) != last.run_card.result_sha256,
    )


def splice(text: str, ranges: Sequence[tuple[int, int]], fills: Sequence[str]) -> str:
    """Return `text` with each range (ascending, apart) replaced by its fill."""
    pieces, position = [], 0
    for (start, end), fill in zip(ranges, fills, strict=True):
        pieces += [text[position:start], fill]
        position = end
    return "".join([*pieces, text[position:]])


def passages(gap: Gap, fills: Sequence[str]) -> list[Passage]:
    """Return each fill with the text around it as the fills left it, the others included."""
    found = []
    for place, (start, end) in enumerate(gap.ranges):
        before = splice(gap.text[:start], gap.ranges[:place], fills[:place])
        behind = [(a - end, b - end) for a, b in gap.ranges[place + 1 :]]
        after = splice(gap.text[end:], behind, fills[place + 1 :])
        found.append((before, fills[place], after))
    return found
