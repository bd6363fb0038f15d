"""The authority of one document, as a pure function: state and command in, decision out.

Owns the order of edits, the lock rule, spans, and when a revision is written; runs and reviews
have their own modules. Knows no socket, database, clock or engine: time and ids are passed in.
A refused command raises and changes nothing, since a state is never altered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import assert_never

from editor.document.creation import check_name, check_title
from editor.document.provenance import EditOrigin
from editor.document.spans import Span, check_spans, locked_ranges
from editor.document.state import DocumentState
from editor.errors import InvalidInput, NotFound, StaleVersion
from editor.hub import commands, effects
from editor.hub.again import answer_again
from editor.hub.commands import ApplyEdit, ChangeSpans, Command, NewSpan, ReplaceSpans
from editor.hub.draft import CommitBy, Draft
from editor.hub.effects import Decision, SaveSpans, SpansSaved, TitleChanged
from editor.hub.jobs import check_settings
from editor.hub.restoring import restore_revision
from editor.hub.review import accept_suggestions, reject_suggestions
from editor.hub.runs import (
    cancel_run,
    fail_run,
    finish_run,
    follow_run,
    request_refine,
    stop_run,
)

__all__ = ["QUIET_S", "TYPING_S", "decide"]

# The history groups typing by five minutes (BEHAVIOURS S); every edit is in the log at once, and
# a name, an accept, an import or a restore is a revision of its own at any time.
QUIET_S = 300.0  # typing that paused for so long is a revision
TYPING_S = 300.0  # and so is typing that went on for so long


def decide(
    state: DocumentState, command: Command, *, now_s: float, new_id: Callable[[], str], limit: int
) -> Decision:
    """Return what a command leads to.

    `now_s` is seconds since 1970, `limit` the greatest length of a text in code points.
    Raises: EditorError when the command is refused; then nothing has changed. A StaleVersion
    carries both versions, so that the sender can be given the edits it has not seen.
    """
    draft = Draft(state, now_s, new_id, limit)
    if not answer_again(draft, command):
        _carry_out(draft, command)
    return draft.decision()


# One flat case for each command, so the count of branches says nothing.
def _carry_out(draft: Draft, command: Command) -> None:  # noqa: C901
    match command:
        case commands.ApplyEdit():
            _apply_edit(draft, command)
        case commands.ChangeSpans():
            _change_spans(draft, command)
        case commands.ReplaceSpans():
            _replace_spans(draft, command)
        case commands.RestoreRevision():
            restore_revision(draft, command)
        case commands.NameRevision():
            _name_revision(draft, command)
        case commands.SealTyping():
            draft.seal_typing()
        case commands.RenameDocument():
            _rename(draft, command)
        case commands.AcceptSuggestions():
            accept_suggestions(draft, command)
        case commands.RejectSuggestions():
            reject_suggestions(draft, command)
        case commands.RequestRefine():
            request_refine(draft, command)
        case commands.CancelRun():
            cancel_run(draft, command)
        case commands.RunStopped():
            stop_run(draft, command)
        case commands.RunProgressed():
            follow_run(draft, command)
        case commands.RunSucceeded():
            finish_run(draft, command)
        case commands.RunFailed():
            fail_run(draft, command)
        case _:
            assert_never(command)


def _apply_edit(draft: Draft, command: ApplyEdit) -> None:
    state = draft.state
    _check_version(state, command.base_version)
    if not command.changes:
        raise InvalidInput("an edit has at least one update")
    edited = draft.start_edits().through(command.changes, limit=draft.limit)
    pending = state.pending
    if pending is not None and (
        draft.now_s - pending.last_s >= QUIET_S or draft.now_s - pending.first_s >= TYPING_S
    ):
        draft.seal_typing()
    origin = EditOrigin(command.origin)
    draft.commit(edited, CommitBy(command.op_id, command.client_id, "edit", origin))
    draft.remember(command.op_id, "edit")
    draft.label_return()


def _check_version(state: DocumentState, base_version: int) -> None:
    if base_version != state.version:
        raise StaleVersion(
            f"made for version {base_version}, but the document is at {state.version}; "
            "take in the edits between and repeat",
            base_version=base_version,
            head_version=state.version,
        )


def _change_spans(draft: Draft, command: ChangeSpans) -> None:
    state = draft.state
    if command.add:
        _check_version(state, command.base_version)
    known = {span.id for span in state.spans}
    if missing := [span_id for span_id in command.remove if span_id not in known]:
        raise NotFound(f"there is no span {missing[0]} in this document")
    kept = [span for span in state.spans if span.id not in command.remove]
    _adopt_spans(draft, [*kept, *_named(draft, command.add)], command.op_id)


def _replace_spans(draft: Draft, command: ReplaceSpans) -> None:
    _check_version(draft.state, command.base_version)
    _adopt_spans(draft, _named(draft, command.spans), command.op_id)


def _named(draft: Draft, new: Iterable[NewSpan]) -> list[Span]:
    return [
        Span(one.id or draft.new_id(), one.kind, one.start, one.end, one.settings) for one in new
    ]


def _adopt_spans(draft: Draft, spans: Iterable[Span], op_id: str) -> None:
    before = draft.state.spans
    after = tuple(sorted(spans, key=lambda span: (span.start, span.end, span.id)))
    check_spans(draft.state.text, after, known=before)
    known = {span.id: span for span in before}
    for span in after:
        if known.get(span.id) != span:
            check_settings(span)
    num_unlocked = _count_unlocked(before, after)
    if num_unlocked:
        draft.seal_typing()
    draft.state = replace(draft.state, spans=after)
    draft.store.append(SaveSpans(draft.state.version, after))
    draft.tell(SpansSaved(draft.state.version, after, op_id))
    draft.remember(op_id, "spans")
    old, new = _regions(before), _regions(after)
    moved = frozenset(key for key, region in old.items() if new.get(key) != region)
    draft.void_suggestions(moved, reason="its region was changed")
    worked_on = {key for run in draft.state.active_runs for key in run.span_ids}
    relocked = frozenset(
        key
        for key in worked_on & set(new)
        if _locks_in(new[key], before) != _locks_in(new[key], after)
    )
    draft.drop_regions(moved | relocked, reason="its region or a lock in it was changed")
    if num_unlocked:  # store rule S7: whoever takes a lock away leaves a trace
        places = "1 place" if num_unlocked == 1 else f"{num_unlocked} places"
        draft.write_revision("person", f"Unlocked {places}")


def _count_unlocked(before: Iterable[Span], after: Iterable[Span]) -> int:
    """Return how many locked ranges are no longer locked as a whole."""
    held: list[tuple[int, int]] = []
    for start, end in locked_ranges(after):
        if held and start == held[-1][1]:  # locks that touch hold as one
            start = held.pop()[0]
        held.append((start, end))
    return sum(
        not any(low <= start and end <= high for low, high in held)
        for start, end in locked_ranges(before)
    )


def _regions(spans: Iterable[Span]) -> dict[str, tuple[int, int]]:
    return {span.id: (span.start, span.end) for span in spans if span.kind != "locked"}


def _locks_in(region: tuple[int, int], spans: Iterable[Span]) -> set[tuple[int, int]]:
    start, end = region
    return {
        (span.start, span.end)
        for span in spans
        if span.kind == "locked" and start <= span.start and span.end <= end
    }


def _name_revision(draft: Draft, command: commands.NameRevision) -> None:
    name = check_name(command.name)
    # Noted first, so that the revision is the decision's last word.
    draft.remember(command.op_id, "name", [str(draft.state.head.n + 1)])
    draft.write_revision("person", name, name=name, op_id=command.op_id)


def _rename(draft: Draft, command: commands.RenameDocument) -> None:
    title = check_title(command.title)
    draft.state = replace(draft.state, title=title)
    draft.store.append(effects.RenameDocument(title))
    draft.tell(TitleChanged(title))
