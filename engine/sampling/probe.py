"""The first pass of a window: one all-masked canvas per candidate length, scored as a batch.

The kept lengths' canvases have not changed since, so the probe is their first pass too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.canvas.canvas import Canvas
from engine.canvas.layout import Window
from engine.canvas.length import rank_lengths
from engine.denoisers.base import Context, Denoiser
from engine.sampling.admissible import Admissible
from engine.sampling.beliefs import Beliefs, score_canvas
from engine.sampling.calibration import Calibration
from engine.sampling.drawing import Draw
from engine.sampling.forms import RegionForm
from engine.sampling.policies import Sampler
from engine.sampling.randomness import CounterHash
from engine.sampling.vocabulary import Vocabulary

__all__ = ["Given", "WindowTask", "probe_lengths"]


@dataclass(frozen=True, slots=True)
class Given:
    """Existing text laid into a part: its tokens, and which of them are to be rewritten."""

    tokens: tuple[int, ...]
    masked: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class WindowTask:
    """What a window run needs: P parts, their context, and how to fill them."""

    denoiser: Denoiser
    context: Context
    window: Window
    words: Vocabulary
    sampler: Sampler
    lengths: tuple[tuple[int, ...], ...]  # [P] candidate lengths of each part
    hints: tuple[int | None, ...]  # [P] expected length in tokens, None = unknown
    given: dict[int, Given]  # by part; such a part has one candidate length
    texts: tuple[tuple[str, str], ...]  # [P] text beside each part: before, after
    used: frozenset[int]  # tokens of the job's earlier fills
    may_stabilise: tuple[bool, ...]  # [P] whether a prefix may be promised before the end
    random: CounterHash
    trace_key: bytes
    calibration: Calibration = field(default_factory=Calibration)
    forms: tuple[RegionForm, ...] = ()  # of constrained regions, parts numbered as here
    rooms: tuple[int, ...] = ()  # [P] slots that each part may grow by; empty: none
    # The same window with other widths [P]: a canvas that grows needs more room for positions.
    relay: Callable[[Sequence[int]], tuple[Window, Context]] | None = None


def probe_lengths(
    task: WindowTask, admissible: Admissible
) -> tuple[Canvas, Beliefs | None, list[Draw]]:
    """Return the candidates to denoise, what the probe said of them, and how each draws.

    Row r takes every part's r-th best length; sampled rows follow and start again from the
    best. Beliefs are None when nothing is masked. Costs one NFE for each candidate length.
    """
    count = max(len(lengths) for lengths in task.lengths)
    tried = [[_clamped(lengths, row) for lengths in task.lengths] for row in range(count)]
    probe = _blank_canvas(task, tried)
    if not bool(probe.masked.any()):
        return _blank_canvas(task, tried[:1]), None, [_draw(task, 0, 0.0)]
    beliefs = score_canvas(
        task.denoiser,
        task.context,
        probe,
        admissible,
        calibration=task.calibration,
        guidance=task.sampler.guidance,
    )
    ranked = [_rank_lengths(task, beliefs, part) for part in range(len(task.lengths))]
    num_greedy = min(task.sampler.num_lengths, max(len(item) for item in ranked))
    picks = [
        [_clamped(item, row % num_greedy) for item in ranked]
        for row in range(num_greedy + task.sampler.num_samples)
    ]
    sources = [[tried_row(tried, part, n) for part, n in enumerate(pick)] for pick in picks]
    canvas = _blank_canvas(task, picks)
    heat = task.sampler.sample_temperature
    draws = [_draw(task, row, heat if row >= num_greedy else 0.0) for row in range(len(picks))]
    return canvas, beliefs.gather(sources, canvas.tokens.shape[-1]), draws


def tried_row(tried: Sequence[Sequence[int]], part: int, length: int) -> int:
    """Return the first probe row in which `part` had `length` slots."""
    return next(row for row, lengths in enumerate(tried) if lengths[part] == length)


def _blank_canvas(task: WindowTask, rows: Sequence[Sequence[int]]) -> Canvas:
    canvas = Canvas.masked_out(task.window, rows)
    for part, given in task.given.items():
        canvas.give(part, given.tokens, given.masked)
    return canvas


def _rank_lengths(task: WindowTask, beliefs: Beliefs, part: int) -> tuple[int, ...]:
    lengths = task.lengths[part]
    means = []
    for row in range(len(lengths)):
        found = beliefs.row[row, part]
        best = beliefs.best_logprob[found[found >= 0], 0]
        means.append(float(best.mean()) if best.numel() else 0.0)
    return rank_lengths(task.sampler.length_prior, means, lengths, task.hints[part])


def _draw(task: WindowTask, row: int, temperature: float) -> Draw:
    sampler = task.sampler
    return Draw(row, sampler.temperature or temperature, sampler.drawing, task.random)


def _clamped(items: Sequence[int], index: int) -> int:
    return items[min(index, len(items) - 1)]
