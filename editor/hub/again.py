"""Answers an operation that was applied before, as it was answered the first time.

Owns what a repeated op id gets (store rule S5): nothing is done twice, and nobody waits for an
answer that was lost with a connection. Pure; what only the store knows, such as how a run of
before a restart ended, is named in the notice and read by the rim.
"""

from __future__ import annotations

from editor.document.state import KnownOp, OpKind
from editor.document.suggestions import SuggestionState
from editor.errors import Conflict
from editor.hub import commands
from editor.hub.commands import Command
from editor.hub.draft import Draft
from editor.hub.effects import (
    MissingEdits,
    RevisionAgain,
    RunAgain,
    SpansSaved,
    SuggestionVerdict,
    Verdict,
)

__all__ = ["answer_again"]

_KINDS: dict[type[object], OpKind] = {
    commands.ApplyEdit: "edit",
    commands.ChangeSpans: "spans",
    commands.ReplaceSpans: "spans",
    commands.RequestRefine: "refine",
    commands.AcceptSuggestions: "accept",
    commands.RejectSuggestions: "reject",
    commands.RestoreRevision: "restore",
    commands.NameRevision: "name",
}


def answer_again(draft: Draft, command: Command) -> bool:
    """Answer a command whose op id is known, and say whether it was.

    Raises: Conflict when the op id belongs to an operation of another kind.
    """
    kind = _KINDS.get(type(command))
    op_id: str | None = getattr(command, "op_id", None)
    known = draft.state.known_ops.get(op_id) if op_id is not None else None
    if kind is None or op_id is None or known is None:
        return False
    if known.kind not in (None, kind):
        raise Conflict(
            f"operation {op_id} was a {known.kind}, this is a {kind}; each needs an id of its own"
        )
    since = command.base_version if isinstance(command, commands.ApplyEdit) else None
    _answer(draft, op_id, kind, known, since=since)
    return True


def _answer(draft: Draft, op_id: str, kind: OpKind, known: KnownOp, *, since: int | None) -> None:
    state = draft.state
    if kind == "spans":
        draft.send_back(SpansSaved(state.version, state.spans, op_id))
    elif kind == "refine":
        for run_id in known.subjects:
            draft.send_back(RunAgain(run_id, op_id))
    elif kind == "name":
        for n in known.subjects:
            draft.send_back(RevisionAgain(int(n), op_id))
    elif kind in ("accept", "reject"):
        for suggestion_id in known.subjects:
            found = state.suggestions.get(suggestion_id)
            verdict: SuggestionState = "accepted" if kind == "accept" else "rejected"
            draft.send_back(
                SuggestionVerdict(Verdict(suggestion_id, found.state if found else verdict), op_id)
            )
    if kind in ("edit", "accept", "restore"):
        # A browser that came back holds the edits already: then none are missing.
        since_version = state.version if since is None else since
        cause = "edit" if kind == "edit" else kind
        draft.send_back(MissingEdits(since_version, op_id, cause))
