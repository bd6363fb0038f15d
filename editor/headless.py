"""Fill a text without a browser: the same client and worker as the application, no database.

Owns the shape that `fill --json` prints (DESIGN section 6). Torch-free: the model runs in a
worker process. Offsets are code points of the input, which comes out unchanged outside regions.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self, cast, get_args

from editor.document.blanks import find_blanks, is_blank_marker
from editor.document.markup import markup_in
from editor.document.spans import Span, check_spans
from editor.document.text import check_text
from editor.errors import InvalidInput
from engine.client import EngineClient
from engine.contract import (
    MAX_TEXT_CODE_POINTS,
    JobFailed,
    JobFinished,
    LockSpec,
    Preset,
    RefineJob,
    RegionResult,
    RegionSpec,
    Route,
    SamplerConfig,
    WorkerReady,
)
from engine.errors import EngineError, WorkerDied
from engine.settings import EngineSettings

__all__ = ["FillReport", "FillRequest", "fill", "run_fill"]

Comparator = Literal["autoregressive"]
RANGE = re.compile(r"(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class FillRequest:
    """What to fill and how. Without regions every blank of the text is one."""

    text: str
    regions: tuple[tuple[int, int], ...] = ()
    locks: tuple[tuple[int, int], ...] = ()
    config: SamplerConfig = field(default_factory=SamplerConfig)
    compare: Comparator | None = None

    @classmethod
    def from_options(
        cls,
        text: str,
        *,
        regions: Sequence[str] = (),
        locks: Sequence[str] = (),
        compare: str | None = None,
        **settings: Any,
    ) -> Self:
        """Read the command line's options; `settings` are fields of SamplerConfig.

        Raises: InvalidInput naming the option and what is allowed.
        """
        for name, allowed in (("preset", get_args(Preset)), ("route", get_args(Route))):
            if settings.get(name) not in (None, *allowed):
                raise InvalidInput(f"{name} {settings[name]!r}; allowed: {', '.join(allowed)}")
        if compare not in (None, *get_args(Comparator)):
            raise InvalidInput(f"compare {compare!r}; allowed: {', '.join(get_args(Comparator))}")
        return cls(
            text,
            regions=tuple(_parse_range("--region", item) for item in regions),
            locks=tuple(_parse_range("--lock", item) for item in locks),
            config=SamplerConfig(**settings),
            compare=cast(Comparator | None, compare),
        )

    def job(self, route: Route | None = None) -> RefineJob:
        """Return the job for the engine. Raises: InvalidInput when there is nothing to fill."""
        config = self.config if route is None else replace(self.config, route=route)
        return RefineJob(
            job_id=secrets.token_hex(8),
            text=self.text,
            regions=self._region_specs(),
            locks=self._lock_specs(),
            config=config,
        )

    def _region_specs(self) -> tuple[RegionSpec, ...]:
        ranges = self.regions or tuple((blank.start, blank.end) for blank in find_blanks(self.text))
        if not ranges:
            raise InvalidInput(
                "the text has no blank ([___], ___, {{name}}, ***, [MASK]) and no region was given"
            )
        self._check(ranges)
        return tuple(
            RegionSpec(
                region_id=f"r{number}",
                start=start,
                end=end,
                is_blank=is_blank_marker(self.text[start:end]),
            )
            for number, (start, end) in enumerate(sorted(ranges), start=1)
        )

    def _lock_specs(self) -> tuple[LockSpec, ...]:
        """Return the locks asked for, and the Markdown structure inside the regions."""
        markup = (
            (start, end)
            for a, b in self.regions
            for start, end in markup_in(self.text, Span("", "region", a, b))
        )
        return tuple(LockSpec(start, end) for start, end in (*self.locks, *markup))

    def _check(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Hold the text, regions and locks to what a document is held to."""
        # A file keeps its line ends, unlike a document; the rest of the rules are the same.
        check_text(self.text.replace("\r", " "), limit=MAX_TEXT_CODE_POINTS)
        length = len(self.text)
        for start, end in (*ranges, *self.locks):
            if not 0 <= start < end <= length:
                raise InvalidInput(
                    f"range {start}:{end} is empty or outside the text; allowed: A:B with "
                    f"0 <= A < B <= {length} code points"
                )
        regions = [Span(f"region {a}:{b}", "region", a, b) for a, b in ranges]
        locks = [Span(f"lock {a}:{b}", "locked", a, b) for a, b in self.locks]
        check_spans(self.text, [*regions, *locks])


@dataclass(frozen=True, slots=True)
class FillReport:
    """One finished fill: the job, what came out, and the worker that did it."""

    job: RefineJob
    finished: JobFinished
    ready: WorkerReady

    def to_json(self) -> dict[str, Any]:
        """Return the document of DESIGN section 6."""
        results = {result.region_id: result for result in self.finished.regions}
        regions = [
            _region_json(self.job, spec, results[spec.region_id]) for spec in self.job.regions
        ]
        timings = self.finished.timings
        return {
            "text": _spliced(self.job.text, regions),
            "regions": regions,
            "passes": self.finished.passes,
            "tokens_per_pass": self.finished.tokens_per_pass,
            "stop_reason": str(self.finished.stop_reason),
            "timings": {
                "load_ms": self.ready.load_ms,
                "encode_ms": timings.encode_ms,
                "first_stable_ms": timings.first_stable_ms,
                "complete_ms": timings.complete_ms,
            },
            "run_card": asdict(self.finished.run_card),
        }


async def fill(client: EngineClient, job: RefineJob) -> FillReport:
    """Run one job to its end. Raises: EngineError, of the kind the worker reports."""
    ready = await client.ready()
    async for event in client.submit(job):
        match event:
            case JobFinished():
                return FillReport(job, event, ready)
            case JobFailed():
                raise _as_error(event)
    raise WorkerDied("the worker ended before the job did")


def run_fill(request: FillRequest, settings: EngineSettings) -> dict[str, Any]:
    """Fill a text and return what `fill --json` prints. Starts a worker, and ends it.

    Raises: InvalidInput, EngineError.
    """
    return asyncio.run(_run(request, settings))


async def _run(request: FillRequest, settings: EngineSettings) -> dict[str, Any]:
    job = request.job()
    async with EngineClient(settings) as client:
        report = (await fill(client, job)).to_json()
        if request.compare is not None:
            other = await fill(client, request.job(request.compare))
            report["comparison"] = {request.compare: other.to_json()}
    return report


def _region_json(job: RefineJob, spec: RegionSpec, result: RegionResult) -> dict[str, Any]:
    original = job.text[spec.start : spec.end]
    first = result.alternatives[0].text if result.alternatives else original
    return {
        "from": spec.start,
        "to": spec.end,
        "original": original,
        "text": first,
        "alternatives": [asdict(alternative) for alternative in result.alternatives],
        "confidence": result.confidence,
    }


def _spliced(text: str, regions: Sequence[dict[str, Any]]) -> str:
    """Return the input with each region's text in place; all else is sliced from the input."""
    pieces, position = [], 0
    for region in regions:
        pieces += [text[position : region["from"]], region["text"]]
        position = region["to"]
    return "".join([*pieces, text[position:]])


def _parse_range(option: str, given: str) -> tuple[int, int]:
    found = RANGE.fullmatch(given.strip())
    if found is None:
        raise InvalidInput(f"{option} {given!r}; allowed: A:B in code points, such as 10:25")
    return int(found[1]), int(found[2])


def _as_error(event: JobFailed) -> EngineError:
    kinds = [EngineError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    return next((kind for kind in kinds if kind.code == event.code), EngineError)(event.message)
