"""The rim around one document's authority: one command at a time, stored before it is true.

Owns the order of commands, the connections and what they have been sent. It decides nothing:
`session.decide` does, and a decision counts only once its store actions are committed. A
command goes on to its end even when whoever gave it has gone, so memory and database cannot
part. Frames that matter are numbered per epoch and kept a while for browsers that come back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from editor.document.state import DocumentState, Edit
from editor.errors import NotFound
from editor.hub import wire
from editor.hub.commands import ApplyEdit, Command, RunSucceeded, SealTyping
from editor.hub.effects import (
    Decision,
    EditsCommitted,
    EngineAction,
    MissingEdits,
    Notice,
    PassShown,
    RevisionAgain,
    RevisionWritten,
    RunAgain,
    RunOver,
    Send,
)
from editor.hub.outbox import Frame, Outbox
from editor.hub.session import QUIET_S, decide
from editor.hub.storing import has_news, store_decision
from editor.logging import get_logger
from editor.protocol.messages import Edited, UpdateWire, Welcome
from editor.protocol.translate import revision_to_wire, updates_to_wire
from editor.store import log as edit_log
from editor.store import runs
from editor.store.database import Database

__all__ = ["Greeting", "Room", "RoomContext"]

log = get_logger(__name__)

T = TypeVar("T")
MAX_RECENT_FRAMES = 512
MAX_CATCH_UP_EDITS = 5_000
MANY_UPDATES = 16


class Figures(Protocol):
    """Where a room reports counts and times."""

    def observe_commit(self, total_s: float) -> None: ...

    def observe_run(self, state: str, stop_reason: str, passes: int, total_s: float) -> None: ...


@dataclass(frozen=True, slots=True)
class RoomContext:
    """What every room of a server shares. `now_s` is seconds since 1970."""

    database: Database
    limit: int  # code points of a document
    now_s: Callable[[], float]
    new_id: Callable[[], str]
    act: Callable[[Room, EngineAction], None]
    figures: Figures
    worker_state: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a browser that comes (back) already holds: a seq of an epoch, or a version."""

    since: int | None = None
    epoch: str | None = None
    version: int | None = None


