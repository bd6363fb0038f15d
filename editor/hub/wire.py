"""Which command a browser's message is, and which frame a notice becomes.

Owns the last step between the protocol and the session, both ways. Pure: sequence numbers and
texts are passed in. A message whose offsets were counted in another version is refused here,
before they are read, since they mean nothing in this text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never, cast

from editor.document.state import DocumentState, Edit, EditCause, RunState
from editor.document.text import normalise_line_ends
from editor.errors import StaleVersion
from editor.hub import commands, effects
from editor.hub.constraints import read_constraints
from editor.hub.jobs import sampler_config
from editor.protocol import messages
from editor.protocol.offsets import OffsetMap
from editor.protocol.translate import (
    region_to_wire,
    revision_to_wire,
    run_to_wire,
    spans_to_wire,
    stable_prefix_to_utf16,
    suggestion_to_wire,
    updates_from_wire,
    updates_to_wire,
)
from editor.store.runs import RunRow

__all__ = [
    "Carried",
    "command_for",
    "edited_frame",
    "frame_for",
    "refine_command",
    "run_frames",
    "snapshot_fields",
]

Carried = (
    messages.Edit
    | messages.Spans
    | messages.Refine
    | messages.Cancel
    | messages.Accept
    | messages.Reject
    | messages.NameVersion
)


def command_for(message: Carried, state: DocumentState, *, client_id: str) -> commands.Command:
    """Return the command of a message, offsets in code points of `state.text`.

    Hello, ping and restore are the rim's own: restore needs a revision's text from the store.
    Raises: StaleVersion, InvalidChange, InvalidOffset, InvalidInput.
    """
    match message:
        case messages.Edit():
            return _edit(message, state, client_id)
        case messages.Spans():
            return _spans(message, state)
        case messages.Refine():
            return refine_command(message.op_id, message.version, message.regions, message.settings)
        case messages.Cancel():
            return commands.CancelRun(message.run_id)
        case messages.Accept():
            texts = {key: normalise_line_ends(text) for key, text in message.texts.items()}
            return commands.AcceptSuggestions(
                message.op_id,
                tuple(message.suggestion_ids),
                message.alternatives,
                texts,
                client_id,
            )
        case messages.Reject():
            return commands.RejectSuggestions(message.op_id, tuple(message.suggestion_ids))
        case messages.NameVersion():
            return commands.NameRevision(message.op_id, message.name)
        case _:
            assert_never(message)


def refine_command(
    op_id: str, base_version: int, regions: list[str] | str, settings: messages.RefineSettings
) -> commands.RequestRefine:
    """Return the command of a refine request; REST and websocket share it.

    `regions` are span ids or "all". Raises: InvalidInput for unusable constraints.
    """
    return commands.RequestRefine(
        op_id=op_id,
        base_version=base_version,
        span_ids=None if isinstance(regions, str) else tuple(regions),
        config=sampler_config(settings),
        constraints=read_constraints(settings.constraints),
    )


def _edit(message: messages.Edit, state: DocumentState, client_id: str) -> commands.ApplyEdit:
    if message.op_id in state.known_ops:  # applied before: what it says fits an older text
        return commands.ApplyEdit(message.op_id, message.version, client_id, ())
    _check_version(message.version, state)
    updates = updates_from_wire(message.updates, state.text)
    return commands.ApplyEdit(message.op_id, message.version, client_id, updates, message.origin)


def _spans(message: messages.Spans, state: DocumentState) -> commands.ChangeSpans:
    if message.op_id in state.known_ops:
        return commands.ChangeSpans(message.op_id, message.version)
    if message.add:
        _check_version(message.version, state)
    offsets = OffsetMap(state.text)
    add = tuple(
        commands.NewSpan(
            kind=one.kind,
            start=offsets.to_code_points(one.start),
            end=offsets.to_code_points(one.end),
            settings=one.settings,
            id=one.id,
        )
        for one in message.add
    )
    return commands.ChangeSpans(message.op_id, message.version, add, tuple(message.remove))


def _check_version(version: int, state: DocumentState) -> None:
    if version != state.version:
        raise StaleVersion(
            f"made for version {version}, but the document is at {state.version}; "
            "take in the edits between and repeat",
            base_version=version,
            head_version=state.version,
        )


# One flat case for each notice, so the count of branches says nothing.
def frame_for(  # noqa: C901
    notice: effects.Notice, *, seq: int, before: str, after: str
) -> messages.ServerMessage | None:
    """Return the frame of a notice; `before` and `after` are the texts around its decision.

    None for what the rim answers from the store: `MissingEdits`, `RunAgain`, `RevisionAgain`.
    """
    match notice:
        case effects.MissingEdits() | effects.RunAgain() | effects.RevisionAgain():
            return None
        case effects.EditsCommitted():
            frame = edited_frame(notice.edits, before, seq=seq, hash_after=notice.hash)
            return frame.model_copy(update={"op_id": notice.op_id, "cause": notice.cause})
        case effects.SpansSaved():
            spans = spans_to_wire(notice.spans, after)
            return messages.SpansChanged(
                seq=seq, version=notice.version, spans=spans, op_id=notice.op_id
            )
        case effects.RevisionWritten():
            return messages.RevisionAdded(
                seq=seq, revision=revision_to_wire(notice.revision), op_id=notice.op_id
            )
        case effects.RunQueued():
            return messages.RunAccepted(seq=seq, run=run_to_wire(notice.run), op_id=notice.op_id)
        case effects.PassShown():
            return _pass_frame(notice)
        case effects.StableGrown():
            return messages.StablePrefix(
                seq=seq, run_id=notice.run_id, span_id=notice.span_id, text=notice.text
            )
        case effects.RegionYielded():
            return messages.RegionDropped(
                seq=seq, run_id=notice.run_id, span_id=notice.span_id, reason=notice.reason
            )
        case effects.SuggestionStored():
            return messages.SuggestionAdded(
                seq=seq, suggestion=suggestion_to_wire(notice.suggestion)
            )
        case effects.SuggestionVerdict():
            return messages.SuggestionDecided(
                seq=seq,
                suggestion_id=notice.verdict.suggestion_id,
                state=notice.verdict.state,
                op_id=notice.op_id,
                reason=notice.verdict.reason,
            )
        case effects.RunOver():
            return _run_ended(notice, seq)
        case effects.TitleChanged():
            return messages.Renamed(seq=seq, title=notice.title)
        case _:
            assert_never(notice)


def edited_frame(edits: Iterable[Edit], text: str, *, seq: int, hash_after: str) -> messages.Edited:
    """Return the frame that takes a browser from `text` through `edits`, at least one."""
    edits = tuple(edits)
    cause: EditCause = edits[-1].cause
    return messages.Edited(
        seq=seq,
        version=edits[-1].version,
        updates=updates_to_wire(edits, text),
        hash=hash_after,
        op_id=edits[-1].op_id,
        cause=cause,
    )


def _pass_frame(notice: effects.PassShown) -> messages.PassFrame:
    event = notice.event
    return messages.PassFrame.model_validate(
        {
            "run_id": event.job_id,
            "pass": event.pass_index,
            "max_passes": event.max_passes,
            "regions": [region_to_wire(region) for region in event.regions],
            "stable_prefix": stable_prefix_to_utf16(event.regions, event.stable_prefix),
            "changed": event.changed,
            "committed": event.committed,
            "remasked": event.remasked,
            "mean_confidence": event.mean_confidence,
            "pass_ms": event.pass_ms,
        }
    )


def _run_ended(notice: effects.RunOver, seq: int) -> messages.RunEnded:
    run = notice.run
    assert run.state != "queued", "a run that is over has ended"
    assert run.state != "running", "a run that is over has ended"
    return messages.RunEnded(
        seq=seq,
        run_id=run.id,
        state=run.state,
        stop_reason=notice.stop_reason,
        passes=run.passes,
        tokens_per_pass=notice.tokens_per_pass,
        total_ms=notice.total_ms,
        message=notice.message,
    )


def run_frames(row: RunRow, *, op_id: str, seq: int) -> list[messages.ServerMessage]:
    """Return what a stored run is announced with again: that it was accepted, and how it ended."""
    state = cast(RunState, row.state)
    run = messages.RunWire(
        run_id=row.id,
        state=state,
        span_ids=list(row.span_ids),
        passes=row.passes,
        max_passes=row.max_passes,
    )
    frames: list[messages.ServerMessage] = [messages.RunAccepted(seq=seq, run=run, op_id=op_id)]
    if state == "finished" or state == "cancelled" or state == "failed":
        total_ms = ((row.ended_s or row.created_s) - row.created_s) * 1000
        frames.append(
            messages.RunEnded(
                seq=seq,
                run_id=row.id,
                state=state,
                stop_reason=row.stop_reason or state,
                passes=row.passes,
                tokens_per_pass=row.tokens_per_pass,
                total_ms=(row.timings or {}).get("complete_ms") or total_ms,
                message=row.message,
            )
        )
    return frames


def snapshot_fields(state: DocumentState) -> dict[str, object]:
    """Return what a `Welcome` says of the document itself, all offsets in UTF-16.

    The rim adds epoch, seq, resumed, revisions and the worker's state.
    """
    return {
        "document_id": state.id,
        "title": state.title,
        "version": state.version,
        "hash": state.hash,
        "text": state.text,
        "spans": spans_to_wire(state.spans, state.text),
        "suggestions": [suggestion_to_wire(one) for one in state.open_suggestions],
        "runs": [run_to_wire(run) for run in state.active_runs],
    }
