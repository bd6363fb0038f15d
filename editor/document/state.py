"""The state of one open document, as its authority holds it.

Owns the value that `editor.hub.session.decide` maps to the next one. Frozen: a decision that
cannot be stored is dropped and the old state stays. Invariants: spans fit the text; `version`
is the number of edits ever applied; suggestions and runs that matter no more are bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from editor.document.changes import ChangeSet
from editor.document.provenance import TYPED, EditOrigin
from editor.document.revisions import Revision, TakenSpan
from editor.document.spans import Span
from editor.document.suggestions import Suggestion

__all__ = [
    "SERVER_CLIENT_ID",
    "DocumentState",
    "Edit",
    "EditCause",
    "KnownOp",
    "OpKind",
    "Pending",
    "Run",
    "RunState",
    "compose_pending",
]

SERVER_CLIENT_ID = "tideline"  # of edits no browser made: restores, and accepts over HTTP
MAX_KNOWN_OPS = 1_024
MAX_ENDED_RUNS = 32
MAX_DECIDED_SUGGESTIONS = 256

EditCause = Literal["edit", "accept", "restore", "import"]
OpKind = Literal["edit", "spans", "refine", "accept", "reject", "restore", "name"]
RunState = Literal["queued", "running", "finished", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One entry of the append-only log; applying it leads to `version`.

    The edits of one command share its `op_id`.
    """

    version: int
    op_id: str
    client_id: str
    changes: ChangeSet
    cause: EditCause
    created_at: str  # ISO 8601, UTC
    origin: EditOrigin = TYPED


@dataclass(frozen=True, slots=True)
class KnownOp:
    """An operation that was applied, so that the same one again gets the same answer.

    It led to `version`. `subjects` are the ids of what it made or decided: a run, suggestions,
    or the number of a revision. `kind` is None for what the first schema stored.
    """

    version: int
    kind: OpKind | None
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pending:
    """Typing since the head revision, composed into one change set."""

    changes: ChangeSet
    first_s: float
    last_s: float


@dataclass(frozen=True, slots=True)
class Run:
    """One refinement. `id` is also the engine's job id.

    `span_ids` are the regions it still works on: one that is edited is dropped from them.
    `originals` is region id -> its text at the start; `stable` is region id -> text that will
    not change again in this run. Provisional text lives here only, in memory.
    """

    id: str
    state: RunState
    span_ids: tuple[str, ...]
    base_version: int
    originals: Mapping[str, str]
    route: str = ""
    passes: int = 0
    max_passes: int = 0
    stable: Mapping[str, str] = field(default_factory=dict)
    is_stopping: bool = False
    asked_s: float = 0.0  # seconds since 1970

    @property
    def is_active(self) -> bool:
        return self.state in ("queued", "running")


@dataclass(frozen=True, slots=True)
class DocumentState:
    """Everything a decision needs. `head` is the newest revision.

    `suggestions` holds all open ones and some decided ones, `runs` all active ones and some
    ended ones, both by id. `known_ops` maps recent op ids to what they led to, oldest first.
    `region_versions` says at which version the text of a region last changed; a region that is
    not in it has not changed since `loaded_version`. `earlier_hash` is the hash of the text
    before the head revision. `taken` are regions that an accept made text, where they are now.
    """

    id: str
    title: str
    text: str
    version: int
    hash: str  # SHA-256 of the text
    head: Revision
    spans: tuple[Span, ...] = ()
    suggestions: Mapping[str, Suggestion] = field(default_factory=dict)
    runs: Mapping[str, Run] = field(default_factory=dict)
    pending: Pending | None = None
    known_ops: Mapping[str, KnownOp] = field(default_factory=dict)
    region_versions: Mapping[str, int] = field(default_factory=dict)
    loaded_version: int = 0
    earlier_hash: str | None = None
    taken: tuple[TakenSpan, ...] = ()

    @property
    def active_runs(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs.values() if run.is_active)

    @property
    def open_suggestions(self) -> tuple[Suggestion, ...]:
        return tuple(s for s in self.suggestions.values() if s.state == "open")

    def span(self, span_id: str) -> Span | None:
        return next((span for span in self.spans if span.id == span_id), None)

    def run_on(self, span_id: str) -> Run | None:
        """Return the active run that works on a region, if any."""
        return next((run for run in self.active_runs if span_id in run.span_ids), None)


def compose_pending(edits: Iterable[ChangeSet], *, first_s: float, last_s: float) -> Pending | None:
    """Return the typing since the head revision from the log; None when there is none."""
    changes: ChangeSet | None = None
    for edit in edits:
        changes = edit if changes is None else changes.compose(edit)
    return None if changes is None else Pending(changes, first_s, last_s)
