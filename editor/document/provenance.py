"""Where every character of a text came from, read from the log of edits.

Owns the runs of origin and how an edit moves them. The log is the only source: nothing else
remembers an origin, so what this says can be rebuilt at any time. Knows no storage. Offsets are
code points; runs lie in order, touch, cover the text, and no two neighbours say the same.

An undo is an edit like any other, and the log does not say what it undid. What an edit deleted
is therefore remembered for a while, with its origins: an insertion of exactly that text, at its
old place or long enough not to be chance, gets them back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from editor.document.changes import Change, ChangeSet
from editor.errors import InvalidInput

__all__ = [
    "TYPED",
    "EditOrigin",
    "LoggedEdit",
    "Origin",
    "OriginKind",
    "OriginRun",
    "check_runs",
    "trace_origins",
]

OriginKind = Literal["typed", "pasted", "import", "template", "model", "restore"]

MAX_REMEMBERED = 64  # deletions an undo may bring back with their origins
SURE_CODE_POINTS = 8  # so long a text that comes back elsewhere is no chance


@dataclass(frozen=True, slots=True)
class Origin:
    """Where text came from; `run_id` only for "model"."""

    kind: OriginKind
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class OriginRun:
    """A stretch [start, end) of one origin."""

    start: int
    end: int
    kind: OriginKind
    run_id: str | None = None

    @property
    def origin(self) -> Origin:
        return Origin(self.kind, self.run_id)


@dataclass(frozen=True, slots=True)
class EditOrigin:
    """What an edit of the log says of the text it put in.

    `written` are stretches of the text *after* the edit that a model wrote; `restored` is the
    version whose text the edit brought back. All else that was inserted is `kind`.
    """

    kind: OriginKind = "typed"
    written: tuple[OriginRun, ...] = ()
    restored: int | None = None


TYPED = EditOrigin()


@dataclass(frozen=True, slots=True)
class LoggedEdit:
    """What tracing needs of an edit that led to `version`."""

    version: int
    changes: ChangeSet
    origin: EditOrigin


# Lengths and origins in order: the working form of runs.
_Pieces = list[tuple[int, Origin]]


def trace_origins(
    text: str, first: Sequence[OriginRun], edits: Iterable[LoggedEdit]
) -> tuple[OriginRun, ...]:
    """Return the origins of the text that `edits` lead to from `text`, whose origins are `first`.

    A restore brings back the origins its text had at the restored version. Cost: linear in the
    edits times the number of runs.
    """
    pieces: _Pieces = [(run.end - run.start, run.origin) for run in first]
    edits = list(edits)
    wanted = {edit.origin.restored for edit in edits} - {None}
    seen: dict[int, _Pieces] = {0: pieces} if 0 in wanted else {}
    memory = _Memory()
    for edit in edits:
        after = edit.changes.apply(text)
        earlier = None if edit.origin.restored is None else seen.get(edit.origin.restored)
        if earlier is not None and sum(length for length, _ in earlier) == len(after):
            pieces, memory = earlier, _Memory()
        else:
            pieces = _carry(pieces, edit, text, memory)
        text = after
        if edit.version in wanted:
            seen[edit.version] = pieces
    return _runs(pieces)


def check_runs(runs: Sequence[OriginRun], length: int) -> None:
    """Accept origins that came from outside, for a text of `length` code points.

    Raises: InvalidInput unless they lie in order, touch and cover the text.
    """
    position = 0
    for run in runs:
        if run.start != position or run.end <= run.start:
            raise InvalidInput(
                f"the origins must touch and lie in order; one begins at {run.start} "
                f"where {position} is due"
            )
        if (run.kind == "model") != (run.run_id is not None):
            raise InvalidInput(f'the origin at {run.start} needs a run_id only if it is "model"')
        position = run.end
    if position != length:
        raise InvalidInput(f"the origins cover {position} code points; the text has {length}")


def _carry(pieces: _Pieces, edit: LoggedEdit, text: str, memory: _Memory) -> _Pieces:
    result: _Pieces = []
    position = 0
    can_recall = edit.origin.kind == "typed" and not edit.origin.written
    for change in edit.changes.changes:
        result += _slice(pieces, position, change.start)
        known = memory.recall(change) if can_recall and change.inserted else None
        origins = _slice(pieces, change.start, change.end)
        memory.note(change, text[change.start : change.end], origins)
        result += known if known is not None else _inserted(change, edit.origin)
        position = change.end
    result += _slice(pieces, position, edit.changes.length)
    return _joined(result)


def _inserted(change: Change, origin: EditOrigin) -> _Pieces:
    """Return the origins of what a change put in: the model's stretches, and `kind` between."""
    pieces: _Pieces = []
    position, end = change.new_start, change.new_end
    for run in origin.written:
        start, stop = max(run.start, position), min(run.end, end)
        if start >= stop:
            continue
        pieces += [(start - position, Origin(origin.kind))] if start > position else []
        pieces.append((stop - start, run.origin))
        position = stop
    return [*pieces, (end - position, Origin(origin.kind))] if end > position else pieces


