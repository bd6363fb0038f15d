"""A decision in the making: the steps that several commands share.

Owns how edits, revisions, spans, runs and suggestions change together, so that an accept and a
keystroke obey the same rules. Pure: a draft is local to one call of `decide` and is thrown away
when the command is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from editor.document.blanks import is_blank_marker
from editor.document.changes import ChangeSet
from editor.document.revisions import AuthorKind, RevisionDraft, format_time, seal_revision
from editor.document.spans import Span, is_touched
from editor.document.state import (
    MAX_DECIDED_SUGGESTIONS,
    MAX_ENDED_RUNS,
    MAX_KNOWN_OPS,
    DocumentState,
    Edit,
    EditCause,
    Pending,
    Run,
)
from editor.document.text import text_hash
from editor.hub.effects import (
    AddRevision,
    AppendEdits,
    CancelJob,
    DecideSuggestions,
    Decision,
    EditsCommitted,
    EngineAction,
    Notice,
    RevisionWritten,
    RunOver,
    SaveSpans,
    Send,
    SpansSaved,
    StoreAction,
    SuggestionVerdict,
    UpdateRun,
    Verdict,
)

__all__ = ["Draft", "Edited"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Edited:
    """Where a document stands after some edits: text, spans, and what they touched inside."""

    text: str
    spans: tuple[Span, ...]
    changes: tuple[ChangeSet, ...]
    touched: frozenset[str]  # ids of regions and fields, deleted ones included
    is_span_changed: bool  # not only shifted by text before them

    def then(
        self, changes: ChangeSet, *, text: str, spans: tuple[Span, ...], removed: tuple[Span, ...]
    ) -> Edited:
        """Return where one more edit leads; `spans` and `removed` are those after it."""
        moved = {span.id: span for span in spans}
        touched = {
            span.id
            for span in self.spans
            if span.kind != "locked"
            and (is_touched(span, changes) or self._has_grown(span, moved.get(span.id)))
        }
        settled = tuple(_settle_blank(span, text) if span.id in touched else span for span in spans)
        return Edited(
            text=text,
            spans=settled,
            changes=(*self.changes, changes),
            touched=self.touched | touched | {span.id for span in removed},
            is_span_changed=self.is_span_changed or bool(touched) or bool(removed),
        )

    @staticmethod
    def _has_grown(before: Span, after: Span | None) -> bool:
        """A field takes what is typed at its end, which touches nothing that was inside."""
        return after is not None and after.end - after.start != before.end - before.start


@dataclass(slots=True)
class Draft:
    """What a command has led to so far."""

    state: DocumentState
    now_s: float
    new_id: Callable[[], str]
    limit: int
    store: list[StoreAction] = field(default_factory=list)
    send: list[Send] = field(default_factory=list)
    engine: list[EngineAction] = field(default_factory=list)
    unplaced: list[Verdict] = field(default_factory=list)

    def decision(self) -> Decision:
        return Decision(
            self.state,
            tuple(self.store),
            tuple(self.send),
            tuple(self.engine),
            tuple(self.unplaced),
        )

    def tell(self, notice: Notice) -> None:
        self.send.append(Send(notice))

    def start_edits(self) -> Edited:
        return Edited(self.state.text, self.state.spans, (), frozenset(), False)

    def remember(self, op_id: str) -> None:
        """Note an op as applied; the oldest are forgotten."""
        known = {**self.state.known_ops, op_id: self.state.version}
        self.state = replace(self.state, known_ops=_newest(known, MAX_KNOWN_OPS))

    def commit(self, edited: Edited, *, op_id: str, client_id: str, cause: EditCause) -> None:
        """Append edits to the log; runs and suggestions whose regions they touch end."""
        state, first = self.state, self.state.version + 1
        edits = tuple(
            Edit(first + index, op_id, client_id, changes, cause, format_time(self.now_s))
            for index, changes in enumerate(edited.changes)
        )
        version, hash_of_text = state.version + len(edits), text_hash(edited.text)
        self.state = replace(
            state,
            text=edited.text,
            version=version,
            hash=hash_of_text,
            spans=edited.spans,
            pending=self._pending(edited.changes),
            region_versions=_region_versions(state, edited, version),
        )
        self.store.append(AppendEdits(edits, edited.text, hash_of_text))
        self.tell(EditsCommitted(edits, version, hash_of_text, op_id, cause))
        if edited.spans != state.spans:
            self.store.append(SaveSpans(version, edited.spans))
        if edited.is_span_changed:
            self.tell(SpansSaved(version, edited.spans))
        self.remember(op_id)
        self.stop_runs(edited.touched, reason="its region was edited")
        self.void_suggestions(edited.touched, reason="its region was edited")

    def _pending(self, changes: Iterable[ChangeSet]) -> Pending:
        pending = self.state.pending
        composed = ChangeSet.empty(len(self.state.text)) if pending is None else pending.changes
        for change in changes:
            composed = composed.compose(change)
        first_s = self.now_s if pending is None else pending.first_s
        return Pending(composed, first_s, self.now_s)

    def seal_typing(self) -> None:
        """Write a revision of what was typed since the last, if anything was."""
        if self.state.pending is not None:
            self.write_revision("person", "Typed")

    def write_revision(self, author_kind: AuthorKind, summary: str) -> None:
        """Write a revision of the text as it stands, with all changes since the last."""
        state = self.state
        pending = state.pending
        changes = ChangeSet.empty(len(state.text)) if pending is None else pending.changes
        draft = RevisionDraft(changes, state.version, state.hash, author_kind, summary)
        revision = seal_revision(draft, parent=state.head, now_s=self.now_s)
        self.state = replace(state, head=revision, pending=None)
        self.store.append(AddRevision(revision))
        self.tell(RevisionWritten(revision))

    def stop_runs(self, span_ids: frozenset[str], *, reason: str) -> None:
        """Cancel the runs that work on any of these regions, whole."""
        for run in self.state.active_runs:
            if not span_ids.isdisjoint(run.span_ids):
                self.end_run(replace(run, state="cancelled"), message=f"Stopped: {reason}")
                self.engine.append(CancelJob(run.id))

    def void_suggestions(self, span_ids: frozenset[str], *, reason: str) -> None:
        """Void the open suggestions for these regions."""
        self.judge(
            [
                Verdict(suggestion.id, "void", reason)
                for suggestion in self.state.open_suggestions
                if suggestion.span_id in span_ids
            ]
        )

    def end_run(self, run: Run, *, message: str | None = None) -> None:
        """End a run without a last word from the engine."""
        self.keep_run(run)
        self.store.append(UpdateRun(run, stop_reason=run.state, message=message))
        self.tell(RunOver(run, stop_reason=run.state, message=message))

    def keep_run(self, run: Run) -> None:
        """Put a run into the state; of ended ones the newest stay."""
        runs = {**self.state.runs, run.id: run}
        ended = [run_id for run_id, one in runs.items() if not one.is_active]
        for run_id in ended[:-MAX_ENDED_RUNS]:
            del runs[run_id]
        self.state = replace(self.state, runs=runs)

    def judge(self, verdicts: Collection[Verdict], *, op_id: str | None = None) -> None:
        """Decide suggestions; of decided ones the newest stay in the state."""
        if not verdicts:
            return
        suggestions = dict(self.state.suggestions)
        for verdict in verdicts:
            # Taken out and put in again: the order is then that of the decisions.
            suggestion = suggestions.pop(verdict.suggestion_id)
            suggestions[suggestion.id] = replace(suggestion, state=verdict.state)
            self.tell(SuggestionVerdict(verdict, op_id))
        decided = [key for key, one in suggestions.items() if one.state != "open"]
        for key in decided[:-MAX_DECIDED_SUGGESTIONS]:
            del suggestions[key]
        self.state = replace(self.state, suggestions=suggestions)
        self.store.append(DecideSuggestions(tuple(verdicts)))


def _region_versions(state: DocumentState, edited: Edited, version: int) -> dict[str, int]:
    ids = {span.id for span in edited.spans if span.kind != "locked"}
    earlier = {key: seen for key, seen in state.region_versions.items() if key in ids}
    return earlier | dict.fromkeys(edited.touched & ids, version)


def _settle_blank(span: Span, text: str) -> Span:
    if "blank" not in span.settings:
        return span
    is_blank = is_blank_marker(text[span.start : span.end])
    return replace(span, settings={**span.settings, "blank": is_blank})


def _newest(known: dict[str, T], count: int) -> dict[str, T]:
    return dict(list(known.items())[-count:]) if len(known) > count else known
