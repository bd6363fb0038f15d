"""A document's authority under random commands: what must hold after every one of them."""

from __future__ import annotations

import random

import pytest

from editor.document.changes import ChangeSet, replace
from editor.document.revisions import Revision, verify_chain
from editor.document.spans import Span
from editor.document.text import text_hash
from editor.errors import EditorError
from editor.hub.commands import (
    AcceptSuggestions,
    ApplyEdit,
    CancelRun,
    ChangeSpans,
    Command,
    NameRevision,
    NewSpan,
    RejectSuggestions,
    RequestRefine,
    RestoreRevision,
    RunFailed,
    RunProgressed,
    RunSucceeded,
    SealTyping,
)
from editor.hub.effects import AddRevision, AppendEdits, Decision, StableGrown, SubmitJob
from engine.contract import JobFailed, JobStarted, PassCompleted, RegionDraft
from tests.editor.builders import Session, a_document, finished

START = "Take «5 mg» of ‹[___]› and ‹some «more» words› daily, ⟦[___]⟧. \U0001f600"
LETTERS = "ab 5.\n\u00e9\U0001f600"


class Author:
    """Draws commands that fit the state now and then, and events of the runs it has seen."""

    def __init__(self, seed: int, session: Session) -> None:
        self.rng = random.Random(seed)
        self.session = session
        self.texts: list[str] = [session.state.text]

    def command(self, number: int) -> Command:
        op_id = f"op{number}"
        often = [self.edit, self.engine, self.review] * 2
        draw = self.rng.choice([*often, self.edit, self.spans, self.refine, self.revise])
        return draw(op_id)

    def words(self, least: int = 0) -> str:
        return "".join(self.rng.choices(LETTERS, k=self.rng.randint(least, 6)))

    def edit(self, op_id: str) -> Command:
        state = self.session.state
        start = self.rng.randint(0, len(state.text))
        end = min(len(state.text), start + self.rng.choice([0, 0, 1, 2, 5]))
        version = state.version - (self.rng.random() < 0.1)
        change = replace(len(state.text), start, end, self.words())
        second = ChangeSet.of([(change.new_length, None), (0, self.words())])
        return ApplyEdit(op_id, max(version, 0), "browser", (change, second))

    def spans(self, op_id: str) -> Command:
        state = self.session.state
        start = self.rng.randint(0, len(state.text))
        kind = self.rng.choice(["region", "field"])
        add = NewSpan(kind, start, start + self.rng.randint(1, 6))  # type: ignore[arg-type]
        removable = [span.id for span in state.spans if span.kind != "locked"]
        remove = self.rng.sample(removable, k=min(len(removable), self.rng.randint(0, 1)))
        return ChangeSpans(op_id, state.version, (add,), tuple(remove))

    def refine(self, op_id: str) -> Command:
        regions = [span.id for span in self.session.state.spans if span.kind != "locked"]
        chosen = tuple(self.rng.sample(regions, k=min(len(regions), 1)))
        return RequestRefine(op_id, self.session.state.version, chosen or None)

    def engine(self, op_id: str) -> Command:
        runs = list(self.session.state.runs.values())
        if not runs:
            return SealTyping()
        run = self.rng.choice(runs)
        draft = self.words()
        stable = self.rng.randint(0, len(draft))
        regions = tuple(RegionDraft(key, draft, (), (), stable) for key in run.span_ids)
        fillings = {
            key: [self.words(), f"{self.words()} more {self.words()}"] for key in run.span_ids
        }
        return self.rng.choice(
            [
                RunProgressed(JobStarted(run.id, "diffusion", 9, 1.0)),
                RunProgressed(PassCompleted(run.id, 1, 9, regions, stable, 1, 1, 0, 0.5, 1.0)),
                RunProgressed(PassCompleted(run.id, 2, 9, regions, stable, 1, 1, 0, 0.5, 1.0)),
                RunSucceeded(finished(run.id, fillings)),
                RunFailed(JobFailed(run.id, "worker_died", "Gone.", True)),
                CancelRun(run.id),
            ]
        )

    def review(self, op_id: str) -> Command:
        known = list(self.session.state.suggestions)
        chosen = tuple(self.rng.sample(known, k=min(len(known), self.rng.randint(1, 2))))
        if self.rng.random() < 0.2:
            return RejectSuggestions(op_id, chosen)
        return AcceptSuggestions(op_id, chosen, {key: self.rng.randint(0, 1) for key in chosen})

    def revise(self, op_id: str) -> Command:
        if self.rng.random() < 0.5:
            return NameRevision(op_id, "name")
        n = self.rng.randint(0, self.session.state.head.n)
        return RestoreRevision(op_id, n, self.texts[n])