@dataclass(frozen=True, slots=True)
class _Deletion:
    """A text that was taken out at `position`, with the origins it had.

    `stays`: the next insertion at its place goes behind it, not before.
    """

    position: int
    text: str
    origins: tuple[tuple[int, Origin], ...]
    stays: bool = False


class _Memory:
    """What was deleted lately, the newest last; places move with the text."""

    def __init__(self) -> None:
        self._deletions: list[_Deletion] = []
        self._can_go_on = False  # the newest was a deletion and nothing else

    def recall(self, change: Change) -> _Pieces | None:
        """Return the origins of a deleted text that comes back, and keep what is left of it."""
        for index in range(len(self._deletions) - 1, -1, -1):
            deletion, inserted = self._deletions[index], change.inserted
            is_here = deletion.position == change.new_start
            is_whole = deletion.text == inserted
            if is_whole and (is_here or len(inserted) >= SURE_CODE_POINTS):
                del self._deletions[index]
                return list(deletion.origins)
            if not is_here:
                continue
            # Held Backspace was undone in part: its first characters, or its last, are back.
            size, length = len(inserted), len(deletion.text)
            if deletion.text.startswith(inserted):
                rest, back = (size, length), (0, size)
            elif deletion.text.endswith(inserted):
                rest, back = (0, length - size), (length - size, length)
            else:
                continue
            origins = list(deletion.origins)
            self._deletions[index] = replace(
                deletion,
                text=deletion.text[rest[0] : rest[1]],
                origins=tuple(_slice(origins, *rest)),
                stays=rest[0] == 0,
            )
            return _slice(origins, *back)
        return None

    def note(self, change: Change, removed: str, origins: _Pieces) -> None:
        """Remember what a change took out, and move the places of the others through it."""
        at, old_end = change.new_start, change.new_start + len(removed)
        last = self._deletions[-1] if self._deletions and self._can_go_on else None
        goes_on = last is not None and not change.inserted and last.position in (at, old_end)
        if goes_on and last is not None:
            self._deletions.pop()
            if last.position == old_end:
                removed, origins = removed + last.text, [*origins, *last.origins]
            else:
                removed, origins = last.text + removed, [*last.origins, *origins]
        self._deletions = [_moved(one, at, old_end, change.new_end) for one in self._deletions]
        if removed:
            self._deletions.append(_Deletion(at, removed, tuple(origins)))
            del self._deletions[:-MAX_REMEMBERED]
        self._can_go_on = bool(removed) and not change.inserted


def _moved(deletion: _Deletion, at: int, old_end: int, new_end: int) -> _Deletion:
    if deletion.stays:
        return replace(deletion, stays=False)
    if deletion.position >= old_end:
        return replace(deletion, position=deletion.position + new_end - old_end)
    return replace(deletion, position=at) if deletion.position > at else deletion


def _slice(pieces: _Pieces, start: int, end: int) -> _Pieces:
    result: _Pieces = []
    position = 0
    for length, origin in pieces:
        low, high = max(start, position), min(end, position + length)
        if low < high:
            result.append((high - low, origin))
        position += length
        if position >= end:
            break
    return result


def _joined(pieces: _Pieces) -> _Pieces:
    result: _Pieces = []
    for length, origin in pieces:
        if result and result[-1][1] == origin:
            result[-1] = (result[-1][0] + length, origin)
        elif length:
            result.append((length, origin))
    return result


def _runs(pieces: _Pieces) -> tuple[OriginRun, ...]:
    runs: list[OriginRun] = []
    position = 0
    for length, origin in _joined(pieces):
        runs.append(OriginRun(position, position + length, origin.kind, origin.run_id))
        position += length
    return tuple(runs)
