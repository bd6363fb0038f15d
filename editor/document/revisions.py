"""Revisions: named points of a document's history, each hashed onto its parent.

Owns what a revision holds, how its hash is made, and how a chain is checked. Knows no storage.
Revision 0 writes the first text over an empty one, so a chain can be rebuilt from nothing.
The hash covers parent hash, author kind, time, change set and text hash, so that text may
later be purged while the chain stays verifiable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from editor.document.changes import ChangeSet
from editor.document.text import text_hash
from editor.errors import InvalidChange

__all__ = [
    "AuthorKind",
    "ChainFault",
    "Revision",
    "RevisionDraft",
    "chain_hash",
    "format_time",
    "seal_revision",
    "verify_chain",
]

AuthorKind = Literal["person", "model", "import", "restore"]


@dataclass(frozen=True, slots=True)
class Revision:
    """The text at `version`, reached from `parent` by `changes`. `n` counts from 0.

    `summary` says what happened in our words, or is the name a person gave.
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


@dataclass(frozen=True, slots=True)
class RevisionDraft:
    """What a new revision will say, before it is numbered, timed and hashed."""

    changes: ChangeSet
    version: int
    text_hash: str
    author_kind: AuthorKind
    summary: str


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first revision that is not what its hash says."""

    n: int
    problem: str


def format_time(now_s: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(now_s, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def chain_hash(
    parent_hash: str,
    *,
    author_kind: str,
    created_at: str,
    changes: ChangeSet,
    text_hash: str,
) -> str:
    """Return the SHA-256 that fixes a revision and, through its parent, all before it.

    `parent_hash` is "" for revision 0. The input is a JSON list, so that no two different
    revisions can be written the same way.
    """
    fields = [parent_hash, author_kind, created_at, changes.to_json(), text_hash]
    written = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def seal_revision(draft: RevisionDraft, *, parent: Revision | None, now_s: float) -> Revision:
    """Return the revision that follows `parent`, or revision 0 when there is none."""
    created_at = format_time(now_s)
    return Revision(
        n=0 if parent is None else parent.n + 1,
        parent=None if parent is None else parent.n,
        version=draft.version,
        author_kind=draft.author_kind,
        summary=draft.summary,
        created_at=created_at,
        changes=draft.changes,
        text_hash=draft.text_hash,
        hash=chain_hash(
            "" if parent is None else parent.hash,
            author_kind=draft.author_kind,
            created_at=created_at,
            changes=draft.changes,
            text_hash=draft.text_hash,
        ),
    )


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
        if problem is None and _hash_of(revision, parent) != revision.hash:
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
    if parent is not None and revision.version < parent.version:
        return f"its version {revision.version} is older than its parent's {parent.version}"
    return None


def _hash_of(revision: Revision, parent: Revision | None) -> str:
    return chain_hash(
        "" if parent is None else parent.hash,
        author_kind=revision.author_kind,
        created_at=revision.created_at,
        changes=revision.changes,
        text_hash=revision.text_hash,
    )