def locked_texts(text: str, spans: tuple[Span, ...]) -> dict[str, str]:
    return {s.id: text[s.start : s.end] for s in spans if s.kind == "locked"}


@pytest.mark.parametrize("seed", range(12))
def test_every_accepted_command_keeps_the_promises(seed: int) -> None:
    session = Session(a_document(START))
    author = Author(seed, session)
    locked = locked_texts(session.state.text, session.state.spans)
    replica, chain = session.state.text, [session.state.head]
    stable: dict[tuple[str, str], str] = {}
    num_accepted = num_edited = 0

    for number in range(250):
        session.now_s += author.rng.choice([0.5, 3.0, 30.0])
        before = session.state
        try:
            decision = session.do(author.command(number))
        except EditorError:
            assert session.state is before
            continue
        num_accepted += 1
        replica = follow(replica, decision)
        note_revisions(author, chain, decision)
        check_stable(stable, decision)
        num_edited += replica != before.text

        state = decision.state
        assert replica == state.text
        assert (state.hash, text_hash(replica)) == (text_hash(replica), state.hash)
        assert locked_texts(state.text, state.spans) == locked
        assert all(0 <= s.start < s.end <= len(state.text) for s in state.spans)
        assert before.text == state.text or any(
            isinstance(action, AppendEdits) for action in decision.store
        )
        working = [key for run in state.active_runs for key in run.span_ids]
        assert len(working) == len(set(working))
        for run in state.active_runs:
            for key, original in run.originals.items():
                span = state.span(key)
                assert span is not None
                assert state.text[span.start : span.end] == original

    assert verify_chain(chain) is None
    assert num_accepted > 100
    assert num_edited > 20


def follow(replica: str, decision: Decision) -> str:
    """Snapshot plus events is a fresh snapshot: apply what was stored, as a browser would."""
    for action in decision.store:
        if isinstance(action, AppendEdits):
            for edit in action.edits:
                replica = edit.changes.apply(replica)
    return replica


def note_revisions(author: Author, chain: list[Revision], decision: Decision) -> None:
    for action in decision.store:
        if isinstance(action, AddRevision):
            author.texts.append(action.revision.changes.apply(author.texts[-1]))
            chain.append(action.revision)


def check_stable(stable: dict[tuple[str, str], str], decision: Decision) -> None:
    """Promise 4: the stable prefix never retracts."""
    for send in decision.send:
        if isinstance(send.notice, StableGrown):
            key = (send.notice.run_id, send.notice.span_id)
            assert send.notice.text.startswith(stable.get(key, ""))
            stable[key] = send.notice.text


def test_every_job_that_is_sent_out_fits_its_text() -> None:
    session = Session(a_document(START))
    author = Author(99, session)
    chain = [session.state.head]
    num_jobs = 0

    for number in range(400):
        try:
            decision = session.do(author.command(number))
        except EditorError:
            continue
        note_revisions(author, chain, decision)
        for action in decision.engine:
            if isinstance(action, SubmitJob):
                num_jobs += 1
                assert action.job.text == session.state.text
                assert all(r.start < r.end <= len(action.job.text) for r in action.job.regions)

    assert num_jobs > 5
