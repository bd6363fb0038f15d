"""REST: refining, runs and suggestions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Path
from sqlalchemy import Connection

from editor.document.spans import Span
from editor.errors import Conflict, EditorError
from editor.hub import commands
from editor.hub.effects import AddRun, Decision, RunAgain
from editor.hub.hub import new_id
from editor.hub.room import Room
from editor.hub.wire import refine_command
from editor.services.refine import plan_regions
from editor.store import runs as store
from editor.web.document_routes import REFUSED, DocumentId, Found
from editor.web.schemas import (
    AcceptIn,
    RefineIn,
    RefineOut,
    RegionRange,
    RejectIn,
    RunOut,
    VerdictOut,
)
from editor.web.services import Services

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["refining"], responses=REFUSED)
RunId = Annotated[str, Path(max_length=64, description="Id of the run.")]
SuggestionId = Annotated[str, Path(max_length=64, description="Id of the suggestion.")]


@router.post("/documents/{document_id}/refine", status_code=202, summary="Refine regions")
async def refine(
    document_id: DocumentId, services: Found, body: RefineIn | None = None
) -> RefineOut:
    """Queue a run over the regions; it ends in suggestions, and changes no text by itself."""
    asked = body or RefineIn()
    async with services.hub.room(document_id) as room:
        version = room.state.version if asked.base_version is None else asked.base_version
        plan = plan_regions(_asked(asked), room.state.spans, new_id=new_id)
        regions = "all" if plan.span_ids is None else list(plan.span_ids)
        command = refine_command(asked.op_id or new_id(), version, regions, asked.settings)
        async with _regions_made(room, plan.new_spans, version):
            decision = await room.execute(command)
    return await _refine_out(services, decision)


@router.get("/runs/{run_id}", summary="One run")
async def show_run(run_id: RunId, services: Found) -> RunOut:
    """Return the run's state, and once it has ended its suggestions, run card and telemetry."""
    return await services.database.read(lambda db: _read_run(db, run_id))


@router.post("/runs/{run_id}/cancel", summary="Stop a run")
async def cancel_run(run_id: RunId, services: Found) -> RunOut:
    """Ask the run to stop after the pass it is in; nothing of it is offered."""
    row = await services.database.read(lambda db: store.find_run(db, run_id))
    if row.state in ("queued", "running"):
        async with services.hub.room(row.document_id) as room:
            await room.execute(commands.CancelRun(run_id))
    return await services.database.read(lambda db: _read_run(db, run_id))


@router.post("/suggestions/{suggestion_id}/accept", summary="Accept a suggestion")
async def accept_suggestion(
    suggestion_id: SuggestionId, services: Found, body: AcceptIn | None = None
) -> VerdictOut:
    """Put an alternative into the current text as one edit and one revision."""
    asked = body or AcceptIn()
    texts = {} if asked.text is None else {suggestion_id: asked.text}
    command = commands.AcceptSuggestions(
        asked.op_id or new_id(), (suggestion_id,), {suggestion_id: asked.alternative}, texts
    )
    return await _decide(services, suggestion_id, command)


@router.post("/suggestions/{suggestion_id}/reject", summary="Reject a suggestion")
async def reject_suggestion(
    suggestion_id: SuggestionId, services: Found, body: RejectIn | None = None
) -> VerdictOut:
    """Leave the text as it is and close the suggestion."""
    op_id = body.op_id if body else None
    command = commands.RejectSuggestions(op_id or new_id(), (suggestion_id,))
    return await _decide(services, suggestion_id, command)


def _asked(asked: RefineIn) -> list[str | tuple[int, int]] | None:
    if asked.regions == "all":
        return None
    return [(one.start, one.end) if isinstance(one, RegionRange) else one for one in asked.regions]


@asynccontextmanager
async def _regions_made(
    room: Room, new_spans: Sequence[Span], base_version: int
) -> AsyncIterator[None]:
    """Make regions for the run inside the block; take them back when the run is refused."""
    if not new_spans:
        yield
        return
    add = tuple(
        commands.NewSpan(span.kind, span.start, span.end, span.settings, span.id)
        for span in new_spans
    )
    await room.execute(commands.ChangeSpans(new_id(), base_version, add=add))
    try:
        yield
    except EditorError:
        remove = tuple(span.id for span in new_spans)
        await room.execute(commands.ChangeSpans(new_id(), room.state.version, remove=remove))
        raise


async def _refine_out(services: Services, decision: Decision) -> RefineOut:
    """Return the run that was queued, or the one that this operation asked for before."""
    for action in decision.store:
        if isinstance(action, AddRun):
            run = action.run
            return RefineOut(run_id=run.id, state=run.state, span_ids=list(run.span_ids))
    again = next(send.notice for send in decision.send if isinstance(send.notice, RunAgain))
    row = await services.database.read(lambda db: store.find_run(db, again.run_id))
    return RefineOut.model_validate(
        {"run_id": row.id, "state": row.state, "span_ids": list(row.span_ids)}
    )


async def _decide(
    services: Services,
    suggestion_id: str,
    command: commands.AcceptSuggestions | commands.RejectSuggestions,
) -> VerdictOut:
    document_id, _ = await services.database.read(
        lambda db: store.find_suggestion(db, suggestion_id)
    )
    async with services.hub.room(document_id) as room:
        decision = await room.execute(command)
    if decision.unplaced:
        raise Conflict(f"the suggestion cannot be placed: {decision.unplaced[0].reason}")
    _, suggestion = await services.database.read(
        lambda db: store.find_suggestion(db, suggestion_id)
    )
    state = decision.state
    return VerdictOut(
        id=suggestion_id,
        state=suggestion.state,
        document_id=document_id,
        version=state.version,
        hash=state.hash,
    )


def _read_run(db: Connection, run_id: str) -> RunOut:
    row = store.find_run(db, run_id)
    return RunOut.of(
        row, store.suggestions_of_run(db, run_id), list(store.pass_records(db, run_id))
    )
