"""Accepting and rejecting suggestions.

Owns what "accept" means: one edit and one revision for all suggestions accepted together,
against the *current* text. What cannot be placed is listed with its reason, never forced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from editor.document.blanks import is_blank_marker
from editor.document.differences import find_changes
from editor.document.provenance import EditOrigin, OriginRun
from editor.document.revisions import TakenSpan
from editor.document.suggestions import (
    Placement,
    Suggestion,
    choose_text,
    is_placeable,
    place,
)
from editor.document.text import check_text
from editor.errors import AlreadyDecided, InvalidInput, LockViolation, NotFound, TooLarge
from editor.hub.commands import AcceptSuggestions, RejectSuggestions
from editor.hub.draft import CommitBy, Draft
from editor.hub.effects import Verdict

__all__ = ["accept_suggestions", "reject_suggestions"]

MOVED_ON = "its region no longer holds the text it was made for"


def accept_suggestions(draft: Draft, command: AcceptSuggestions) -> None:
    """Put the chosen fillings into the text.

    A suggestion whose region has changed becomes void, one that would break a lock stays open;
    both are listed as unplaced. Raises: NotFound, AlreadyDecided, InvalidInput, InvalidText,
    TooLarge; LockViolation when nothing could be placed for that reason.
    """
    suggestions = _open_suggestions(draft, command.suggestion_ids)
    _check_one_per_region(suggestions)
    fillings: dict[str, str] = {}
    violation: LockViolation | None = None
    for suggestion in suggestions:
        text = choose_text(
            suggestion,
            alternative=command.alternatives.get(suggestion.id, 0),
            text=command.texts.get(suggestion.id),
        )
        check_text(text, limit=draft.limit)
        if not is_placeable(suggestion, draft.state.text, draft.state.span(suggestion.span_id)):
            draft.unplaced.append(Verdict(suggestion.id, "void", MOVED_ON))
            continue
        try:
            place(draft.state.text, draft.state.spans, {suggestion.span_id: text})
        except LockViolation as error:
            violation = error
            draft.unplaced.append(Verdict(suggestion.id, "open", str(error)))
            continue
        fillings[suggestion.span_id] = text
    if not fillings and violation is not None:
        raise violation
    accepted = [one for one in suggestions if one.span_id in fillings]
    draft.judge([verdict for verdict in draft.unplaced if verdict.state == "void"])
    if accepted:
        _commit(draft, command, accepted, fillings)


def _commit(
    draft: Draft,
    command: AcceptSuggestions,
    accepted: list[Suggestion],
    fillings: dict[str, str],
) -> None:
    placement = place(draft.state.text, draft.state.spans, fillings)
    if placement.changes.new_length > draft.limit:
        raise TooLarge(
            f"the text would have {placement.changes.new_length:,} code points; "
            f"the limit is {draft.limit:,}"
        )
    draft.seal_typing()
    taken = _taken(draft, accepted, placement)
    ids = {one.span.id for one in taken}
    edited = draft.start_edits().then(
        placement.changes,
        text=placement.changes.apply(draft.state.text),
        spans=tuple(span for span in placement.spans if span.id not in ids),
        removed=(*placement.removed, *(one.span for one in taken)),
    )
    # Judged first: what is accepted is no longer open when its region counts as edited.
    draft.judge([Verdict(one.id, "accepted") for one in accepted], op_id=command.op_id)
    origin = EditOrigin(written=_written(accepted, command, placement, fillings))
    by = CommitBy(command.op_id, command.client_id, "accept", origin)
    draft.commit(edited, by, taken=taken)
    draft.remember(command.op_id, "accept", [one.id for one in accepted])
    draft.write_revision("model", f"Accepted {_count(len(accepted))}", taken=taken)


def _taken(
    draft: Draft, accepted: Iterable[Suggestion], placement: Placement
) -> tuple[TakenSpan, ...]:
    """Return the blanks that are filled now: text like any other, no region to refine again.

    A field stays one, and so does a region that somebody marked in existing text.
    """
    taken: list[TakenSpan] = []
    for suggestion in accepted:
        span = draft.state.span(suggestion.span_id)
        if span is not None and span.kind == "region" and is_blank_marker(suggestion.original):
            start, end = placement.filled[span.id]
            taken.append(TakenSpan(replace(span, start=start, end=end), suggestion.original))
    return tuple(taken)


def _written(
    accepted: Iterable[Suggestion],
    command: AcceptSuggestions,
    placement: Placement,
    fillings: Mapping[str, str],
) -> tuple[OriginRun, ...]:
    """Return what of the new text the model wrote: not what a person changed in it."""
    written: list[OriginRun] = []
    for suggestion in accepted:
        start, end = placement.filled[suggestion.span_id]
        stretches = [(0, end - start)]
        if suggestion.id in command.texts:
            offered = suggestion.alternatives[command.alternatives.get(suggestion.id, 0)].text
            stretches = _kept(offered, fillings[suggestion.span_id])
        written += [
            OriginRun(start + low, start + high, "model", suggestion.run_id)
            for low, high in stretches
            if low < high
        ]
    return tuple(sorted(written, key=lambda run: run.start))


def _kept(offered: str, edited: str) -> list[tuple[int, int]]:
    """Return the stretches of the edited text that stand in what was offered."""
    kept: list[tuple[int, int]] = []
    position = 0
    for length, inserted in find_changes(offered, edited).sections:
        if inserted is None:
            kept.append((position, position + length))
        position += length if inserted is None else len(inserted)
    return kept


def reject_suggestions(draft: Draft, command: RejectSuggestions) -> None:
    """Turn suggestions down; the text stays. Raises: NotFound, AlreadyDecided."""
    suggestions = _open_suggestions(draft, command.suggestion_ids)
    draft.judge([Verdict(one.id, "rejected") for one in suggestions], op_id=command.op_id)
    draft.remember(command.op_id, "reject", [one.id for one in suggestions])


def _open_suggestions(draft: Draft, ids: Iterable[str]) -> list[Suggestion]:
    suggestions: list[Suggestion] = []
    for suggestion_id in dict.fromkeys(ids):
        suggestion = draft.state.suggestions.get(suggestion_id)
        if suggestion is None:
            raise NotFound(f"there is no suggestion {suggestion_id} in this document")
        if suggestion.state != "open":
            raise AlreadyDecided(f"suggestion {suggestion_id} is {suggestion.state}, not open")
        suggestions.append(suggestion)
    if not suggestions:
        raise InvalidInput("name at least one suggestion")
    return suggestions


def _check_one_per_region(suggestions: Iterable[Suggestion]) -> None:
    seen: set[str] = set()
    for suggestion in suggestions:
        if suggestion.span_id in seen:
            raise InvalidInput(
                f"two suggestions for region {suggestion.span_id}; accept one of them"
            )
        seen.add(suggestion.span_id)


def _count(number: int) -> str:
    return "1 suggestion" if number == 1 else f"{number} suggestions"
