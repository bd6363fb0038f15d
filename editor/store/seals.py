"""Seals: hashes by which `verify` sees that a stored row was changed or is missing.

Owns what each seal covers. A seal is no signature: whoever can write the database and knows this
module can make new ones. It shows damage, half-restored backups and edits by hand.

    edits        each edit's hash covers the row and the hash before it; a document names the last
    spans        one hash over all of a document's spans
    runs         one seal over the row and the telemetry of its passes; a document counts them
    suggestions  one seal over the row; a document counts them
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, select, update

from editor.document.spans import Span, span_to_json
from editor.store.schema import passes, runs, suggestions

__all__ = [
    "edit_hash",
    "run_seal",
    "seal_run",
    "seal_suggestions",
    "spans_hash",
    "suggestion_seal",
    "telemetry_rows",
]


def edit_hash(before: str, row: Mapping[str, Any]) -> str:
    """Return the hash of an edit's row, chained to the one `before` ("" for the first)."""
    return _digest([before, _content(row, "hash")])


def spans_hash(spans: Iterable[Span]) -> str:
    """Return the hash of a set of spans, whatever their order."""
    return _digest(sorted((span_to_json(span) for span in spans), key=lambda one: one["id"]))


def run_seal(row: Mapping[str, Any], telemetry: Sequence[Mapping[str, Any]]) -> str:
    """Return the seal of a run's row and its passes in order."""
    return _digest([_content(row, "seal"), [dict(one) for one in telemetry]])


def suggestion_seal(row: Mapping[str, Any]) -> str:
    """Return the seal of a suggestion's row."""
    return _digest(_content(row, "seal"))


def seal_run(db: Connection, run_id: str) -> None:
    """Seal a run as it stands in the caller's transaction."""
    row = db.execute(select(runs).where(runs.c.id == run_id)).mappings().one()
    _store(db, runs, run_id, run_seal(dict(row), telemetry_rows(db, run_id)))


def seal_suggestions(db: Connection, suggestion_ids: Iterable[str]) -> None:
    """Seal suggestions as they stand in the caller's transaction."""
    for suggestion_id in suggestion_ids:
        query = select(suggestions).where(suggestions.c.id == suggestion_id)
        row = db.execute(query).mappings().one()
        _store(db, suggestions, suggestion_id, suggestion_seal(dict(row)))


def telemetry_rows(db: Connection, run_id: str) -> list[Mapping[str, Any]]:
    """Return the rows of a run's passes in order."""
    query = select(passes).where(passes.c.run_id == run_id).order_by(passes.c.n)
    return [dict(row) for row in db.execute(query).mappings()]


def _store(db: Connection, table: Table, row_id: str, seal: str) -> None:
    db.execute(update(table).where(table.c.id == row_id).values(seal=seal))


def _content(row: Mapping[str, Any], seal: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != seal}


def _digest(value: object) -> str:
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(written.encode("ascii")).hexdigest()
