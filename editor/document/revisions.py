"""Revisions: named points of a document's history, each hashed onto its parent.

Owns what a revision holds, how its hash is made, and how a chain is checked. Knows no storage.
Revision 0 writes the first text over an empty one, so a chain can be rebuilt from nothing.
The hash covers everything a revision says. It takes the digests of the change set, the name, the
spans and the origins, so that those may later be purged while the chain stays verifiable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from editor.document.changes import ChangeSet
from editor.document.provenance import OriginRun
from editor.document.spans import Span, span_to_json
from editor.document.text import text_hash
from editor.errors import InvalidChange

__all__ = [
    "NEWEST_FORM",
    "AuthorKind",
    "ChainFault",
    "Revision",
    "RevisionDraft",
    "RevisionMarks",
    "TakenSpan",
    "chain_hash",
    "format_time",
    "seal_revision",
    "verify_chain",
]

AuthorKind = Literal["person", "model", "import", "restore"]

FIRST_FORM = 1  # hashes of the first schema: they leave out summary, number, spans and the rest
NEWEST_FORM = 2


@dataclass(frozen=True, slots=True)
class TakenSpan:
    """A region that an accept made plain text. `span` covers the filling, in the text after.

    The region comes back when `original` stands in its place again.
    """

    span: Span
    original: str


@dataclass(frozen=True, slots=True)
class RevisionMarks:
    """What a revision holds beside its text.

    `spans` are all spans of its text; `suggestions` are the ids of those open; `taken` are the
    regions this revision filled for good; `origins` are those of the first text.
    """

    spans: tuple[Span, ...] = ()
    suggestions: tuple[str, ...] = ()
    taken: tuple[TakenSpan, ...] = ()
    origins: tuple[OriginRun, ...] = ()

    def to_json(self) -> dict[str, list[Any]]:
        """Return the stored form; it is hashed part by part."""
        return {
            "spans": [span_to_json(span) for span in self.spans],
            "suggestions": list(self.suggestions),
            "taken": [
                {**span_to_json(taken.span), "original": taken.original} for taken in self.taken
            ],
            "origins": [asdict(run) for run in self.origins],
        }


@dataclass(frozen=True, slots=True)
class Revision:
    """The text at `version`, reached from `parent` by `changes`. `n` counts from 0.

    `summary` says what happened in our words, `name` is what a person called it. `marks` is
    None in what was written by the first schema, whose hashes have `form` 1.
    """

    n: int
    parent: int | None
    version: int
    author_kind: AuthorKind
    summary: str
    created_at: str  # ISO 8601, UTC
    changes: ChangeSet
    text_hash: str
    hash: str
    name: str | None = None
    marks: RevisionMarks | None = None
    form: int = NEWEST_FORM


@dataclass(frozen=True, slots=True)
class RevisionDraft:
    """What a new revision will say, before it is numbered, timed and hashed."""

    changes: ChangeSet
    version: int
    text_hash: str
    author_kind: AuthorKind
    summary: str
    name: str | None = None
    marks: RevisionMarks = RevisionMarks()


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first revision that is not what its hash says."""

    n: int
    problem: str


def format_time(now_s: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(now_s, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def chain_hash(parent_hash: str, revision: Revision) -> str:
    """Return the SHA-256 that fixes a revision and, through its parent, all before it.

    `parent_hash` is "" for revision 0; `revision.hash` is not looked at. The input is a JSON
    list, so that no two different revisions can be written the same way.
    """
    if revision.form == FIRST_FORM:
        return _digest(
            [
                parent_hash,
                revision.author_kind,
                revision.created_at,
                revision.changes.to_json(),
                revision.text_hash,
            ]
        )
    marks = (revision.marks or RevisionMarks()).to_json()
    return _digest(
        [
            revision.form,
            parent_hash,
            revision.n,
            revision.version,
            revision.author_kind,
            revision.created_at,
            revision.text_hash,
            _digest(revision.changes.to_json()),
            _digest([revision.summary, revision.name]),
            *(_digest(marks[part]) for part in ("spans", "suggestions", "taken", "origins")),
        ]
    )


def _digest(value: object) -> str:
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def seal_revision(draft: RevisionDraft, *, parent: Revision | None, now_s: float) -> Revision:
    """Return the revision that follows `parent`, or revision 0 when there is none."""
    unsealed = Revision(
        n=0 if parent is None else parent.n + 1,
        parent=None if parent is None else parent.n,
        version=draft.version,
        author_kind=draft.author_kind,
        summary=draft.summary,
        created_at=format_time(now_s),
        changes=draft.changes,
        text_hash=draft.text_hash,
        hash="",
        name=draft.name,
        marks=draft.marks,
    )
    return replace(unsealed, hash=chain_hash("" if parent is None else parent.hash, unsealed))


def verify_chain(revisions: Iterable[Revision], base_text: str = "") -> ChainFault | None:
    """Rebuild every revision from `base_text` and return the first that is wrong, or None.

    `revisions` come in order from 0.
    """
    text, parent = base_text, None
    for expected_n, revision in enumerate(revisions):
        problem = _number_problem(revision, parent, expected_n)
        if problem is None:
            try:
                text = revision.changes.apply(text)
            except InvalidChange as error:
                problem = f"its change set does not fit its parent's text: {error}"
        if problem is None and text_hash(text) != revision.text_hash:
            problem = "the rebuilt text does not have the stored hash"
        parent_hash = "" if parent is None else parent.hash
        if problem is None and chain_hash(parent_hash, revision) != revision.hash:
            problem = "its hash does not follow from its parent and contents"
        if problem is not None:
            return ChainFault(revision.n, problem)
        parent = revision
    return None


def _number_problem(revision: Revision, parent: Revision | None, expected_n: int) -> str | None:
    if revision.n != expected_n:
        return f"it has number {revision.n} where {expected_n} is due"
    if revision.parent != (None if parent is None else parent.n):
        return f"its parent is {revision.parent}, not the revision before it"
    if parent is not None and revision.form < parent.form:
        return f"its hash has form {revision.form}, its parent's has {parent.form}"
    if parent is not None and revision.version < parent.version:
        return f"its version {revision.version} is older than its parent's {parent.version}"
    return None
