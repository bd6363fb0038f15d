"""Bodies of the REST interface. Offsets are code points here; the websocket has its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from editor.document.differences import PartKind, TextPart
from editor.document.fact_tokens import FactKind
from editor.document.facts import FlagKind
from editor.document.provenance import OriginKind, OriginRun
from editor.document.revisions import Revision
from editor.document.spans import Span, SpanKind
from editor.document.state import DocumentState
from editor.document.suggestions import Suggestion
from editor.document.unfilled import Unfilled, UnfilledReason
from editor.hub.commands import NewSpan
from editor.protocol.messages import RefineSettings
from editor.store.documents import DocumentRow
from editor.store.runs import RunRow
from engine.contract import PassRecord

CodePoint = Annotated[int, Field(ge=0, description="Offset in code points.")]
OpId = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=64,
        description="Name of this operation: sent again with the same name, it applies once.",
    ),
]
BaseVersion = Annotated[
    int | None,
    Field(
        ge=0,
        description="Version the caller has seen; an older one than the head is refused.",
    ),
]


class SpanIn(BaseModel):
    """A range with a meaning. Further keys are taken as settings."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    id: str | None = Field(default=None, min_length=1, max_length=64)
    kind: SpanKind
    start: CodePoint = Field(alias="from")
    end: CodePoint = Field(alias="to")
    settings: dict[str, Any] = Field(default_factory=dict)

    def to_new_span(self) -> NewSpan:
        settings = {**self.settings, **(self.model_extra or {})}
        return NewSpan(self.kind, self.start, self.end, settings, self.id)


class SpanOut(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    id: str
    kind: SpanKind
    start: CodePoint = Field(alias="from")
    end: CodePoint = Field(alias="to")
    settings: dict[str, Any]

    @classmethod
    def of(cls, span: Span) -> SpanOut:
        return cls.model_validate(
            {
                "id": span.id,
                "kind": span.kind,
                "from": span.start,
                "to": span.end,
                "settings": dict(span.settings),
            }
        )


class DocumentIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str = Field(default="", max_length=200)
    text: str = Field(description="Line ends of any kind; they become `\\n`.")
    spans: list[SpanIn] | None = Field(
        default=None,
        description="Without it, blanks (`[___]`, `___`, `{{name}}`, `***`, `[MASK]`) become "
        "regions.",
    )


class TitleIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str = Field(max_length=200)


class DocumentOut(BaseModel):
    id: str
    title: str
    text: str
    version: int = Field(description="Number of edits ever applied.")
    hash: str = Field(description="SHA-256 of the text in UTF-8.")
    spans: list[SpanOut]

    @classmethod
    def of(cls, state: DocumentState) -> DocumentOut:
        return cls(
            id=state.id,
            title=state.title,
            text=state.text,
            version=state.version,
            hash=state.hash,
            spans=[SpanOut.of(span) for span in state.spans],
        )


class DocumentSummary(BaseModel):
    id: str
    title: str
    version: int
    hash: str
    created_s: float = Field(description="Seconds since 1970.")
    updated_s: float = Field(description="Seconds since 1970.")

    @classmethod
    def of(cls, row: DocumentRow) -> DocumentSummary:
        return cls.model_validate(row, from_attributes=True)


class DocumentList(BaseModel):
    documents: list[DocumentSummary]


class SpansIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    spans: list[SpanIn]
    base_version: BaseVersion = None
    op_id: OpId = None


class SpansOut(BaseModel):
    version: int
    spans: list[SpanOut]


class RevisionSummary(BaseModel):
    n: int
    parent: int | None
    version: int
    author_kind: Literal["person", "model", "import", "restore"]
    summary: str
    created_at: str = Field(description="ISO 8601, UTC.")
    text_hash: str
    hash: str = Field(description="SHA-256 chained to the parent's.")
    name: str | None = Field(description="What a person called this version.")

    @classmethod
    def of(cls, revision: Revision) -> RevisionSummary:
        return cls.model_validate(revision, from_attributes=True)


class RevisionList(BaseModel):
    revisions: list[RevisionSummary]


class NameVersionIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="1 to 120 characters.")
    op_id: OpId = None


