"""What waits to be sent to one client: bounded, pass events latest-wins.

Pure. Drafts are cumulative, so a newer PassCompleted of a job makes an older unsent one
worthless; everything else is kept in order and never dropped.
"""

from __future__ import annotations

from engine.contract import FromWorker, JobFailed, JobFinished, PassCompleted

__all__ = ["Outbox"]


class Outbox:
    """A queue of messages in order; `is_full` says that the client has stopped reading."""

    def __init__(self, max_messages: int) -> None:
        self._max_messages = max_messages
        self._messages: dict[int, FromWorker] = {}
        self._next = 0
        self._pass_of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def is_full(self) -> bool:
        return len(self._messages) >= self._max_messages

    def put(self, message: FromWorker) -> None:
        """Append a message; a pass replaces its job's unsent pass, an end removes it."""
        if isinstance(message, PassCompleted | JobFinished | JobFailed):
            unsent = self._pass_of.pop(message.job_id, None)
            if unsent is not None:
                self._messages.pop(unsent, None)
        self._messages[self._next] = message
        if isinstance(message, PassCompleted):
            self._pass_of[message.job_id] = self._next
        self._next += 1

    def take(self) -> FromWorker | None:
        """Remove and return the oldest message, None when there is none."""
        if not self._messages:
            return None
        place = next(iter(self._messages))
        message = self._messages.pop(place)
        if isinstance(message, PassCompleted):
            self._pass_of.pop(message.job_id, None)
        return message
