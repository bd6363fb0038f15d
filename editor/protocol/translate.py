"""Between what travels to browsers and what documents are made of.

Owns the two forms of change sets, spans, suggestions and revisions: the wire counts UTF-16, the
document code points. Which command a message is, and which frame a notice, is the hub's
(`editor.hub.wire`), since this layer knows neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from editor.document.changes import ChangeSet
from editor.document.facts import FactFlag
from editor.document.revisions import Revision
from editor.document.spans import Span
from editor.document.state import Edit, Run
from editor.document.suggestions import Suggestion
from editor.errors import InvalidChange, InvalidOffset
from editor.protocol import messages
from editor.protocol.messages import (
    AlternativeWire,
    ChangeJson,
    RegionFrame,
    RevisionWire,
    RunWire,
    SpanWire,
    SuggestionWire,
    UpdateWire,
)
from editor.protocol.offsets import OffsetMap, lengths_to_code_points, lengths_to_utf16
from engine.contract import RegionDraft

__all__ = [
    "changes_from_wire",
    "changes_to_wire",
    "region_to_wire",
    "revision_to_wire",
    "run_to_wire",
    "spans_to_wire",
    "stable_prefix_to_utf16",
    "suggestion_to_wire",
    "updates_from_wire",
    "updates_to_wire",
]


def changes_from_wire(json: ChangeJson, text: str) -> ChangeSet:
    """Read a browser's change set of `text`.

    Raises: InvalidChange when it is malformed, does not fit the text, or cuts a surrogate pair.
    """
    in_utf16 = ChangeSet.from_json(json)
    if text.isascii():
        return in_utf16
    try:
        lengths = lengths_to_code_points(text, (length for length, _ in in_utf16.sections))
    except InvalidOffset as error:
        raise InvalidChange(f"the change set does not fit the text: {error}") from error
    return ChangeSet.of(
        [
            (length, inserted)
            for length, (_, inserted) in zip(lengths, in_utf16.sections, strict=True)
        ]
    )


def changes_to_wire(changes: ChangeSet, text: str) -> ChangeJson:
    """Write a change set of `text` in CodeMirror's form."""
    if text.isascii():
        return changes.to_json()
    lengths = lengths_to_utf16(text, (length for length, _ in changes.sections))
    sections = zip(lengths, changes.sections, strict=True)
    return ChangeSet(tuple((length, inserted) for length, (_, inserted) in sections)).to_json()


def updates_from_wire(updates: Iterable[UpdateWire], text: str) -> tuple[ChangeSet, ...]:
    """Read updates, each made for the text after the one before. Raises: InvalidChange."""
    result: list[ChangeSet] = []
    for update in updates:
        changes = changes_from_wire(update.changes, text)
        text = changes.apply(text)
        result.append(changes)
    return tuple(result)


def updates_to_wire(edits: Iterable[Edit], text: str) -> list[UpdateWire]:
    """Write edits of the log for a browser that holds `text`, the text before the first."""
    result: list[UpdateWire] = []
    for edit in edits:
        json = changes_to_wire(edit.changes, text)
        result.append(UpdateWire(clientID=edit.client_id, changes=json))
        text = edit.changes.apply(text)
    return result


def spans_to_wire(spans: Iterable[Span], text: str) -> list[SpanWire]:
    """Write spans of `text`."""
    offsets = OffsetMap(text)
    return [
        SpanWire.model_validate(
            {
                "id": span.id,
                "kind": span.kind,
                "from": offsets.to_utf16(span.start),
                "to": offsets.to_utf16(span.end),
                "settings": dict(span.settings),
            }
        )
        for span in spans
    ]


def suggestion_to_wire(suggestion: Suggestion) -> SuggestionWire:
    return SuggestionWire(
        id=suggestion.id,
        run_id=suggestion.run_id,
        span_id=suggestion.span_id,
        original=suggestion.original,
        alternatives=[
            AlternativeWire(
                text=one.text, score=one.score, flags=[flag_to_wire(flag) for flag in one.flags]
            )
            for one in suggestion.alternatives
        ],
        confidence=suggestion.confidence,
        state=suggestion.state,
    )


def flag_to_wire(flag: FactFlag) -> messages.FactFlag:
    return messages.FactFlag(kind=flag.kind, what=flag.what, before=flag.before, after=flag.after)


def run_to_wire(run: Run) -> RunWire:
    return RunWire(
        run_id=run.id,
        state=run.state,
        span_ids=list(run.span_ids),
        passes=run.passes,
        max_passes=run.max_passes,
    )


def revision_to_wire(revision: Revision) -> RevisionWire:
    return RevisionWire(
        n=revision.n,
        parent=revision.parent,
        version=revision.version,
        author_kind=revision.author_kind,
        summary=revision.summary,
        created_at=revision.created_at,
        hash=revision.hash,
        name=revision.name,
    )


def region_to_wire(draft: RegionDraft) -> RegionFrame:
    """Write a region's provisional text; its ranges count in that text."""
    offsets = OffsetMap(draft.text)
    return RegionFrame(
        span_id=draft.region_id,
        text=draft.text,
        settled=[(offsets.to_utf16(start), offsets.to_utf16(end)) for start, end in draft.settled],
        confidence=list(draft.confidence),
        stable_prefix=offsets.to_utf16(draft.stable_prefix),
    )


def stable_prefix_to_utf16(regions: Sequence[RegionDraft], stable_prefix: int) -> int:
    """Return a pass's stable prefix, counted over all regions in order, in UTF-16."""
    text = "".join(region.text for region in regions)
    return OffsetMap(text).to_utf16(min(stable_prefix, len(text)))
