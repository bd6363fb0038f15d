"""Effects: what a decision asks the rim to do.

Owns three closed vocabularies: store actions (all of one decision commit in one transaction),
notices (domain facts for browsers; `editor.hub.wire` turns them into frames) and engine
actions. The rim stores first, then adopts the state, then sends and submits. Nothing here acts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from editor.document.revisions import Revision
from editor.document.spans import Span
from editor.document.state import DocumentState, Edit, EditCause, Run
from editor.document.suggestions import Suggestion, SuggestionState
from engine.contract import JobFinished, PassCompleted, RefineJob

__all__ = [
    "AddRevision",
    "AddRun",
    "AddSuggestions",
    "AppendEdits",
    "CancelJob",
    "DecideSuggestions",
    "Decision",
    "EditsCommitted",
    "EngineAction",
    "MissingEdits",
    "Notice",
    "PassShown",
    "RegionYielded",
    "RenameDocument",
    "RevisionAgain",
    "RevisionWritten",
    "RunAgain",
    "RunOver",
    "RunQueued",
    "SaveSpans",
    "Send",
    "SpansSaved",
    "StableGrown",
    "StoreAction",
    "SubmitJob",
    "SuggestionStored",
    "SuggestionVerdict",
    "TitleChanged",
    "UpdateRun",
    "Verdict",
]

# ---- store


@dataclass(frozen=True, slots=True)
class AppendEdits:
    """Append to the log; `text` and `hash` are the head after the last edit."""

    edits: tuple[Edit, ...]
    text: str
    hash: str


@dataclass(frozen=True, slots=True)
class SaveSpans:
    """All spans of the document at `version`; what was stored before is replaced."""

    version: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class AddRevision:
    revision: Revision


@dataclass(frozen=True, slots=True)
class AddRun:
    """`job` holds text: store its settings and its SHA-256 only."""

    run: Run
    job: RefineJob


@dataclass(frozen=True, slots=True)
class UpdateRun:
    """A run's new state; what is None here stays as stored.

    `result` comes with the engine's last word and holds run card, timings and telemetry. It may
    come after the run ended here, so that a cancelled run has its telemetry too. It also holds
    the texts of the alternatives, which `AddSuggestions` stores and this does not.
    """

    run: Run
    stop_reason: str | None = None
    message: str | None = None
    result: JobFinished | None = None


@dataclass(frozen=True, slots=True)
class AddSuggestions:
    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a suggestion. `reason` says why it is void."""

    suggestion_id: str
    state: SuggestionState
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DecideSuggestions:
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class RenameDocument:
    title: str


StoreAction = (
    AppendEdits
    | SaveSpans
    | AddRevision
    | AddRun
    | UpdateRun
    | AddSuggestions
    | DecideSuggestions
    | RenameDocument
)

# ---- notices


@dataclass(frozen=True, slots=True)
class EditsCommitted:
    """`edits` lead from the text before the decision to the text with `hash`."""

    edits: tuple[Edit, ...]
    version: int
    hash: str
    op_id: str | None
    cause: EditCause


@dataclass(frozen=True, slots=True)
class MissingEdits:
    """The op was applied before: send the edits after `since_version` from the log again.

    None are missing after the newest version; the answer then says only that the op is known.
    """

    since_version: int
    op_id: str
    cause: EditCause = "edit"


@dataclass(frozen=True, slots=True)
class RunAgain:
    """The op asked for this run before: say from the store how the run stands."""

    run_id: str
    op_id: str


@dataclass(frozen=True, slots=True)
class RevisionAgain:
    """The op wrote this revision before: send it from the store."""

    n: int
    op_id: str


@dataclass(frozen=True, slots=True)
class SpansSaved:
    version: int
    spans: tuple[Span, ...]
    op_id: str | None = None


@dataclass(frozen=True, slots=True)
class RevisionWritten:
    revision: Revision
    op_id: str | None = None


@dataclass(frozen=True, slots=True)
class RunQueued:
    run: Run
    op_id: str | None


@dataclass(frozen=True, slots=True)
class PassShown:
    """Provisional: may be dropped, is never stored."""

    event: PassCompleted


@dataclass(frozen=True, slots=True)
class StableGrown:
    run_id: str
    span_id: str
    text: str


@dataclass(frozen=True, slots=True)
class RegionYielded:
    """A run goes on without this region."""

    run_id: str
    span_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class SuggestionStored:
    suggestion: Suggestion


@dataclass(frozen=True, slots=True)
class SuggestionVerdict:
    verdict: Verdict
    op_id: str | None = None


@dataclass(frozen=True, slots=True)
class RunOver:
    """`total_ms` is the engine's, or the time since the run was asked for."""

    run: Run
    stop_reason: str
    tokens_per_pass: float = 0.0
    total_ms: float = 0.0
    message: str | None = None


@dataclass(frozen=True, slots=True)
class TitleChanged:
    title: str


Notice = (
    EditsCommitted
    | MissingEdits
    | SpansSaved
    | RevisionWritten
    | RevisionAgain
    | RunAgain
    | RunQueued
    | PassShown
    | StableGrown
    | RegionYielded
    | SuggestionStored
    | SuggestionVerdict
    | RunOver
    | TitleChanged
)


@dataclass(frozen=True, slots=True)
class Send:
    """One notice, in order. `to` "sender" means only whoever gave the command."""

    notice: Notice
    to: Literal["all", "sender"] = "all"


# ---- engine


@dataclass(frozen=True, slots=True)
class SubmitJob:
    job: RefineJob


@dataclass(frozen=True, slots=True)
class CancelJob:
    job_id: str


EngineAction = SubmitJob | CancelJob


@dataclass(frozen=True, slots=True)
class Decision:
    """The next state and what has to happen for it to become true.

    `unplaced` lists suggestions of an accept that could not be placed, each with the reason;
    the others were.
    """

    state: DocumentState
    store: tuple[StoreAction, ...] = ()
    send: tuple[Send, ...] = ()
    engine: tuple[EngineAction, ...] = ()
    unplaced: tuple[Verdict, ...] = ()
