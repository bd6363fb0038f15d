"""What happens to a run: asked for, started, shown pass by pass, ended, and offered.

Owns the rules for who may be refined and what an engine's report may do. Pure. Invariants: the
document's text never changes here; a stable prefix only grows; a run that is stopped offers what
its draft held, one whose region was edited nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import assert_never

from editor.document.facts import compare_facts, read_protected
from editor.document.spans import Span
from editor.document.state import DocumentState, Run, RunState
from editor.document.suggestions import Alternative, Suggestion
from editor.document.text import check_text, normalise_line_ends
from editor.errors import EditorError, NotFound, RegionBusy, SpanConflict, StaleVersion
from editor.hub.commands import (
    CancelRun,
    RequestRefine,
    RunFailed,
    RunProgressed,
    RunStopped,
    RunSucceeded,
)
from editor.hub.draft import Draft
from editor.hub.effects import (
    AddRun,
    AddSuggestions,
    CancelJob,
    PassShown,
    RunOver,
    RunQueued,
    StableGrown,
    SubmitJob,
    SuggestionStored,
    UpdateRun,
)
from editor.hub.jobs import plan_job
from engine import contract
from engine.contract import JobFinished, JobStarted, PassCompleted, StopReason

__all__ = [
    "cancel_run",
    "fail_run",
    "finish_run",
    "follow_run",
    "request_refine",
    "stop_run",
]


def request_refine(draft: Draft, command: RequestRefine) -> None:
    """Queue a run. Raises: NotFound, SpanConflict, RegionBusy, StaleVersion, and `plan_job`'s."""
    state = draft.state
    regions = _choose_regions(state, command.span_ids)
    _check_fresh(state, regions, command.base_version)
    for region in regions:
        if (busy := state.run_on(region.id)) is not None:
            raise RegionBusy(
                f"run {busy.id} already works on region {region.id}; wait for it or cancel it"
            )
    run_id = draft.new_id()
    job = plan_job(
        run_id,
        state.text,
        state.spans,
        regions=regions,
        asked=(command.config, command.constraints),
    )
    draft.seal_typing()
    run = Run(
        id=run_id,
        state="queued",
        span_ids=tuple(spec.region_id for spec in job.regions),
        base_version=state.version,
        originals={region.id: state.text[region.start : region.end] for region in regions},
        asked_s=draft.now_s,
    )
    draft.keep_run(run)
    draft.remember(command.op_id, "refine", [run_id])
    draft.store.append(AddRun(run, job))
    draft.tell(RunQueued(run, command.op_id))
    draft.engine.append(SubmitJob(job))


def _choose_regions(state: DocumentState, span_ids: Iterable[str] | None) -> tuple[Span, ...]:
    if span_ids is None:
        return tuple(span for span in state.spans if span.kind != "locked")
    by_id = {span.id: span for span in state.spans}
    chosen: dict[str, Span] = {}
    for span_id in span_ids:
        span = by_id.get(span_id)
        if span is None:
            raise NotFound(f"there is no region {span_id} in this document")
        if span.kind == "locked":
            raise SpanConflict(f"span {span_id} is locked; only a region or field can be refined")
        chosen[span_id] = span
    return tuple(chosen.values())


def _check_fresh(state: DocumentState, regions: Collection[Span], base_version: int) -> None:
    changed = max(
        (state.region_versions.get(region.id, state.loaded_version) for region in regions),
        default=0,
    )
    if base_version > state.version or changed > base_version:
        raise StaleVersion(
            f"asked for version {base_version}, but a region changed at version {changed} and "
            f"the document is at {state.version}; look again and repeat",
            base_version=base_version,
            head_version=state.version,
        )


def cancel_run(draft: Draft, command: CancelRun) -> None:
    """Ask the engine to stop; the run ends with the engine's last word, after one pass at most.

    Cancelling a run that has ended or is stopping does nothing. Raises: NotFound.
    """
    run = draft.state.runs.get(command.run_id)
    if run is None:
        raise NotFound(f"there is no run {command.run_id} in this document")
    if run.is_active and not run.is_stopping:
        draft.keep_run(replace(run, is_stopping=True))
        draft.engine.append(CancelJob(run.id))


def stop_run(draft: Draft, command: RunStopped) -> None:
    """End a run at the rim's word."""
    run = draft.state.runs.get(command.run_id)
    if run is not None and run.is_active:
        draft.end_run(replace(run, state="cancelled"), message=command.message)
        draft.engine.append(CancelJob(run.id))


def follow_run(draft: Draft, command: RunProgressed) -> None:
    """Note that a run started or show its newest pass; what comes after its end is dropped."""
    event = command.event
    run = draft.state.runs.get(event.job_id)
    if run is None or not run.is_active:
        return
    match event:
        case JobStarted():
            run = replace(run, state="running", route=event.route, max_passes=event.max_passes)
            draft.keep_run(run)
            draft.store.append(UpdateRun(run))
        case PassCompleted():
            if not run.is_stopping:
                _show_pass(draft, run, event)
        case _:
            assert_never(event)


