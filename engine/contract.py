"""What the application and a worker say to each other: plain frozen dataclasses.

Offsets are Unicode code points of `RefineJob.text`, ranges half-open. The module owns the
vocabulary and its JSON form (`encode`, `decode`); it must know neither torch nor the web.
Every message is one JSON object tagged by `type`. `CONTRACT_VERSION` changes when a field does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

CONTRACT_VERSION = 1

Route = Literal["auto", "diffusion", "autoregressive"]
Preset = Literal["fast", "balanced", "careful"]
Mode = Literal["monotone", "revise"]

MAX_TEXT_CODE_POINTS = 1_000_000
MAX_REGIONS = 64
MAX_ALTERNATIVES = 8


class StopReason(StrEnum):
    """Why a run ended."""

    SETTLED = "settled"  # nothing masked and the best guesses stopped changing
    EARLY_ANSWER = "early_answer"  # the rest was certain enough to fill at once
    STRUCTURE = "structure"  # what is shown was whole, which was asked for
    PASS_BUDGET = "pass_budget"
    TIME_BUDGET = "time_budget"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Constraint:
    """One rule a region's text must satisfy; which fields apply depends on `kind`."""

    kind: Literal[
        "choices",
        "regex",
        "number",
        "unit",  # a number and one of `values`, such as mg
        "date",
        "must_contain",
        "must_not_contain",
        "length",
        "casing",
    ]
    values: tuple[str, ...] = ()
    pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class RegionSpec:
    """A range of the text that may change. `length` is a hint in tokens, None = unknown."""

    region_id: str
    start: int
    end: int
    is_blank: bool = False  # the range holds a blank marker, so its text says nothing
    length: int | None = None
    strength: float | None = None  # None = the job's
    constraints: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class LockSpec:
    """A range of the text that must come out unchanged."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SamplerConfig:
    """Everything a user may set for one run. None means: what the preset says."""

    route: Route = "auto"
    preset: Preset = "balanced"
    mode: Mode | None = None
    steps: int | None = None  # at most this many passes
    time_budget_s: float | None = None
    seed: int = 0
    temperature: float | None = None
    strength: float = 1.0  # share of an existing text's tokens to rewrite, 0..1
    length: int | None = None  # tokens per region, None = unknown
    alternatives: int = 3
    brief: str = ""  # context the model sees before the document
    commitment: str | None = None  # names of rules, in place of the preset's
    schedule: str | None = None
    remasking: str | None = None
    drawing: str | None = None  # how tokens are sampled where a temperature asks for it
    stop_when: str | None = None
    top_p: float | None = None  # share of the distribution to draw from, above 0, at most 1
    early_answer: float | None = None  # nats of lead that end a run early
    guidance: float | None = None  # share of the causal base's opinion, 0 to below 1


@dataclass(frozen=True, slots=True)
class RefineJob:
    """One request: fill `regions` of `text`, all jointly where they fit one window."""

    job_id: str
    text: str
    regions: tuple[RegionSpec, ...]
    locks: tuple[LockSpec, ...] = ()
    config: SamplerConfig = field(default_factory=SamplerConfig)
    deadline_s: float | None = None  # seconds from submission
    type: Literal["refine"] = "refine"


@dataclass(frozen=True, slots=True)
class CancelJob:
    job_id: str
    type: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True)
class Ping:
    type: Literal["ping"] = "ping"


@dataclass(frozen=True, slots=True)
class RegionDraft:
    """One region after a pass. `text` shows a masked position as U+2591 per token.

    `settled` are half-open ranges of `text` that are committed; `confidence` has one entry
    per maximal settled/unsettled stretch of `text`, in order, each in [0, 1].
    `stable_prefix` counts the code points of `text` that will not change again in this run.
    """

    region_id: str
    text: str
    settled: tuple[tuple[int, int], ...]
    confidence: tuple[float, ...]
    stable_prefix: int = 0


@dataclass(frozen=True, slots=True)
class Alternative:
    """A ranked filling. `score`: mean log-probability of the join, the fill as one token, nats.

    The draft of a stopped run is not judged: its score is the log of its tokens' confidence.
    """

    text: str
    score: float
    candidates: tuple[int, ...] = ()  # of the region's window: which joint fillings it is part of


@dataclass(frozen=True, slots=True)
class RegionResult:
    region_id: str
    alternatives: tuple[Alternative, ...]  # best first; none where a stopped run holds nothing
    confidence: float
    window: int | None = None  # regions of one window were filled jointly


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds. `load_ms` is 0 on a warm worker."""

    load_ms: float = 0.0
    queue_ms: float = 0.0
    encode_ms: float = 0.0
    first_stable_ms: float = 0.0
    complete_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class RunCard:
    """What it takes to run a job again and get the same text."""

    model: str
    model_sha256: str
    adapter: str
    adapter_sha256: str
    route: str
    sampler: dict[str, Any]  # every resolved threshold
    seed: int
    precision: str
    device: str
    num_threads: int
    canvas: dict[str, Any]  # context tokens per side, canvas lengths tried, region lengths
    versions: dict[str, str]
    text_sha256: str
    result_sha256: str
    fact_checked: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassRecord:
    """Aggregate telemetry of one pass; `canvas_hash` is keyed, so it tells nothing of the text."""

    pass_index: int
    committed: int
    remasked: int
    edited: int
    masked_left: int
    mean_confidence: float
    mean_entropy: float
    pass_ms: float
    canvas_hash: str


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """First message after connecting (and again when the model has loaded)."""

    worker_id: str
    model: str
    device: str
    precision: str
    is_loaded: bool
    load_ms: float = 0.0
    progress: str | None = None  # what loading is doing now
    problem_code: str | None = None  # why the model cannot be loaded: an EngineError's code
    problem: str | None = None
    contract_version: int = CONTRACT_VERSION
    type: Literal["worker_ready"] = "worker_ready"


