"""A decision in the making: the steps that several commands share.

Owns how edits, revisions, spans, runs and suggestions change together, so that an accept and a
keystroke obey the same rules. Pure: a draft is local to one call of `decide` and is thrown away
when the command is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from editor.document.blanks import is_blank_marker
from editor.document.changes import ChangeSet, check_change, compose_all
from editor.document.moving import MovingSpans
from editor.document.provenance import TYPED, EditOrigin
from editor.document.revisions import (
    AuthorKind,
    RevisionDraft,
    RevisionMarks,
    TakenSpan,
    format_time,
    seal_revision,
)
from editor.document.spans import Span, check_locks_near, is_touched
from editor.document.state import (
    MAX_DECIDED_SUGGESTIONS,
    MAX_ENDED_RUNS,
    MAX_KNOWN_OPS,
    DocumentState,
    Edit,
    EditCause,
    KnownOp,
    OpKind,
    Pending,
    Run,
)
from editor.document.taken import MAX_TAKEN, move_taken, return_taken
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
    RegionYielded,
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

__all__ = ["CommitBy", "Draft", "Edited"]

T = TypeVar("T")

# What an undo of a revision, and an undo of that, are called in the history.
_UNDID, _REDID = "Undid: ", "Redid: "


@dataclass(frozen=True, slots=True)
class CommitBy:
    """Whose edits are committed, why, and where their text came from."""

    op_id: str
    client_id: str
    cause: EditCause
    origin: EditOrigin = TYPED


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

    def through(self, batch: Iterable[ChangeSet], *, limit: int) -> Edited:
        """Return where a batch of edits from outside leads; a refused one refuses all.

        Raises: InvalidChange, InvalidText, TooLarge, LockViolation.
        """
        moving, text, applied = MovingSpans(self.spans), self.text, list(self.changes)
        for changes in batch:
            after = check_change(text, changes, limit=limit)
            check_locks_near(text, changes, moving.locks_near, after=after)
            moving.move(changes)
            applied.append(changes)
            text = after
        spans = moving.spans()
        return Edited(
            text=text,
            spans=tuple(_settle_blank(s, text) if s.id in moving.touched else s for s in spans),
            changes=tuple(applied),
            touched=self.touched | moving.touched,
            is_span_changed=self.is_span_changed or bool(moving.touched),
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

    def send_back(self, notice: Notice) -> None:
        """Tell only whoever gave the command."""
        self.send.append(Send(notice, to="sender"))

    def remember(self, op_id: str, kind: OpKind, subjects: Iterable[str] = ()) -> None:
        """Note an op as applied; the oldest are forgotten."""
        op = KnownOp(self.state.version, kind, tuple(subjects))
        known = {**self.state.known_ops, op_id: op}
        self.state = replace(self.state, known_ops=_newest(known, MAX_KNOWN_OPS))

    def commit(self, edited: Edited, by: CommitBy, *, taken: Sequence[TakenSpan] = ()) -> None:
        """Append edits to the log; runs and suggestions whose regions they touch end.

        `taken` are the regions that these edits made text. Those taken before come back when
        their blank does.
        """
        state, first = self.state, self.state.version + 1
        edits = tuple(
            Edit(
                first + index,
                by.op_id,
                by.client_id,
                changes,
                by.cause,
                format_time(self.now_s),
                by.origin,
            )
            for index, changes in enumerate(edited.changes)
        )
        version, hash_of_text = state.version + len(edits), text_hash(edited.text)
        edited, taken = self._with_returned(edited, taken)
        self.state = replace(
            state,
            text=edited.text,
            version=version,
            hash=hash_of_text,
            spans=edited.spans,
            pending=self._pending(edited.changes),
            region_versions=_region_versions(state, edited, version),
            taken=taken,
        )
        self.store.append(AppendEdits(edits, edited.text, hash_of_text))
        self.tell(EditsCommitted(edits, version, hash_of_text, by.op_id, by.cause))
        if edited.spans != state.spans:
            self.store.append(SaveSpans(version, edited.spans))
        if edited.is_span_changed:
            self.tell(SpansSaved(version, edited.spans))
        self.drop_regions(edited.touched, reason="its region was edited")
        self.void_suggestions(edited.touched, reason="its region was edited")

    def _with_returned(
        self, edited: Edited, taken: Sequence[TakenSpan]
    ) -> tuple[Edited, tuple[TakenSpan, ...]]:
        moved = self.state.taken
        for changes in edited.changes if moved else ():
            moved = move_taken(moved, changes)
        left, back = return_taken(moved, edited.text, edited.spans)
        left = (*left, *taken)[-MAX_TAKEN:]
        if not back:
            return edited, left
        spans = sorted((*edited.spans, *back), key=lambda span: (span.start, span.end, span.id))
        ids = frozenset(span.id for span in back)
        settled = tuple(_settle_blank(s, edited.text) if s.id in ids else s for s in spans)
        return replace(edited, spans=settled, is_span_changed=True), left

    def _pending(self, changes: Sequence[ChangeSet]) -> Pending:
        pending = self.state.pending
        composed = compose_all(changes, length=len(self.state.text))
        if pending is not None:
            composed = pending.changes.compose(composed)
        first_s = self.now_s if pending is None else pending.first_s
        return Pending(composed, first_s, self.now_s)

    def label_return(self) -> None:
        """Write a revision at once when typing has led back to before an accept or a restore.

        An undo is an edit like any other; the text tells what it undid.
        """
        state, head = self.state, self.state.head
        if state.hash != state.earlier_hash or state.hash == head.text_hash:
            return
        if head.summary.startswith(_UNDID):
            self.write_revision("person", _REDID + head.summary.removeprefix(_UNDID))
        elif head.author_kind in ("model", "restore") or head.summary.startswith(_REDID):
            self.write_revision("person", _UNDID + head.summary.removeprefix(_REDID))

    def seal_typing(self) -> None:
        """Write a revision of what was typed since the last, if anything was."""
        if self.state.pending is not None:
            self.write_revision("person", "Typed")

    def write_revision(
        self,
        author_kind: AuthorKind,
        summary: str,
        *,
        name: str | None = None,
        taken: Sequence[TakenSpan] = (),
        op_id: str | None = None,
    ) -> None:
        """Write a revision of the text as it stands, with all changes since the last."""
        state = self.state
        pending = state.pending
        changes = ChangeSet.empty(len(state.text)) if pending is None else pending.changes
        marks = RevisionMarks(
            spans=state.spans,
            suggestions=tuple(suggestion.id for suggestion in state.open_suggestions),
            taken=tuple(taken),
        )
        draft = RevisionDraft(changes, state.version, state.hash, author_kind, summary, name, marks)
        revision = seal_revision(draft, parent=state.head, now_s=self.now_s)
        self.state = replace(state, head=revision, pending=None, earlier_hash=state.head.text_hash)
        self.store.append(AddRevision(revision))
        self.tell(RevisionWritten(revision, op_id))

    def drop_regions(self, span_ids: frozenset[str], *, reason: str) -> None:
        """Let the runs that work on these regions go on without them; one with none left ends."""
        for run in self.state.active_runs:
            dropped = [span_id for span_id in run.span_ids if span_id in span_ids]
            if len(dropped) == len(run.span_ids):
                self.end_run(replace(run, state="cancelled"), message=f"Stopped: {reason}")
                self.engine.append(CancelJob(run.id))
            elif dropped:
                self.keep_run(_without(run, span_ids))
                for span_id in dropped:
                    self.tell(RegionYielded(run.id, span_id, reason))

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
        self.tell(RunOver(run, stop_reason=run.state, total_ms=self.ms_since(run), message=message))

    def ms_since(self, run: Run) -> float:
        """Return the milliseconds since a run was asked for."""
        return max(0.0, self.now_s - run.asked_s) * 1000

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


def _without(run: Run, span_ids: frozenset[str]) -> Run:
    return replace(
        run,
        span_ids=tuple(one for one in run.span_ids if one not in span_ids),
        originals={key: text for key, text in run.originals.items() if key not in span_ids},
        stable={key: text for key, text in run.stable.items() if key not in span_ids},
    )


def _settle_blank(span: Span, text: str) -> Span:
    if "blank" not in span.settings:
        return span
    is_blank = is_blank_marker(text[span.start : span.end])
    return replace(span, settings={**span.settings, "blank": is_blank})


def _newest(known: dict[str, T], count: int) -> dict[str, T]:
    return dict(list(known.items())[-count:]) if len(known) > count else known
