"""Carries a decision's store actions out, all within the caller's one transaction."""

from __future__ import annotations

from typing import assert_never

from sqlalchemy import Connection

from editor.document.state import DocumentState, KnownOp
from editor.hub.effects import (
    AddRevision,
    AddRun,
    AddSuggestions,
    AppendEdits,
    DecideSuggestions,
    Decision,
    RenameDocument,
    SaveSpans,
    StoreAction,
    UpdateRun,
)
from editor.store import documents, log, runs

__all__ = ["has_news", "store_decision"]


def has_news(before: DocumentState, decision: Decision) -> bool:
    """Whether the decision must be stored before it is true."""
    return bool(decision.store) or bool(_new_ops(before, decision))


def store_decision(
    db: Connection, before: DocumentState, decision: Decision, *, now_s: float
) -> None:
    """Store everything that leads from `before` to the decision's state."""
    for action in decision.store:
        _store(db, before.id, action, now_s=now_s)
    documents.remember_ops(db, before.id, _new_ops(before, decision), now_s=now_s)


def _new_ops(before: DocumentState, decision: Decision) -> dict[str, KnownOp]:
    after = decision.state.known_ops
    if after is before.known_ops:
        return {}
    return {op_id: op for op_id, op in after.items() if op_id not in before.known_ops}


def _store(db: Connection, document_id: str, action: StoreAction, *, now_s: float) -> None:
    match action:
        case AppendEdits():
            head = documents.Head(action.text, action.hash)
            documents.move_head(db, document_id, action.edits, head=head, now_s=now_s)
        case SaveSpans():
            documents.replace_spans(db, document_id, action.spans)
        case AddRevision():
            log.append_revision(db, document_id, action.revision)
        case AddRun():
            runs.add_run(db, document_id, action.run, job=action.job, now_s=now_s)
        case UpdateRun():
            outcome = (action.stop_reason, action.message)
            runs.update_run(db, action.run, outcome=outcome, result=action.result, now_s=now_s)
        case AddSuggestions():
            runs.add_suggestions(db, document_id, action.suggestions, now_s=now_s)
        case DecideSuggestions():
            for verdict in action.verdicts:
                runs.decide_suggestion(db, verdict.suggestion_id, verdict.state, now_s=now_s)
        case RenameDocument():
            documents.rename_document(db, document_id, action.title, now_s=now_s)
        case _:
            assert_never(action)
