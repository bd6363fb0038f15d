"""Commands: what anybody may ask of an open document, and what the engine reports about it.

Owns the vocabulary that `editor.hub.session.decide` understands. REST routes, the websocket and
the engine's rim all speak it. Offsets and change sets are in code points; nothing here knows
JSON or pydantic. `op_id` makes a command idempotent: the same one twice applies once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from editor.document.changes import ChangeSet
from editor.document.spans import Span, SpanKind
from editor.document.state import SERVER_CLIENT_ID
from engine.contract import (
    Constraint,
    JobFailed,
    JobFinished,
    JobStarted,
    PassCompleted,
    SamplerConfig,
)

__all__ = [
    "AcceptSuggestions",
    "ApplyEdit",
    "CancelRun",
    "ChangeSpans",
    "Command",
    "NameRevision",
    "NewSpan",
    "RejectSuggestions",
    "RenameDocument",
    "ReplaceSpans",
    "RequestRefine",
    "RestoreRevision",
    "RunFailed",
    "RunProgressed",
    "RunStopped",
    "RunSucceeded",
    "SealTyping",
]


@dataclass(frozen=True, slots=True)
class ApplyEdit:
    """Updates of one client, each made for the text after the one before it.

    `origin` is where all that they insert came from.
    """

    op_id: str
    base_version: int
    client_id: str
    changes: tuple[ChangeSet, ...]
    origin: Literal["typed", "pasted"] = "typed"


@dataclass(frozen=True, slots=True)
class NewSpan:
    """A span to add; without an id it gets a fresh one."""

    kind: SpanKind
    start: int
    end: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeSpans:
    """Remove spans by id, then add; whole or not at all."""

    op_id: str
    base_version: int
    add: tuple[NewSpan, ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplaceSpans:
    """Put this set of spans for all there are; an id that exists keeps its runs."""

    op_id: str
    base_version: int
    spans: tuple[NewSpan, ...]


@dataclass(frozen=True, slots=True)
class RequestRefine:
    """Refine regions (None: all regions and fields). `constraints` hold for each of them."""

    op_id: str
    base_version: int
    span_ids: tuple[str, ...] | None
    config: SamplerConfig = field(default_factory=SamplerConfig)
    constraints: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class CancelRun:
    run_id: str


@dataclass(frozen=True, slots=True)
class AcceptSuggestions:
    """Accept together: one edit, one revision.

    `alternatives` is suggestion id -> index (default 0), `texts` suggestion id -> edited text.
    `client_id` is the browser's that shows the accept at once, as an undo step of its own, and
    has to recognise the edit when it comes back.
    """

    op_id: str
    suggestion_ids: tuple[str, ...]
    alternatives: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    client_id: str = SERVER_CLIENT_ID


@dataclass(frozen=True, slots=True)
class RejectSuggestions:
    op_id: str
    suggestion_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RestoreRevision:
    """Make the text and spans what they were at revision `n`.

    The rim reads `text`, `version` and `spans` of that revision from the store. `spans` is None
    for a revision of the first schema: spans then only move with the text.
    """

    op_id: str
    n: int
    text: str
    version: int | None = None
    spans: tuple[Span, ...] | None = None


@dataclass(frozen=True, slots=True)
class RenameDocument:
    title: str


@dataclass(frozen=True, slots=True)
class NameRevision:
    """Write a revision of the text as it stands, with a person's name for it."""

    op_id: str
    name: str


@dataclass(frozen=True, slots=True)
class SealTyping:
    """Write a revision of what was typed since the last, if anything was.

    The rim sends it after `session.QUIET_S` without an edit, and before it lets go of a document.
    """


@dataclass(frozen=True, slots=True)
class RunProgressed:
    event: JobStarted | PassCompleted


@dataclass(frozen=True, slots=True)
class RunSucceeded:
    event: JobFinished


@dataclass(frozen=True, slots=True)
class RunFailed:
    event: JobFailed


@dataclass(frozen=True, slots=True)
class RunStopped:
    """The rim ends a run itself, e.g. at shutdown; no engine event will follow."""

    run_id: str
    message: str


Command = (
    ApplyEdit
    | ChangeSpans
    | ReplaceSpans
    | RequestRefine
    | CancelRun
    | AcceptSuggestions
    | RejectSuggestions
    | RestoreRevision
    | RenameDocument
    | NameRevision
    | SealTyping
    | RunProgressed
    | RunSucceeded
    | RunFailed
    | RunStopped
)
