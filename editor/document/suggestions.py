"""Suggestions: fillings a run offers for a region, until a person decides.

Owns what a suggestion holds and how accepted ones become one change set for the *current* text.
Knows no storage and no frames. Invariant: what is accepted replaces exactly the text that the
suggestion was made for; locked text inside the region stays, character for character, in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from editor.document.changes import ChangeSet
from editor.document.spans import Span
from editor.errors import AlreadyDecided, InvalidInput

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
    """One filling. `score` is the mean log-probability per token of the join, in nats."""

    text: str
    score: float


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
    """What accepting does: one change set, and all spans after it."""

    changes: ChangeSet
    spans: tuple[Span, ...]
    removed: tuple[Span, ...]  # accepted with an empty text, or swallowed


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


def place(text: str, spans: Sequence[Span], fillings: dict[str, str]) -> Placement:
    """Put new texts into regions, all in one edit; `fillings` is span id -> text.

    Every filled region keeps its id, covers its new text and is no longer a blank.
    Raises: LockViolation when a filling leaves out, or joins onto, locked text.
    """
    raise NotImplementedError
