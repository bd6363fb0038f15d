"""Runs, their aggregate telemetry, and suggestions. Provisional text is never stored.

Functions take the caller's transaction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, RowMapping, func, insert, select, update

from editor.document.facts import FactFlag
from editor.document.state import Run
from editor.document.suggestions import Alternative, Suggestion
from editor.errors import NotFound
from editor.store.schema import documents, passes, runs, suggestions
from editor.store.seals import seal_run, seal_suggestions
from engine.contract import JobFinished, PassRecord, RefineJob

__all__ = [
    "RunRow",
    "add_run",
    "add_suggestions",
    "decide_suggestion",
    "fail_unfinished_runs",
    "find_run",
    "find_suggestion",
    "pass_records",
    "recent_suggestions",
    "suggestions_of_run",
    "update_run",
]

_ACTIVE = ("queued", "running")
_NUM_DECIDED = 64  # decided ones to load, so that a second verdict is told apart


@dataclass(frozen=True, slots=True)
class RunRow:
    """A stored run. `job` is the worker's job without its text, as JSON."""

    id: str
    document_id: str
    base_version: int
    state: str
    span_ids: tuple[str, ...]
    job: dict[str, Any]
    passes: int
    max_passes: int
    stop_reason: str | None
    message: str | None
    tokens_per_pass: float
    timings: dict[str, float] | None
    run_card: dict[str, Any] | None
    created_s: float
    ended_s: float | None


def add_run(db: Connection, document_id: str, run: Run, *, job: RefineJob, now_s: float) -> None:
    """Store a run that was asked for; the job's text stays out."""
    written = dataclasses.asdict(job)
    del written["text"]
    db.execute(
        insert(runs).values(
            id=run.id,
            document_id=document_id,
            base_version=run.base_version,
            state=run.state,
            route=run.route,
            span_ids=list(run.span_ids),
            job=written,
            passes=run.passes,
            max_passes=run.max_passes,
            tokens_per_pass=0.0,
            created_s=now_s,
        )
    )
    _count(db, document_id, documents.c.num_runs, 1)
    seal_run(db, run.id)


def update_run(
    db: Connection,
    run: Run,
    *,
    outcome: tuple[str | None, str | None],
    result: JobFinished | None,
    now_s: float,
) -> None:
    """Store a run's new state; `outcome` is (stop reason, message), None leaves what was."""
    values: dict[str, Any] = {
        "state": run.state,
        "route": run.route,
        "passes": run.passes,
        "max_passes": run.max_passes,
        "stop_reason": func.coalesce(outcome[0], runs.c.stop_reason),
        "message": func.coalesce(outcome[1], runs.c.message),
    }
    if not run.is_active:
        values["ended_s"] = func.coalesce(runs.c.ended_s, now_s)
    if result is not None:
        values |= {
            "tokens_per_pass": result.tokens_per_pass,
            "timings": dataclasses.asdict(result.timings),
            "run_card": dataclasses.asdict(result.run_card),
        }
        _add_passes(db, run.id, result.telemetry)
    db.execute(update(runs).where(runs.c.id == run.id).values(**values))
    seal_run(db, run.id)


def find_run(db: Connection, run_id: str) -> RunRow:
    """Return one run. Raises: NotFound."""
    row = db.execute(select(runs).where(runs.c.id == run_id)).mappings().first()
    if row is None:
        raise NotFound(f"there is no run {run_id!r}")
    return RunRow(
        **{
            field.name: row[field.name]
            for field in dataclasses.fields(RunRow)
            if field.name != "span_ids"
        },
        span_ids=tuple(row["span_ids"]),
    )


def fail_unfinished_runs(db: Connection, *, message: str, now_s: float) -> int:
    """Mark what ran when the server ended as failed; return how many there were."""
    run_ids = list(db.execute(select(runs.c.id).where(runs.c.state.in_(_ACTIVE))).scalars())
    for run_id in run_ids:
        db.execute(
            update(runs)
            .where(runs.c.id == run_id)
            .values(state="failed", stop_reason="failed", message=message, ended_s=now_s)
        )
        seal_run(db, run_id)
    return len(run_ids)