class Room:
    """One open document. Use it through `Hub.room`, which keeps it open meanwhile."""

    def __init__(self, state: DocumentState, context: RoomContext) -> None:
        self.state = state
        self.epoch = context.new_id()
        self.seq = 0
        self.num_users = 0
        self._context = context
        self._turn = asyncio.Lock()
        self._recent: deque[Frame] = deque(maxlen=MAX_RECENT_FRAMES)
        self._passes: dict[str, Frame] = {}
        self._outboxes: set[Outbox] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._quiet: asyncio.TimerHandle | None = None
        self._is_gone = False

    async def execute(self, command: Command, sender: Outbox | None = None) -> Decision:
        """Carry out a command: decide, commit, adopt, send, in that order.

        Raises: EditorError when it is refused or cannot be stored; nothing has changed then.
        """
        return await self._in_turn(lambda: self._carry_out(command, sender))

    async def execute_made(
        self, make: Callable[[DocumentState], Command], sender: Outbox, *, num_updates: int = 1
    ) -> None:
        """As `execute`, with a command made for the state that is current in its turn."""

        async def carry_out() -> None:
            command = await _think(lambda: make(self.state), num_updates)
            await self._carry_out(command, sender)

        await self._in_turn(carry_out)

    async def attach(self, outbox: Outbox, greeting: Greeting) -> None:
        """Welcome a browser and send it everything from now on."""
        await self._in_turn(lambda: self._welcome(outbox, greeting))

    def detach(self, outbox: Outbox) -> None:
        """Send a browser nothing more."""
        self._outboxes.discard(outbox)

    def broadcast(self, frame: Frame) -> None:
        """Send a frame without a number to every browser."""
        for outbox in self._outboxes:
            outbox.offer(frame)

    async def purge(self, work: Callable[[Connection], None]) -> None:
        """End the document: `work` removes it, browsers are let go, later commands find nothing."""

        async def remove() -> None:
            await self._context.database.write(work)
            self._is_gone = True
            self.stop_timer()
            for outbox in self._outboxes:
                outbox.close()

        await self._in_turn(remove)

    async def close(self) -> None:
        """Seal what was typed and finish every command; browsers are let go."""
        self.stop_timer()
        if not self._is_gone:
            await self.seal()
        for outbox in self._outboxes:
            outbox.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def seal(self) -> None:
        """Write a revision of what was typed since the last, if anything was."""
        if self.state.pending is not None:
            await self.execute(SealTyping())

    @property
    def is_busy(self) -> bool:
        """True while a command waits or runs."""
        return bool(self._tasks)

    def watch_quiet(self) -> None:
        """Seal what was typed after a quiet while."""
        self.stop_timer()
        if self.state.pending is not None and not self._is_gone:
            loop = asyncio.get_running_loop()
            self._quiet = loop.call_later(QUIET_S, self._seal_later)

    def stop_timer(self) -> None:
        """Seal nothing by itself any more."""
        if self._quiet is not None:
            self._quiet.cancel()
            self._quiet = None

    async def _in_turn(self, act: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async def wait_and_act() -> T:
            async with self._turn:
                if self._is_gone:
                    raise NotFound(f"document {self.state.id!r} was deleted")
                return await act()

        task = asyncio.create_task(wait_and_act())
        self._keep(task)
        return await asyncio.shield(task)

    async def _carry_out(self, command: Command, sender: Outbox | None) -> Decision:
        context, before, now_s = self._context, self.state, self._context.now_s()
        decision = await _think(
            lambda: decide(
                before, command, now_s=now_s, new_id=context.new_id, limit=context.limit
            ),
            _weight(command),
        )
        if has_news(before, decision):
            await context.database.write(
                lambda db: store_decision(db, before, decision, now_s=now_s)
            )
            context.figures.observe_commit(max(0.0, context.now_s() - now_s))
        self.state = decision.state
        await self._send_all(before, decision.send, sender)
        for action in decision.engine:
            context.act(self, action)
        if self.state.pending is not before.pending:
            self.watch_quiet()
        return decision

    async def _send_all(
        self, before: DocumentState, sends: Sequence[Send], sender: Outbox | None
    ) -> None:
        for send in sends:
            if isinstance(send.notice, MissingEdits | RunAgain | RevisionAgain):
                await self._answer_from_store(send.notice, sender)
                continue
            frame = await self._number(send, before)
            targets = self._outboxes if send.to == "all" else {sender} if sender else set()
            for outbox in targets:
                outbox.offer(frame)
            self._note(send, frame)

    async def _number(self, send: Send, before: DocumentState) -> Frame:
        # a frame for one browser, or one that may be dropped, must not leave a gap for the others
        is_numbered = send.to == "all" and not isinstance(send.notice, PassShown)
        self.seq += is_numbered
        message = await _think(
            lambda: wire.frame_for(
                send.notice, seq=self.seq, before=before.text, after=self.state.text
            ),
            len(send.notice.edits) if isinstance(send.notice, EditsCommitted) else 1,
        )
        assert message is not None, "what the store answers has no frame here"
        frame = Frame.of(message)
        if is_numbered:
            self._recent.append(frame)
        return frame

    def _note(self, send: Send, frame: Frame) -> None:
        if frame.pass_of is not None:
            self._passes[frame.pass_of] = frame
        elif frame.ends_passes_of is not None:
            self._passes.pop(frame.ends_passes_of, None)
        if isinstance(send.notice, RunOver):
            over = send.notice
            total_s = over.total_ms / 1000
            self._context.figures.observe_run(
                over.run.state, over.stop_reason, over.run.passes, total_s
            )
            log.info(
                "run.ended",
                run_id=over.run.id,
                document_id=self.state.id,
                state=over.run.state,
                passes=over.run.passes,
                stop_reason=over.stop_reason,
                total_ms=round(over.total_ms, 1),
            )

    async def _answer_from_store(
        self, notice: MissingEdits | RunAgain | RevisionAgain, sender: Outbox | None
    ) -> None:
        if sender is None:
            return
        match notice:
            case MissingEdits():
                await self._send_missing(notice, sender)
            case RunAgain():
                row = await self._context.database.read(lambda db: runs.find_run(db, notice.run_id))
                for frame in wire.run_frames(row, op_id=notice.op_id, seq=self.seq):
                    sender.offer(Frame.of(frame))
            case RevisionAgain():
                revision = await self._context.database.read(
                    lambda db: edit_log.find_revision(db, self.state.id, notice.n)
                )
                written = RevisionWritten(revision, notice.op_id)
                sender.offer(self._unnumbered(written))

    def _unnumbered(self, notice: Notice) -> Frame:
        message = wire.frame_for(notice, seq=self.seq, before="", after=self.state.text)
        assert message is not None, "what the store answers has no frame here"
        return Frame.of(message)

    async def _send_missing(self, missing: MissingEdits, sender: Outbox) -> None:
        state = self.state
        text, edits = state.text, list[Edit]()
        if missing.since_version < state.version:
            text, edits = await self._edits_since(missing.since_version)
        sender.offer(
            Frame.of(
                Edited(
                    seq=self.seq,
                    version=state.version,
                    updates=updates_to_wire(edits, text),
                    hash=state.hash,
                    op_id=missing.op_id,
                    cause=missing.cause,
                )
            )
        )

    async def _edits_since(self, version: int) -> tuple[str, list[Edit]]:
        """Return the text at `version` and what was committed after it."""

        def read(db: Connection) -> tuple[str, list[Edit]]:
            text = edit_log.rebuild_text(db, self.state.id, version).text
            return text, list(edit_log.edits_after(db, self.state.id, version))

        return await self._context.database.read(read)

    async def _welcome(self, outbox: Outbox, greeting: Greeting) -> None:
        missed = self._missed(greeting)
        updates = await self._updates_for(greeting)
        revisions = await self._context.database.read(
            lambda db: edit_log.newest_revisions(db, self.state.id)
        )
        is_resumed = updates is not None or missed is not None
        fields = wire.snapshot_fields(self.state) | {
            "epoch": self.epoch,
            "seq": self.seq if missed is None else greeting.since,
            "resumed": is_resumed,
            "updates": updates or [],
            "revisions": [revision_to_wire(revision) for revision in revisions],
            "worker": self._context.worker_state(),
        }
        if is_resumed:
            fields["text"] = None
        outbox.offer(Frame.of(Welcome.model_validate(fields)))
        for kept in [*(missed or ()), *self._passes.values()]:
            outbox.offer(kept)
        self._outboxes.add(outbox)

    async def _updates_for(self, greeting: Greeting) -> list[UpdateWire] | None:
        """Return what leads from the version a browser holds to the head; None: send all text."""
        version = greeting.version
        if version is None or not 0 <= self.state.version - version <= MAX_CATCH_UP_EDITS:
            return None
        text, edits = await self._edits_since(version)
        return updates_to_wire(edits, text)

    def _missed(self, greeting: Greeting) -> list[Frame] | None:
        """Return the kept frames after `since`, or None when they do not reach back so far."""
        since = greeting.since
        if greeting.version is not None or since is None or greeting.epoch != self.epoch:
            return None
        missed = [frame for frame in self._recent if frame.seq is not None and frame.seq > since]
        is_whole = len(missed) == self.seq - since
        return missed if is_whole else None

    def _seal_later(self) -> None:
        self._quiet = None
        self._keep(asyncio.create_task(self._seal_quietly()))

    async def _seal_quietly(self) -> None:
        try:
            await self.seal()
        except Exception:  # a timer's rim: the typing itself is stored, the next seal tries again
            log.warning("room.seal_failed", document_id=self.state.id, exc_info=True)

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _weight(command: Command) -> int:
    """Return how much a command has to go through, counted in updates."""
    if isinstance(command, ApplyEdit):
        return len(command.changes)
    if isinstance(command, RunSucceeded):  # the facts of every filling are compared
        return MANY_UPDATES + 1
    return 1


async def _think(work: Callable[[], T], num_updates: int) -> T:
    """Return what `work`, which is pure, gives; off the event loop when it goes through much.

    Other documents are served meanwhile. For a keystroke a thread would cost more than it saves.
    """
    return await asyncio.to_thread(work) if num_updates > MANY_UPDATES else work()