@dataclass(frozen=True, slots=True)
class JobStarted:
    job_id: str
    route: str
    max_passes: int
    queue_ms: float
    type: Literal["job_started"] = "job_started"


@dataclass(frozen=True, slots=True)
class PassCompleted:
    job_id: str
    pass_index: int  # 1-based
    max_passes: int
    regions: tuple[RegionDraft, ...]
    stable_prefix: int  # code points settled for good from the first region on
    changed: int  # positions whose shown token differs from the last pass
    committed: int
    remasked: int
    mean_confidence: float
    pass_ms: float
    type: Literal["pass_completed"] = "pass_completed"


@dataclass(frozen=True, slots=True)
class JobFinished:
    job_id: str
    regions: tuple[RegionResult, ...]
    passes: int
    tokens_per_pass: float
    stop_reason: StopReason
    timings: Timings
    run_card: RunCard
    telemetry: tuple[PassRecord, ...] = ()
    type: Literal["job_finished"] = "job_finished"


@dataclass(frozen=True, slots=True)
class JobFailed:
    job_id: str
    code: str
    message: str
    retryable: bool
    type: Literal["job_failed"] = "job_failed"


@dataclass(frozen=True, slots=True)
class Pong:
    waiting: int
    running: int
    type: Literal["pong"] = "pong"


JobEvent = JobStarted | PassCompleted | JobFinished | JobFailed
ToWorker = RefineJob | CancelJob | Ping
FromWorker = WorkerReady | JobStarted | PassCompleted | JobFinished | JobFailed | Pong

_TO_WORKER: TypeAdapter[ToWorker] = TypeAdapter(Annotated[ToWorker, Field(discriminator="type")])
_FROM_WORKER: TypeAdapter[FromWorker] = TypeAdapter(
    Annotated[FromWorker, Field(discriminator="type")]
)


def encode_to_worker(message: ToWorker) -> bytes:
    """Return the message as one JSON object in UTF-8."""
    return _TO_WORKER.dump_json(message)


def decode_to_worker(raw: bytes | str) -> ToWorker:
    """Read one JSON object. Raises: pydantic.ValidationError naming the field."""
    return _TO_WORKER.validate_json(raw)


def encode_from_worker(message: FromWorker) -> bytes:
    """Return the message as one JSON object in UTF-8."""
    return _FROM_WORKER.dump_json(message)


def decode_from_worker(raw: bytes | str) -> FromWorker:
    """Read one JSON object. Raises: pydantic.ValidationError naming the field."""
    return _FROM_WORKER.validate_json(raw)