def pass_records(db: Connection, run_id: str) -> Iterator[PassRecord]:
    """Yield the telemetry of a run's passes in order."""
    columns = [passes.c[field.name] for field in dataclasses.fields(PassRecord)]
    query = select(*columns).where(passes.c.run_id == run_id).order_by(passes.c.n)
    for row in db.execute(query).mappings():
        yield PassRecord(**row)


def add_suggestions(
    db: Connection, document_id: str, offered: Sequence[Suggestion], *, now_s: float
) -> None:
    """Store what a run offers."""
    rows = [
        {
            "id": suggestion.id,
            "document_id": document_id,
            "run_id": suggestion.run_id,
            "span_id": suggestion.span_id,
            "base_version": suggestion.base_version,
            "original": suggestion.original,
            "alternatives": [dataclasses.asdict(a) for a in suggestion.alternatives],
            "confidence": suggestion.confidence,
            "state": suggestion.state,
            "created_s": now_s,
        }
        for suggestion in offered
    ]
    if rows:
        db.execute(insert(suggestions), rows)
        _count(db, document_id, documents.c.num_suggestions, len(rows))
        seal_suggestions(db, [suggestion.id for suggestion in offered])


def decide_suggestion(db: Connection, suggestion_id: str, state: str, *, now_s: float) -> None:
    """Store what became of a suggestion; "open" again means that an undo took it back."""
    decided_s = None if state == "open" else now_s
    db.execute(
        update(suggestions)
        .where(suggestions.c.id == suggestion_id)
        .values(state=state, decided_s=decided_s)
    )
    seal_suggestions(db, [suggestion_id])


def recent_suggestions(db: Connection, document_id: str) -> list[Suggestion]:
    """Return what waits for a decision and what was decided lately, oldest first."""
    query = select(suggestions).where(suggestions.c.document_id == document_id)
    is_open = suggestions.c.state == "open"
    newest = suggestions.c.decided_s.desc(), suggestions.c.id
    rows = [
        *db.execute(query.where(is_open)).mappings(),
        *db.execute(query.where(~is_open).order_by(*newest).limit(_NUM_DECIDED)).mappings(),
    ]
    return [_suggestion(row) for row in sorted(rows, key=lambda r: (r["created_s"], r["id"]))]


def suggestions_of_run(db: Connection, run_id: str) -> list[Suggestion]:
    """Return everything a run offered, in the order of its regions."""
    query = select(suggestions).where(suggestions.c.run_id == run_id)
    found = [_suggestion(row) for row in db.execute(query).mappings()]
    span_ids = find_run(db, run_id).span_ids
    return sorted(found, key=lambda s: (span_ids.index(s.span_id), s.id))


def find_suggestion(db: Connection, suggestion_id: str) -> tuple[str, Suggestion]:
    """Return (document id, suggestion). Raises: NotFound."""
    query = select(suggestions).where(suggestions.c.id == suggestion_id)
    row = db.execute(query).mappings().first()
    if row is None:
        raise NotFound(f"there is no suggestion {suggestion_id!r}")
    return row["document_id"], _suggestion(row)


def _count(db: Connection, document_id: str, column: Column[Any], number: int) -> None:
    where = documents.c.id == document_id
    db.execute(update(documents).where(where).values({column.name: column + number}))


def _add_passes(db: Connection, run_id: str, telemetry: Sequence[PassRecord]) -> None:
    rows = [
        {"run_id": run_id, "n": n, **dataclasses.asdict(record)}
        for n, record in enumerate(telemetry)
    ]
    if rows:
        db.execute(insert(passes), rows)


def _suggestion(row: RowMapping) -> Suggestion:
    return Suggestion(
        id=row["id"],
        run_id=row["run_id"],
        span_id=row["span_id"],
        base_version=row["base_version"],
        original=row["original"],
        alternatives=tuple(_alternative(given) for given in row["alternatives"]),
        confidence=row["confidence"],
        state=row["state"],
    )


def _alternative(given: dict[str, Any]) -> Alternative:
    flags = tuple(FactFlag(**flag) for flag in given.get("flags", ()))
    return Alternative(given["text"], given["score"], flags)
