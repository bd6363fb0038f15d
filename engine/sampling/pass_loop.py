"""The loop of one window: probe lengths, then pass by pass until it settles or must end.

A generator, so that whoever drives it decides between passes what happens next: at most one
forward over the canvases runs between two `next` calls (two where new tokens are re-scored).
Not asking again is how a run is cancelled. It must not know jobs, sockets or other windows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from engine.canvas.canvas import Canvas
from engine.contract import StopReason
from engine.sampling.admissible import Admissible
from engine.sampling.beliefs import Beliefs, drift_between, score_canvas
from engine.sampling.commitment import SlotScores
from engine.sampling.drafts import fill_text
from engine.sampling.drawing import Draw
from engine.sampling.forms import FormKeeper
from engine.sampling.growth import plan_growth
from engine.sampling.offers import Settled, settle_part
from engine.sampling.probe import WindowTask, probe_lengths
from engine.sampling.proposals import begin_in_turn, fill_masks, propose, without_clashes
from engine.sampling.randomness import throw_dice
from engine.sampling.ranking import rank_fills
from engine.sampling.reports import PassReport, Reporter
from engine.sampling.revising import Positions, Reviser
from engine.sampling.stopping import Budget

__all__ = ["WindowResult", "WindowRun"]

DICE_SALT = 0


@dataclass(slots=True)
class WindowResult:
    """Fills of every candidate c and part p, and the candidate of each part to offer first."""

    texts: list[list[str]] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)
    confidence: list[list[float]] = field(default_factory=list)
    num_tokens: list[list[int]] = field(default_factory=list)
    leaders: list[int] = field(default_factory=list)
    passes: int = 0
    nfe: int = 0  # forwards charged to a canvas
    grown: int = 0  # slots given beyond the lengths that were tried
    positions: Positions | None = None  # that stood out while revising
    stop_reason: StopReason = StopReason.SETTLED

    def join(self, other: WindowResult, *, leaders: list[int]) -> None:
        """Add the candidates of another run of the same window; `leaders` are the new ones."""
        self.texts += other.texts
        self.scores += other.scores
        self.confidence += other.confidence
        self.num_tokens += other.num_tokens
        self.leaders = leaders
        self.passes += other.passes
        self.nfe += other.nfe
        self.grown += other.grown


class WindowRun:
    """State of one window between passes."""

    def __init__(self, task: WindowTask, budget: Budget, now_s: Callable[[], float]) -> None:
        self.result = WindowResult()
        self._task = task
        self._budget = budget
        self._now_s = now_s
        self._admissible = Admissible(
            task.window,
            task.words,
            has_pad=task.denoiser.capabilities.has_pad,
            used=task.used,
            lengths=() if task.forms else task.lengths,
        )
        prefixes = [part.prefix for part in task.window.parts]
        self._forms = FormKeeper(task.forms, prefixes, task.words)
        self._reviser = Reviser(task, self._admissible)
        self._earlier: Beliefs | None = None  # of the pass before
        self._leaders: list[int] | None = None
        self._scores: list[list[float]] | None = None  # of the finished candidates
        self._draft: tuple[Canvas, Reporter] | None = None
        self._grown: dict[int, int] = {}  # by part, the candidate that has grown

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """What stands beside each part: before, after."""
        return self._task.texts

    def settled(self) -> list[Settled | None]:
        """Return what has settled of each part's shown candidate."""
        task = self._task
        if self._draft is None:
            return [None] * len(task.window.parts)
        canvas, reporter = self._draft
        rows = self._leaders or [0] * len(task.window.parts)
        return [
            settle_part(
                part,
                canvas.part_tokens(row, index),
                reporter.confidence[row, index].tolist(),
                task.words,
                given=task.given.get(index),
            )
            for index, (part, row) in enumerate(zip(task.window.parts, rows, strict=True))
        ]

    def run(self) -> Iterator[PassReport]:
        """Yield after every pass; `result` is complete when the iterator ends."""
        task, result = self._task, self.result
        started_s = self._now_s()
        canvas, beliefs, draws = probe_lengths(task, self._admissible)
        reporter = Reporter(task, canvas)
        self._draft = canvas, reporter
        if task.sampler.leader_ratio == 0.0:
            self._leaders = [0] * len(task.window.parts)  # the probe puts its best length first
        while beliefs is not None:
            result.passes += 1
            result.nfe += beliefs.nfe
            scores = propose(beliefs, canvas, draws, pad=task.words.pad, pass_index=result.passes)
            scores = self._measured(scores, beliefs)
            scores, held = self._forms.hold(
                scores, beliefs, canvas, draws, pass_index=result.passes
            )
            chosen = self._choose(scores, canvas)
            is_last = bool((chosen == scores.masked).all())
            reason = None if is_last else self._end_reason(scores, canvas, chosen)
            if reason is not None:
                scores, chosen = (
                    fill_masks(scores, beliefs, canvas, self._admissible, held=held),
                    scores.masked,
                )
            scores = self._reviser.end_oscillation(scores, chosen, canvas, beliefs, held)
            canvas.commit(chosen, scores.token, task.words.pad)
            revised = (0, 0)
            if reason is None and self._reviser.may_change and not self._is_over():
                revised = self._reviser.revise(canvas, chosen, held, pass_index=result.passes)
            if reason is None and not bool(canvas.masked.any()):
                reason = StopReason.SETTLED
            self._choose_leaders(canvas, scores, beliefs, held)
            reporter.note(scores, chosen)
            pass_ms = (self._now_s() - started_s) * 1e3
            report = reporter.report(
                canvas, scores, self._leaders, revised=revised, pass_ms=pass_ms
            )
            if self._reviser.may_change:
                canvas.freeze(reporter.promised(canvas, self._leaders))
            yield report
            if reason is StopReason.SETTLED and (grown := self._grow(canvas, draws, reporter)):
                canvas, draws = grown
            elif reason is not None:
                result.stop_reason = reason
                break
            started_s = self._now_s()
            beliefs = score_canvas(
                task.denoiser,
                self._task.context,
                canvas,
                self._admissible,
                calibration=task.calibration,
                guidance=task.sampler.guidance,
            )
        result.nfe += self._reviser.nfe
        result.positions = self._reviser.positions()
        self._finish(canvas, reporter.confidence)

    def _grow(
        self, canvas: Canvas, draws: list[Draw], reporter: Reporter
    ) -> tuple[Canvas, list[Draw]] | None:
        """Return the canvas with more slots for texts that are cut short, None where none is.

        What grows is a further candidate, so that the text as it was stands beside it and the
        join decides; what was promised as stable is the beginning of both.
        """
        task, leaders = self._task, self._leaders
        if task.relay is None or leaders is None:
            return None
        rows = self._grown or dict(enumerate(leaders))
        longest = [max(lengths) for lengths in task.lengths]
        more = plan_growth(canvas, rows, task.words, longest=longest, rooms=task.rooms)
        if not more or self._is_over():
            return None
        if not self._grown:
            sources = [*range(canvas.num_candidates), *(rows[one.part] for one in more)]
            self._grown = {one.part: len(draws) + place for place, one in enumerate(more)}
            reporter.follow(sources)
            canvas = canvas.select(sources)
            draws = [
                replace(draws[source], candidate_key=key) for key, source in enumerate(sources)
            ]
        for one in more:
            canvas.grow(self._grown[one.part], one.part, one.num_slots)
            self.result.grown += one.num_slots
        canvas.window, context = task.relay(canvas.lengths.amax(0).tolist())
        self._task = replace(task, window=canvas.window, context=context)
        self._reviser.move_to(self._task)
        self._draft, self._scores = (canvas, reporter), None
        return canvas, draws

    def _is_over(self) -> bool:
        return self._budget.reason(self.result.passes, self._now_s()) is not None

    def _end_reason(self, scores: SlotScores, canvas: Canvas, chosen: Tensor) -> StopReason | None:
        task = self._task
        over = self._budget.reason(self.result.passes, self._now_s())
        if over is not None:
            return over
        rows = self._leaders or [0] * len(task.window.parts)
        still_open = scores.masked & ~chosen
        num_open = sum(int(still_open[row, part].sum()) for part, row in enumerate(rows))
        if task.sampler.stop_when.is_met(num_open):
            return StopReason.STRUCTURE
        settled = 1.0 - float(scores.masked.sum()) / int(canvas.lengths.sum())
        mean_gap = float(scores.gap[scores.masked].mean())
        if task.sampler.early_answer.is_met(mean_gap, settled):
            return StopReason.EARLY_ANSWER
        return None

    def _measured(self, scores: SlotScores, beliefs: Beliefs) -> SlotScores:
        """Add what the commitment rule asks for beside the scores."""
        rule = self._task.sampler.commitment
        if rule.needs_drift:
            scores = replace(scores, drift=drift_between(self._earlier, beliefs))
            self._earlier = beliefs
        if rule.needs_dice:
            shape = scores.masked.shape
            dice = throw_dice(self._task.random, shape, self.result.passes, DICE_SALT)
            scores = replace(scores, dice=dice)
        return scores

    def _choose(self, scores: SlotScores, canvas: Canvas) -> Tensor:
        sampler, number = self._task.sampler, self.result.passes
        flat = scores.flatten()
        num_masked = flat.masked.sum(-1)
        slots = canvas.lengths.flatten().tolist()
        floors = torch.ones_like(num_masked)
        pace = sampler.num_passes(int(canvas.lengths.max()))
        for limit in (pace, self._budget.max_passes):
            # In the budget's last pass the rule chooses freely: what it leaves over is filled
            # all the same, and the stop reason tells that there was something.
            if number < limit or limit == pace:
                counts = [
                    sampler.schedule.at_least(masked, size, pass_index=number, num_passes=limit)
                    for masked, size in zip(num_masked.tolist(), slots, strict=True)
                ]
                floors = torch.maximum(floors, torch.tensor(counts))
        chosen = sampler.commitment.choose(flat, floors)
        fair = without_clashes(chosen.view(scores.masked.shape), scores, canvas, self._admissible)
        return begin_in_turn(fair, scores, canvas) if sampler.begins_in_turn else fair

    def _choose_leaders(
        self, canvas: Canvas, scores: SlotScores, beliefs: Beliefs, held: Tensor
    ) -> None:
        """Choose, once, the candidate of each part that is shown and offered first.

        After that the stable prefix is this candidate's settled prefix: it cannot retract,
        because settled slots are frozen and the leader is not changed again.
        """
        sampler = self._task.sampler
        num_left = canvas.masked.sum(-1)
        if not bool(num_left.any()):
            self._scores = self._rank(canvas)
            self._leaders = self._leaders or best_rows(self._scores)
            return
        is_ready = float((num_left / canvas.lengths).max()) <= 1.0 - sampler.leader_ratio
        is_long = int(canvas.lengths.max()) >= sampler.leader_min_slots
        if self._leaders is not None or not (is_ready and is_long):
            return
        draft = canvas.select(range(canvas.num_candidates))
        left = scores.over(draft.masked)
        filled = fill_masks(left, beliefs, draft, self._admissible, held=held)
        draft.commit(draft.masked, filled.token, self._task.words.pad)
        self._leaders = best_rows(self._rank(draft))

    def _rank(self, canvas: Canvas) -> list[list[float]]:
        task = self._task
        return rank_fills(
            task.denoiser,
            task.context,
            task.window,
            _tokens(canvas),
            texts=task.texts,
            words=task.words,
            weights=task.sampler.ranking,
        )

    def _finish(self, canvas: Canvas, confidence: Tensor) -> None:
        result, parts = self.result, self._task.window.parts
        result.scores = self._scores or self._rank(canvas)
        result.leaders = list(self._leaders or best_rows(result.scores))
        for part, row in self._grown.items():
            result.leaders[part] = max(
                result.leaders[part], row, key=lambda one: result.scores[one][part]
            )
        for row, fills in enumerate(_tokens(canvas)):
            result.texts.append(
                [fill_text(parts[i], fill, self._task.words) for i, fill in enumerate(fills)]
            )
            result.num_tokens.append([len(fill) for fill in fills])
            result.confidence.append(
                [_mean_positive(confidence[row, part]) for part in range(len(parts))]
            )


def best_rows(scores: list[list[float]]) -> list[int]:
    """Return the row with the highest score for each part; the earliest of equals."""
    parts = range(len(scores[0]))
    return [max(range(len(scores)), key=lambda row: (scores[row][p], -row)) for p in parts]


def _tokens(canvas: Canvas) -> list[list[list[int]]]:
    parts = range(len(canvas.window.parts))
    return [
        [[t for t in canvas.part_tokens(row, part) if t is not None] for part in parts]
        for row in range(canvas.num_candidates)
    ]


def _mean_positive(values: Tensor) -> float:
    """Mean over slots that were committed; 1 where all text was given."""
    own = values[values > 0]
    return float(own.mean()) if own.numel() else 1.0
