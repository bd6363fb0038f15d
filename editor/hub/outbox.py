"""What waits to be sent to one browser: frames that matter in order, passes latest-wins.

One outbox per connection, so a browser that does not read delays nobody but itself. Frames are
JSON already, made once for all connections. Invariants: a frame that matters is never skipped
(the outbox closes instead), a pass frame never follows the end of its run, and pass frames
leave at most 20 times a second. A pass that waits is thrown away when its run ends or yields
a region, so that nothing of it is shown afterwards.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from editor.protocol.messages import PassFrame, RegionDropped, RunEnded, ServerMessage

__all__ = ["Frame", "Outbox"]

MAX_FRAMES = 512
MAX_WAITING_CHARACTERS = 16_000_000
MIN_PASS_GAP_S = 0.05


@dataclass(frozen=True, slots=True)
class Frame:
    """One message in JSON. `pass_of` names the run when a newer pass may replace it.

    `ends_passes_of` names the run whose passes of before must not be shown any more.
    """

    json: str
    seq: int | None = None
    pass_of: str | None = None
    ends_passes_of: str | None = None

    @staticmethod
    def of(message: ServerMessage) -> Frame:
        """Encode a message once, for every browser it goes to."""
        return Frame(
            json=message.model_dump_json(by_alias=True),
            seq=getattr(message, "seq", None),
            pass_of=message.run_id if isinstance(message, PassFrame) else None,
            ends_passes_of=(
                message.run_id if isinstance(message, RunEnded | RegionDropped) else None
            ),
        )


class Outbox:
    """Bounded queue of one connection; `offer` never waits, `take` does."""

    def __init__(self, *, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._frames: deque[Frame] = deque()
        self._num_characters = 0
        self._passes: dict[str, Frame] = {}
        self._next_pass_s = 0.0
        self._wake = asyncio.Event()
        self._overrun = asyncio.Event()
        self._is_closed = False
        self.num_replaced = 0

    @property
    def is_overrun(self) -> bool:
        """True once the reader was too far behind; nothing more is queued or taken then."""
        return self._overrun.is_set()

    def offer(self, frame: Frame) -> None:
        """Queue a frame; when the reader is too far behind, mark the outbox as overrun."""
        if self.is_overrun or self._is_closed:
            return
        if frame.pass_of is not None:
            self.num_replaced += frame.pass_of in self._passes
            self._passes[frame.pass_of] = frame
        else:
            if frame.ends_passes_of is not None:
                self._passes.pop(frame.ends_passes_of, None)
            self._frames.append(frame)
            self._num_characters += len(frame.json)
            if len(self._frames) > MAX_FRAMES or self._num_characters > MAX_WAITING_CHARACTERS:
                self._overrun.set()
        self._wake.set()

    async def take(self) -> str | None:
        """Return the next frame's JSON when there is one; None once nothing more will come."""
        while not self.is_overrun:
            if self._frames:
                frame = self._frames.popleft()
                self._num_characters -= len(frame.json)
                return frame.json
            if self._is_closed:
                return None
            wait_s = self._next_pass_s - self._now_s() if self._passes else None
            if wait_s is not None and wait_s <= 0:
                self._next_pass_s = self._now_s() + MIN_PASS_GAP_S
                return self._passes.pop(next(iter(self._passes))).json
            self._wake.clear()
            await self._wait(wait_s)
        return None

    def close(self) -> None:
        """Take no more frames; those that matter are still handed out."""
        self._is_closed = True
        self._wake.set()

    async def wait_overrun(self) -> None:
        """Return once the outbox is overrun."""
        await self._overrun.wait()

    async def _wait(self, wait_s: float | None) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), wait_s)
        except TimeoutError:
            return
