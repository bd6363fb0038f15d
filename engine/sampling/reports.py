"""What is told of a window after each pass: drafts, the stable prefix, one record.

Remembers only what was told before: the shown tokens (to count changes) and what was
promised as stable (which never shrinks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.canvas.canvas import Canvas
from engine.canvas.parts import Part
from engine.contract import PassRecord
from engine.sampling.commitment import SlotScores
from engine.sampling.drafts import PartDraft, common_prefix, draft_part, settled_text
from engine.sampling.probe import WindowTask
from engine.telemetry.trace import canvas_hash, record_pass

__all__ = ["PassReport", "Reporter"]

Shown = list[list[int | None]]


@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass did; drafts are those of the candidate to show for each part."""

    record: PassRecord
    drafts: tuple[PartDraft, ...]
    stable: tuple[int, ...]  # code points of each draft that will not change
    changed: int  # shown positions that differ from the last pass


class Reporter:
    """Makes the reports of one window."""

    def __init__(self, task: WindowTask, canvas: Canvas) -> None:
        self.confidence = torch.zeros(canvas.tokens.shape)  # of each slot when it was committed
        self._task = task
        self._shown: Shown = []
        self._promised = [0] * len(task.window.parts)
        self._passes = 0

    def follow(self, sources: Sequence[int]) -> None:
        """Go on with candidates that are copies of the named ones."""
        self.confidence = self.confidence[list(sources)]

    def note(self, scores: SlotScores, chosen: Tensor) -> None:
        """Remember how certain the chosen slots were."""
        missing = scores.confidence.shape[-1] - self.confidence.shape[-1]  # the canvas has grown
        known = torch.nn.functional.pad(self.confidence, (0, missing))
        self.confidence = torch.where(chosen, scores.confidence, known)
        self._chosen = int(chosen.sum())

    def report(
        self,
        canvas: Canvas,
        scores: SlotScores,
        leaders: Sequence[int] | None,
        *,
        revised: tuple[int, int],
        pass_ms: float,
    ) -> PassReport:
        """Return the report of the pass that was just applied to `canvas`.

        `revised` counts the slots that were masked again, and those that were exchanged.
        """
        self._passes += 1
        parts = self._task.window.parts
        rows = leaders or [0] * len(parts)
        values = torch.where(canvas.masked, scores.confidence, self.confidence)
        values = torch.where(canvas.frozen & (values == 0), 1.0, values)  # given text
        shown = [canvas.part_tokens(row, index) for index, row in enumerate(rows)]
        drafts = tuple(
            draft_part(part, shown[index], values[rows[index], index].tolist(), self._task.words)
            for index, part in enumerate(parts)
        )
        own = [values[row, part, : len(shown[part])] for part, row in enumerate(rows)]
        entropy = scores.entropy[scores.masked]
        record = record_pass(
            self._passes,
            (self._chosen, *revised, int(canvas.masked.sum())),
            # A draft whose every slot is PAD shows no token: nothing in it is in doubt.
            (_mean(torch.cat(own), empty=1.0), _mean(entropy, empty=0.0)),
            pass_ms=pass_ms,
            digest=canvas_hash(canvas.tokens, canvas.state, self._task.trace_key),
        )
        changed = _count_changes(self._shown, shown)
        self._shown = shown
        return PassReport(record, drafts, self._stable(canvas, drafts, leaders), changed)

    def promised(self, canvas: Canvas, leaders: Sequence[int] | None) -> Tensor:
        """Return the slots [C, P, L] that spell what was told as stable: they must not change."""
        chosen = torch.zeros(canvas.masked.shape, dtype=torch.bool)
        for index, part in enumerate(self._task.window.parts):
            rows = range(canvas.num_candidates) if leaders is None else [leaders[index]]
            for row in rows if self._promised[index] else ():
                tokens = canvas.part_tokens(row, index)
                chosen[row, index, : self._num_promised(part, tokens, self._promised[index])] = True
        return chosen & canvas.settled_prefix()

    def _num_promised(self, part: Part, tokens: Sequence[int | None], code_points: int) -> int:
        """Return how many tokens it takes; one whose first characters are promised counts."""
        for size in range(len(tokens)):
            if len(settled_text(part, [*tokens[:size], None], self._task.words)) >= code_points:
                return size
        return len(tokens)

    def _stable(
        self, canvas: Canvas, drafts: Sequence[PartDraft], leaders: Sequence[int] | None
    ) -> tuple[int, ...]:
        """Code points of each draft that are final: of the leader, or of all candidates alike."""
        for index, part in enumerate(self._task.window.parts):
            if not self._task.may_stabilise[index]:
                continue
            rows = range(canvas.num_candidates) if leaders is None else [leaders[index]]
            prefixes = [
                settled_text(part, canvas.part_tokens(row, index), self._task.words) for row in rows
            ]
            common = common_prefix(prefixes)
            assert drafts[index].text.startswith(common), "the shown draft holds what is stable"
            assert len(common) >= self._promised[index], "what was stable stays"
            self._promised[index] = len(common)
        return tuple(self._promised)


def _mean(values: Tensor, *, empty: float) -> float:
    """Return the mean, or `empty` where there are no values: torch's would be NaN."""
    return float(values.mean()) if values.numel() else empty


def _count_changes(before: Shown, after: Shown) -> int:
    if not before:
        return sum(token is not None for part in after for token in part)
    return sum(
        sum(a != b for a, b in zip(old, new, strict=False)) + abs(len(old) - len(new))
        for old, new in zip(before, after, strict=True)
    )
