"""Accepting and rejecting suggestions.

Owns what "accept" means: one edit and one revision for all suggestions accepted together,
against the *current* text. What cannot be placed is listed with its reason, never forced.
"""

from __future__ import annotations

from collections.abc import Iterable

from editor.document.suggestions import Suggestion, choose_text, is_placeable, place
from editor.document.text import check_text
from editor.errors import AlreadyDecided, InvalidInput, LockViolation, NotFound, TooLarge
from editor.hub.commands import AcceptSuggestions, RejectSuggestions
from editor.hub.draft import Draft
from editor.hub.effects import Verdict

__all__ = ["accept_suggestions", "reject_suggestions"]

MOVED_ON = "its region no longer holds the text it was made for"


def accept_suggestions(draft: Draft, command: AcceptSuggestions) -> None:
    """Put the chosen fillings into the text.

    A suggestion whose region has changed becomes void, one that would break a lock stays open;
    both are listed as unplaced. Raises: NotFound, AlreadyDecided, InvalidInput, InvalidText,
    TooLarge; LockViolation when nothing could be placed for that reason.
    """
    if command.op_id in draft.state.known_ops:
        return
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
    edited = draft.start_edits().then(
        placement.changes,
        text=placement.changes.apply(draft.state.text),
        spans=placement.spans,
        removed=placement.removed,
    )
    # Judged first: what is accepted is no longer open when its region counts as edited.
    draft.judge([Verdict(one.id, "accepted") for one in accepted], op_id=command.op_id)
    draft.commit(edited, op_id=command.op_id, client_id=command.client_id, cause="accept")
    draft.write_revision("model", f"Accepted {_count(len(accepted))}")


def reject_suggestions(draft: Draft, command: RejectSuggestions) -> None:
    """Turn suggestions down; the text stays. Raises: NotFound, AlreadyDecided."""
    if command.op_id in draft.state.known_ops:
        return
    suggestions = _open_suggestions(draft, command.suggestion_ids)
    draft.judge([Verdict(one.id, "rejected") for one in suggestions], op_id=command.op_id)
    draft.remember(command.op_id)


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
