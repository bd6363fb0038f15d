"""Websocket messages between browser and server.

Every frame is one JSON object tagged by `type`. Offsets here are UTF-16 code units of a text
whose line ends are "\\n"; `editor.protocol.translate` is the only place that turns them into
code points. Change sets are CodeMirror's JSON form. Frames that matter carry `seq`, counted
per document and server epoch, so that a client can resume with `?since=SEQ&epoch=EPOCH`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

PROTOCOL_VERSION = 1

Utf16 = Annotated[int, Field(ge=0, description="UTF-16 code units")]
ChangeJson = list[Any]  # CodeMirror ChangeSet.toJSON()
SpanKind = Literal["locked", "region", "field"]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


# ---- shared shapes


class SpanWire(Message):
    id: str
    kind: SpanKind
    start: Utf16 = Field(alias="from")
    end: Utf16 = Field(alias="to")
    settings: dict[str, Any] = Field(default_factory=dict)  # field: label, choices, required...


class NewSpan(Message):
    id: str | None = None  # the client may name it, so that it can be undone
    kind: SpanKind
    start: Utf16 = Field(alias="from")
    end: Utf16 = Field(alias="to")
    settings: dict[str, Any] = Field(default_factory=dict)


class UpdateWire(Message):
    """One CodeMirror collab update."""

    client_id: str = Field(alias="clientID")
    changes: ChangeJson


class FactFlag(Message):
    """A fact that differs between a region's text and a filling for it.

    `before` is None when it was added, `after` when it was dropped.
    """

    kind: Literal["changed", "dropped", "added", "swapped"]
    what: Literal["number", "dose", "date", "negation", "side", "name", "quote"]
    before: str | None = None
    after: str | None = None


class AlternativeWire(Message):
    text: str
    score: float
    flags: list[FactFlag] = Field(default_factory=list)


class SuggestionWire(Message):
    id: str
    run_id: str
    span_id: str
    original: str
    alternatives: list[AlternativeWire]
    confidence: float
    state: Literal["open", "accepted", "rejected", "void"]


class RunWire(Message):
    run_id: str
    state: Literal["queued", "running", "finished", "cancelled", "failed"]
    span_ids: list[str]
    passes: int = 0
    max_passes: int = 0


class RevisionWire(Message):
    n: int
    parent: int | None
    version: int
    author_kind: Literal["person", "model", "import", "restore"]
    summary: str
    created_at: str  # ISO 8601, UTC
    hash: str
    name: str | None = None  # that a person gave this version


RuleName = Annotated[str | None, Field(default=None, pattern="^[a-z][a-z0-9_]{0,63}$")]


class RefineSettings(Message):
    """What a user may set for one run; REST, websocket and command line share it."""

    route: Literal["auto", "diffusion", "autoregressive"] = "auto"
    preset: Literal["fast", "balanced", "careful"] = "balanced"
    steps: int | None = Field(default=None, ge=1, le=512)
    time_budget_s: float | None = Field(default=None, gt=0, le=3600)
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    strength: float = Field(default=1.0, ge=0, le=1)
    length: int | None = Field(default=None, ge=1, le=256)
    alternatives: int = Field(default=3, ge=1, le=8)
    constraints: list[dict[str, Any]] = Field(default_factory=list)
    mode: Literal["monotone", "revise"] | None = None
    brief: str = Field(default="", max_length=4000)
    commitment: RuleName = None  # names of sampling rules, in place of the preset's
    schedule: RuleName = None
    remasking: RuleName = None
    drawing: RuleName = None
    stop_when: RuleName = None
    top_p: float | None = Field(default=None, gt=0, le=1)
    early_answer: float | None = Field(default=None, gt=0, le=100)
    guidance: float | None = Field(default=None, ge=0, lt=1)


# ---- client -> server


class Hello(Message):
    type: Literal["hello"] = "hello"
    client_id: str = Field(min_length=1, max_length=64)
    protocol: int = PROTOCOL_VERSION
    # The version of the text the browser already holds (also after a server restart, when
    # `since` no longer counts): the welcome then has text=None, resumed=True and in `updates`
    # everything committed after it, from the log. None: send the whole text.
    version: int | None = Field(default=None, ge=0)


class Edit(Message):
    type: Literal["edit"] = "edit"
    op_id: str = Field(min_length=1, max_length=64)  # the same op_id applies once
    version: int = Field(ge=0)  # head the updates were made against
    updates: list[UpdateWire] = Field(min_length=1, max_length=1000)
    origin: Literal["typed", "pasted"] = "typed"  # of all that the updates insert


class Spans(Message):
    """Add and remove spans against a version; refused whole if any of it cannot be done."""

    type: Literal["spans"] = "spans"
    op_id: str = Field(min_length=1, max_length=64)
    version: int = Field(ge=0)
    add: list[NewSpan] = Field(default_factory=list)
    remove: list[str] = Field(default_factory=list)


class Refine(Message):
    type: Literal["refine"] = "refine"
    op_id: str = Field(min_length=1, max_length=64)
    version: int = Field(ge=0)
    regions: list[str] | Literal["all"] = "all"  # span ids of kind region or field
    settings: RefineSettings = Field(default_factory=RefineSettings)


class Cancel(Message):
    type: Literal["cancel"] = "cancel"
    run_id: str


class Accept(Message):
    type: Literal["accept"] = "accept"
    op_id: str = Field(min_length=1, max_length=64)
    suggestion_ids: list[str] = Field(min_length=1)  # accepted together: one edit, one revision
    alternatives: dict[str, int] = Field(default_factory=dict)  # suggestion id -> index
    texts: dict[str, str] = Field(default_factory=dict)  # suggestion id -> edited text


class Reject(Message):
    type: Literal["reject"] = "reject"
    op_id: str = Field(min_length=1, max_length=64)
    suggestion_ids: list[str] = Field(min_length=1)


class Restore(Message):
    type: Literal["restore"] = "restore"
    op_id: str = Field(min_length=1, max_length=64)
    revision: int = Field(ge=0, le=2**31 - 1)


class NameVersion(Message):
    """Write a revision of the text as it stands, under a name; answered with revision_added."""

    type: Literal["name_version"] = "name_version"
    op_id: str = Field(min_length=1, max_length=64)
    name: str  # 1 to 120 characters


class PingMessage(Message):
    type: Literal["ping"] = "ping"


ClientMessage = (
    Hello | Edit | Spans | Refine | Cancel | Accept | Reject | Restore | NameVersion | PingMessage
)
CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)


# ---- server -> client


class Welcome(Message):
    """Answer to hello: a full snapshot, or (resumed=True) the frames missed follow."""

    type: Literal["welcome"] = "welcome"
    document_id: str
    title: str
    epoch: str
    seq: int
    version: int
    hash: str
    resumed: bool
    text: str | None  # None when resumed
    spans: list[SpanWire]
    suggestions: list[SuggestionWire]
    runs: list[RunWire]
    revisions: list[RevisionWire]
    updates: list[UpdateWire] = Field(default_factory=list)  # resumed: since the client's version
    worker: Literal["ready", "loading", "down"] = "ready"


class Edited(Message):
    """Updates committed to the log, in order; sent to every browser, the author included."""

    type: Literal["edited"] = "edited"
    seq: int
    version: int  # after the updates
    updates: list[UpdateWire]
    hash: str  # sha256 of the text after them
    op_id: str | None = None  # the op that caused it
    cause: Literal["edit", "accept", "restore", "import"] = "edit"


class SpansChanged(Message):
    """All spans at a version; replaces what the browser holds."""

    type: Literal["spans_changed"] = "spans_changed"
    seq: int
    version: int
    spans: list[SpanWire]
    op_id: str | None = None


class RevisionAdded(Message):
    type: Literal["revision_added"] = "revision_added"
    seq: int
    revision: RevisionWire
    op_id: str | None = None  # the op that asked for it


class RunAccepted(Message):
    type: Literal["run_accepted"] = "run_accepted"
    seq: int
    run: RunWire
    op_id: str | None = None


class RunRefused(Message):
    type: Literal["run_refused"] = "run_refused"
    op_id: str | None
    code: str
    message: str
    retryable: bool


class RegionFrame(Message):
    span_id: str
    text: str  # masked positions as U+2591
    settled: list[tuple[int, int]]  # UTF-16 ranges of `text`
    confidence: list[float]
    stable_prefix: Utf16 = 0  # of `text`


class PassFrame(Message):
    """Provisional text after a pass. Latest wins, droppable, never stored."""

    type: Literal["pass_frame"] = "pass_frame"
    run_id: str
    pass_index: int = Field(alias="pass")
    max_passes: int
    regions: list[RegionFrame]
    stable_prefix: Utf16
    changed: int
    committed: int
    remasked: int
    mean_confidence: float
    pass_ms: float


class StablePrefix(Message):
    """The tide line moved forward; final for this run."""

    type: Literal["stable_prefix"] = "stable_prefix"
    seq: int
    run_id: str
    span_id: str
    text: str


class RegionDropped(Message):
    """A run yields one region and goes on for its others: nothing more comes for this one."""

    type: Literal["region_dropped"] = "region_dropped"
    seq: int
    run_id: str
    span_id: str
    reason: str


class SuggestionAdded(Message):
    type: Literal["suggestion_added"] = "suggestion_added"
    seq: int
    suggestion: SuggestionWire


class SuggestionDecided(Message):
    type: Literal["suggestion_decided"] = "suggestion_decided"
    seq: int
    suggestion_id: str
    state: Literal["open", "accepted", "rejected", "void"]
    op_id: str | None = None
    reason: str | None = None  # why void: e.g. its region was edited


class RunEnded(Message):
    type: Literal["run_ended"] = "run_ended"
    seq: int
    run_id: str
    state: Literal["finished", "cancelled", "failed"]
    stop_reason: str
    passes: int
    tokens_per_pass: float
    total_ms: float
    message: str | None = None


class Renamed(Message):
    type: Literal["renamed"] = "renamed"
    seq: int
    title: str


class WorkerState(Message):
    type: Literal["worker_state"] = "worker_state"
    state: Literal["ready", "loading", "down"]
    message: str | None = None


class Problem(Message):
    """A message could not be carried out; nothing was changed."""

    type: Literal["problem"] = "problem"
    op_id: str | None
    code: str
    message: str
    retryable: bool


class PongMessage(Message):
    type: Literal["pong"] = "pong"
    seq: int


ServerMessage = (
    Welcome
    | Edited
    | SpansChanged
    | RevisionAdded
    | RunAccepted
    | RunRefused
    | PassFrame
    | StablePrefix
    | RegionDropped
    | SuggestionAdded
    | SuggestionDecided
    | RunEnded
    | Renamed
    | WorkerState
    | Problem
    | PongMessage
)
SERVER_MESSAGE: TypeAdapter[ServerMessage] = TypeAdapter(
    Annotated[ServerMessage, Field(discriminator="type")]
)