class OriginRunOut(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    start: CodePoint = Field(alias="from")
    end: CodePoint = Field(alias="to")
    origin: OriginKind
    run_id: str | None = Field(default=None, description='Of the run, when the origin is "model".')

    @classmethod
    def of(cls, run: OriginRun) -> OriginRunOut:
        return cls.model_validate(
            {"from": run.start, "to": run.end, "origin": run.kind, "run_id": run.run_id}
        )


class ProvenanceOut(BaseModel):
    version: int
    runs: list[OriginRunOut]


class UnfilledPlace(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    start: CodePoint = Field(alias="from")
    end: CodePoint = Field(alias="to")
    reason: UnfilledReason
    span_id: str | None


class UnfilledOut(BaseModel):
    version: int
    unfilled: list[UnfilledPlace] = Field(description="Nothing: the document may be final.")

    @classmethod
    def of(cls, version: int, places: Iterable[Unfilled]) -> UnfilledOut:
        return cls(
            version=version,
            unfilled=[
                UnfilledPlace.model_validate(
                    {"from": o.start, "to": o.end, "reason": o.reason, "span_id": o.span_id}
                )
                for o in places
            ],
        )


class ComparisonPart(BaseModel):
    kind: PartKind
    text: str


class ComparisonOut(BaseModel):
    """Without the added parts this is the one text, without the removed parts the other."""

    model_config = ConfigDict(populate_by_name=True)

    earlier: int = Field(alias="from")
    later: int = Field(alias="to")
    parts: list[ComparisonPart]

    @classmethod
    def of(cls, compared: tuple[int, int], parts: Iterable[TextPart]) -> ComparisonOut:
        given = [ComparisonPart(kind=part.kind, text=part.text) for part in parts]
        return cls.model_validate({"from": compared[0], "to": compared[1], "parts": given})


class RevisionOut(RevisionSummary):
    text: str
    changes: list[Any] = Field(description="From the parent's text, as CodeMirror writes it.")
    spans: list[SpanOut] | None = Field(
        description="Locks, regions and fields of that text; None in what an older program wrote."
    )
    open_suggestions: list[str] = Field(description="Ids of the suggestions that were open.")


class RestoreIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    revision: int = Field(ge=0, le=2**31 - 1)
    op_id: OpId = None


class RegionRange(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    start: CodePoint = Field(alias="from")
    end: CodePoint = Field(alias="to")


class RefineIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    base_version: BaseVersion = None
    regions: Literal["all"] | list[str | RegionRange] = Field(
        default="all", description="All regions, or a list of span ids and ranges."
    )
    settings: RefineSettings = Field(default_factory=RefineSettings)
    op_id: OpId = None


class RefineOut(BaseModel):
    run_id: str
    state: Literal["queued", "running", "finished", "cancelled", "failed"]
    span_ids: list[str]


class FactFlagOut(BaseModel):
    """A fact that differs from the text the filling replaces."""

    model_config = ConfigDict(from_attributes=True)

    kind: FlagKind
    what: FactKind
    before: str | None = Field(description="None when it was added.")
    after: str | None = Field(description="None when it was dropped.")


class AlternativeOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    text: str
    score: float = Field(description="Mean log-probability per token of the join, in nats.")
    flags: list[FactFlagOut] = Field(
        default_factory=list,
        description="Numbers, doses, dates, negations, sides, names and quotes to look at.",
    )


class SuggestionOut(BaseModel):
    id: str
    span_id: str
    original: str
    alternatives: list[AlternativeOut] = Field(description="Best first.")
    confidence: float
    state: Literal["open", "accepted", "rejected", "void"]

    @classmethod
    def of(cls, suggestion: Suggestion) -> SuggestionOut:
        return cls.model_validate(suggestion, from_attributes=True)

    model_config = ConfigDict(from_attributes=True)


class TelemetryOut(BaseModel):
    """Counts and times only; `canvas_hash` is keyed and tells nothing of the text."""

    tokens_per_pass: float
    timings: dict[str, float] | None
    passes: list[PassRecord]


class RunOut(BaseModel):
    id: str
    document_id: str
    base_version: int
    state: Literal["queued", "running", "finished", "cancelled", "failed"]
    span_ids: list[str]
    stop_reason: str | None
    message: str | None
    passes: int
    max_passes: int
    suggestions: list[SuggestionOut]
    run_card: dict[str, Any] | None
    telemetry: TelemetryOut
    created_s: float
    ended_s: float | None

    @classmethod
    def of(cls, row: RunRow, suggestions: list[Suggestion], records: list[PassRecord]) -> RunOut:
        return cls(
            id=row.id,
            document_id=row.document_id,
            base_version=row.base_version,
            state=row.state,  # type: ignore[arg-type]  # the column holds these five only
            span_ids=list(row.span_ids),
            stop_reason=row.stop_reason,
            message=row.message,
            passes=row.passes,
            max_passes=row.max_passes,
            suggestions=[SuggestionOut.of(suggestion) for suggestion in suggestions],
            run_card=row.run_card,
            telemetry=TelemetryOut(
                tokens_per_pass=row.tokens_per_pass, timings=row.timings, passes=records
            ),
            created_s=row.created_s,
            ended_s=row.ended_s,
        )


class AcceptIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    alternative: int = Field(default=0, ge=0, description="Index, 0 is the best.")
    text: str | None = Field(default=None, description="An edited filling instead.")
    op_id: OpId = None


class RejectIn(BaseModel):
    model_config = ConfigDict(extra="ignore")

    op_id: OpId = None


class VerdictOut(BaseModel):
    """What became of the suggestion, and the document's head after it."""

    id: str
    state: Literal["open", "accepted", "rejected", "void"]
    document_id: str
    version: int
    hash: str


class ImportIn(BaseModel):
    """A file inside JSON; `content` is its text, or base64 when `encoding` says so."""

    model_config = ConfigDict(extra="forbid")

    content: str
    filename: str = Field(default="", max_length=255)
    format: str = Field(default="", max_length=16)
    encoding: Literal["text", "base64"] = "text"
    title: str | None = Field(default=None, max_length=200)
