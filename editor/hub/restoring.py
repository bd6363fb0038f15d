"""Restoring a revision: its text, its locks and its regions, as one new edit and revision.

Owns what "restore" means for spans (store rule S9): those of the revision come back. A lock that
stands now keeps its words all the same, and stays one where the revision has none: only whoever
set a lock takes it away. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from editor.document.changes import ChangeSet
from editor.document.differences import find_changes, find_changes_around
from editor.document.provenance import EditOrigin
from editor.document.spans import Span, check_locks, check_spans, locked_ranges, map_spans
from editor.document.state import SERVER_CLIENT_ID, DocumentState
from editor.document.text import check_text
from editor.errors import LockViolation, NotFound
from editor.hub.commands import RestoreRevision
from editor.hub.draft import CommitBy, Draft, Edited

__all__ = ["restore_revision"]


def restore_revision(draft: Draft, command: RestoreRevision) -> None:
    """Make the document what it was at revision `n`.

    Raises: NotFound; LockViolation when a lock's words are not there or would be joined onto.
    """
    state = draft.state
    if not 0 <= command.n <= state.head.n:
        raise NotFound(f"there is no revision {command.n}; there are 0 to {state.head.n}")
    check_text(command.text, limit=draft.limit)
    changes = _changes_to(state, command.text)
    draft.seal_typing()
    edited = _edited(draft, changes, command)
    origin = EditOrigin("restore", restored=command.version)
    draft.commit(edited, CommitBy(command.op_id, SERVER_CLIENT_ID, "restore", origin))
    draft.remember(command.op_id, "restore", [str(draft.state.head.n + 1)])
    draft.write_revision("restore", f"Restored revision {command.n}")


def _edited(draft: Draft, changes: ChangeSet, command: RestoreRevision) -> Edited:
    before = draft.start_edits()
    moved, removed = map_spans(before.spans, changes)
    edited = before.then(changes, text=command.text, spans=moved, removed=removed)
    if command.spans is None:
        return edited
    spans = _with_locks(command.spans, moved, draft.new_id)
    check_spans(command.text, spans, known=spans)
    known = {span.id: span for span in spans}
    gone = {span.id for span in moved if span.kind != "locked" and known.get(span.id) != span}
    return replace(
        edited,
        spans=spans,
        touched=edited.touched | gone,
        is_span_changed=edited.is_span_changed or spans != edited.spans,
    )


def _with_locks(
    earlier: Sequence[Span], moved: Sequence[Span], new_id: Callable[[], str]
) -> tuple[Span, ...]:
    """Return a revision's spans and the locks that stand now and that it does not hold.

    A region of the revision that such a lock would cover or cut is left out.
    """
    held = locked_ranges(earlier)
    names = {span.id for span in earlier}
    locks = [
        replace(span, id=new_id()) if span.id in names else span
        for span in moved
        if span.kind == "locked"
        and not any(start <= span.start and span.end <= end for start, end in held)
    ]
    kept = [span for span in earlier if not any(_conflicts(lock, span) for lock in locks)]
    return tuple(sorted((*kept, *locks), key=lambda span: (span.start, span.end, span.id)))


def _conflicts(lock: Span, span: Span) -> bool:
    if span.kind == "locked" or lock.end <= span.start or lock.start >= span.end:
        return False
    is_inside = span.start <= lock.start and lock.end <= span.end
    return not is_inside or (lock.start, lock.end) == (span.start, span.end)


def _changes_to(state: DocumentState, text: str) -> ChangeSet:
    """Return a small edit that leads to a text and leaves all locks. Raises: LockViolation."""
    changes = find_changes(state.text, text)
    try:
        check_locks(state.text, state.spans, changes)
    except LockViolation:
        # The shortest difference may run through a lock whose text is there all the same.
        around = find_changes_around(state.text, text, locked_ranges(state.spans))
        if around is None:
            raise
        changes = around
        check_locks(state.text, state.spans, changes)
    return changes
