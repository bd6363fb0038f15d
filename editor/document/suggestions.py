"""Suggestions: fillings a run offers for a region, until a person decides.

Owns what a suggestion holds and how accepted ones become one change set for the *current* text.
Knows no storage and no frames. Invariant: what is accepted replaces exactly the text that the
suggestion was made for; locked text inside the region stays, character for character, in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from editor.document.changes import ChangeSet, Section
from editor.document.differences import align_around
from editor.document.facts import FactFlag
from editor.document.markup import markup_in
from editor.document.spans import Span, check_locks, locked_ranges, map_spans
from editor.errors import AlreadyDecided, InvalidInput, LockViolation

__all__ = [
    "Alternative",
    "Placement",
    "Suggestion",
    "SuggestionState",
    "choose_text",
    "is_placeable",
    "place",
]

SuggestionState = Literal["open", "accepted", "rejected", "void"]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One filling. `score` is the mean log-probability per token of the join, in nats.

    `flags` are the facts in which it differs from what it replaces.
    """

    text: str
    score: float
    flags: tuple[FactFlag, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Fillings for one region, best first. `original` is the region's text when the run began."""

    id: str
    run_id: str
    span_id: str
    base_version: int
    original: str
    alternatives: tuple[Alternative, ...]
    confidence: float
    state: SuggestionState = "open"


@dataclass(frozen=True, slots=True)
class Placement:
    """What accepting does: one change set, and all spans after it.

    `filled` is where each region's new text stands, by span id.
    """

    changes: ChangeSet
    spans: tuple[Span, ...]
    removed: tuple[Span, ...]  # accepted with an empty text, or swallowed
    filled: Mapping[str, tuple[int, int]]


def choose_text(suggestion: Suggestion, *, alternative: int = 0, text: str | None = None) -> str:
    """Return the text to put in: an edited one if given, else the alternative of that index.

    Raises: AlreadyDecided unless the suggestion is open; InvalidInput for an index outside.
    """
    if suggestion.state != "open":
        raise AlreadyDecided(f"suggestion {suggestion.id} is {suggestion.state}, not open")
    if text is not None:
        return text
    if not 0 <= alternative < len(suggestion.alternatives):
        raise InvalidInput(
            f"alternative {alternative} does not exist; allowed is 0 to "
            f"{len(suggestion.alternatives) - 1}"
        )
    return suggestion.alternatives[alternative].text


def is_placeable(suggestion: Suggestion, text: str, span: Span | None) -> bool:
    """Say whether the region still holds the text the suggestion was made for."""
    return span is not None and text[span.start : span.end] == suggestion.original


def place(text: str, spans: Sequence[Span], fillings: Mapping[str, str]) -> Placement:
    """Put new texts into regions, all in one edit; `fillings` is span id -> text.

    Every filled region keeps its id, covers its new text and is no longer a blank. Markdown
    structure inside a region counts as locked unless the region's `lock_markup` is false.
    Raises: LockViolation when a filling leaves out, or joins onto, locked text.
    """
    locks = locked_ranges(spans)
    filled: dict[str, tuple[int, int]] = {}
    sections: list[Section] = []
    position = shift = 0
    for region in sorted((s for s in spans if s.id in fillings), key=lambda span: span.start):
        new_text = fillings[region.id]
        inside = _kept_in(text, region, locks)
        sections.append((region.start - position, None))
        sections.extend(_fill(text, region, new_text, inside))
        filled[region.id] = (region.start + shift, region.start + shift + len(new_text))
        shift += len(new_text) - (region.end - region.start)
        position = region.end
    sections.append((len(text) - position, None))

    changes = ChangeSet.of(sections)
    check_locks(text, spans, changes)
    moved, deleted = map_spans((s for s in spans if s.id not in filled), changes)
    placed = [_refilled(s, *filled[s.id]) for s in spans if s.id in filled]
    return Placement(
        changes=changes,
        spans=tuple(sorted((*moved, *(s for s in placed if s.start < s.end)), key=_order)),
        removed=(*deleted, *(s for s in placed if s.start == s.end)),
        filled=filled,
    )


def _kept_in(
    text: str, region: Span, locks: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return what stays inside a region, in order and apart: its locks and its markup."""
    inside = [lock for lock in locks if region.start <= lock[0] and lock[1] <= region.end]
    markup = [Span("", "locked", start, end) for start, end in markup_in(text, region)]
    return locked_ranges([*markup, *(Span("", "locked", start, end) for start, end in inside)])


def _order(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.id


def _refilled(span: Span, start: int, end: int) -> Span:
    settings = {**span.settings, "blank": False} if "blank" in span.settings else span.settings
    return replace(span, start=start, end=end, settings=settings)


def _fill(
    text: str, region: Span, new_text: str, locks: Sequence[tuple[int, int]]
) -> list[Section]:
    """Return the sections that turn the region into `new_text` around the locks inside it."""
    inside = [(start - region.start, end - region.start) for start, end in locks]
    stretches = align_around(text[region.start : region.end], new_text, inside)
    if stretches is None:
        raise LockViolation(
            f"the filling of {region.start} to {region.end} leaves out locked text or Markdown "
            "structure; keep it, or set the region's lock_markup to false for the latter"
        )
    return [(len(old), None if old == new else new) for old, new in stretches]