def _show_pass(draft: Draft, run: Run, event: PassCompleted) -> None:
    stable = dict(run.stable)
    event = _of_regions(event, run.span_ids)
    draft.tell(PassShown(event))
    for region in event.regions:
        known, text = stable.get(region.region_id, ""), region.text[: region.stable_prefix]
        # A shorter or different prefix would be a retraction: what was sent as stable stays.
        if len(text) > len(known) and text.startswith(known):
            stable[region.region_id] = text
            draft.tell(StableGrown(run.id, region.region_id, text))
    draft.keep_run(
        replace(
            run,
            state="running",
            passes=event.pass_index,
            max_passes=event.max_passes,
            stable=stable,
        )
    )


def _of_regions(event: PassCompleted, span_ids: Collection[str]) -> PassCompleted:
    """Return a pass without the regions that the run has yielded."""
    if all(region.region_id in span_ids for region in event.regions):
        return event
    regions = tuple(region for region in event.regions if region.region_id in span_ids)
    stable_prefix = 0
    for region in regions:
        stable_prefix += region.stable_prefix
        if region.stable_prefix < len(region.text):
            break
    return replace(event, regions=regions, stable_prefix=stable_prefix)


def finish_run(draft: Draft, command: RunSucceeded) -> None:
    """Take the engine's last word: store the suggestions, then offer them."""
    event = command.event
    run = draft.state.runs.get(event.job_id)
    if run is None:
        return
    run = replace(run, passes=event.passes, route=event.run_card.route or run.route)
    if not run.is_active:
        draft.store.append(UpdateRun(run, result=event))
        return
    run = replace(run, state=_final_state(run, event))
    suggestions = _suggestions(draft, run, event) if run.state != "failed" else ()
    missing = len(run.span_ids) - len(suggestions)
    message = None
    if run.state == "finished" and missing:
        message = f"no usable filling was found for {missing} of {len(run.span_ids)} regions"
    draft.keep_run(run)
    draft.store.append(
        UpdateRun(run, stop_reason=event.stop_reason.value, message=message, result=event)
    )
    if suggestions:
        draft.store.append(AddSuggestions(suggestions))
        draft.state = replace(
            draft.state,
            suggestions={**draft.state.suggestions, **{one.id: one for one in suggestions}},
        )
    for suggestion in suggestions:
        draft.tell(SuggestionStored(suggestion))
    draft.tell(
        RunOver(
            run,
            stop_reason=event.stop_reason.value,
            tokens_per_pass=event.tokens_per_pass,
            total_ms=event.timings.complete_ms or draft.ms_since(run),
            message=message,
        )
    )


def _final_state(run: Run, event: JobFinished) -> RunState:
    if run.is_stopping or event.stop_reason is StopReason.CANCELLED:
        return "cancelled"
    return "failed" if event.stop_reason is StopReason.FAILED else "finished"


def _suggestions(draft: Draft, run: Run, event: JobFinished) -> tuple[Suggestion, ...]:
    suggestions: list[Suggestion] = []
    for result in event.regions:
        span = draft.state.span(result.region_id)
        if span is None or result.region_id not in run.span_ids:
            continue
        alternatives = _flagged(
            _usable(result.alternatives, limit=draft.limit), span, draft.state.text
        )
        if not alternatives:
            continue
        suggestions.append(
            Suggestion(
                id=draft.new_id(),
                run_id=run.id,
                span_id=result.region_id,
                base_version=run.base_version,
                original=run.originals[result.region_id],
                alternatives=alternatives,
                confidence=result.confidence,
            )
        )
    return tuple(suggestions)


def _flagged(alternatives: Iterable[Alternative], span: Span, text: str) -> tuple[Alternative, ...]:
    """Return the fillings with the facts in which each differs from the region's text."""
    settings = span.settings
    protected = read_protected(settings.get("protected", ()))
    values = [*settings.get("choices", ()), settings.get("default") or ""]
    return tuple(
        replace(
            one,
            flags=compare_facts(
                text[span.start : span.end],
                one.text,
                left=text[max(0, span.start - 200) : span.start],
                protected=protected,
                allowed="\n".join(str(value) for value in values),
            ),
        )
        for one in alternatives
    )


def _usable(alternatives: Iterable[contract.Alternative], *, limit: int) -> tuple[Alternative, ...]:
    """Return the different fillings that can stand in a document, in the engine's order."""
    usable: dict[str, Alternative] = {}
    for alternative in alternatives:
        text = normalise_line_ends(alternative.text)
        try:
            check_text(text, limit=limit)
        except EditorError:
            continue
        usable.setdefault(text, Alternative(text, alternative.score))
    return tuple(usable.values())


def fail_run(draft: Draft, command: RunFailed) -> None:
    """End a run that the engine could not carry out; a stopped one counts as cancelled."""
    event = command.event
    run = draft.state.runs.get(event.job_id)
    if run is None or not run.is_active:
        return
    if run.is_stopping:
        draft.end_run(replace(run, state="cancelled"))
    else:
        draft.end_run(replace(run, state="failed"), message=event.message)
