"""One job from text to ranked alternatives, as a generator of events, one pass at a time.

Owns the order of things: plan, then window after window; earlier fills are context of later
windows. Nothing here waits, reads a clock by itself or knows a socket. Dropping the generator
cancels the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from engine.caching.contexts import ContextCache
from engine.canvas.layout import Window, lay_out_window
from engine.canvas.length import fit_width
from engine.contract import (
    JobEvent,
    JobFinished,
    JobStarted,
    PassCompleted,
    PassRecord,
    RefineJob,
    RegionResult,
    StopReason,
    Timings,
)
from engine.denoisers.base import Context, Denoiser
from engine.router import choose_route
from engine.sampling.autoregressive import CausalRun
from engine.sampling.calibration import Calibration
from engine.sampling.monitor import choose_again, loops
from engine.sampling.outcome import Outcome
from engine.sampling.pass_loop import WindowRun
from engine.sampling.plan import JobPlan, plan_job
from engine.sampling.policies import Sampler, resolve_sampler
from engine.sampling.probe import WindowTask
from engine.sampling.randomness import CounterHash
from engine.sampling.remasking import Monotone
from engine.sampling.reports import PassReport
from engine.sampling.stopping import Budget
from engine.sampling.strength import mask_weakest
from engine.sampling.vocabulary import Vocabulary
from engine.telemetry.card import ModelIdentity, make_card, text_digest

__all__ = ["JobRun", "Workshop", "cancelled_job", "check_runnable"]

MS_PER_S = 1000.0
NUM_CONTEXTS = 8  # about 7 MB each at 300 tokens
RETRY_SEED = 1 << 20  # far from the seeds of other windows
CLOCK = (StopReason.TIME_BUDGET, StopReason.DEADLINE)


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every job of a worker shares: the model and facts about the machine."""

    denoiser: Denoiser
    words: Vocabulary
    context_tokens: int  # per side
    identity: ModelIdentity
    versions: dict[str, str]
    trace_key: bytes
    now_s: Callable[[], float]
    contexts: ContextCache = field(default_factory=lambda: ContextCache(NUM_CONTEXTS))
    calibration: Calibration = field(default_factory=Calibration)


@dataclass(slots=True)
class _Progress:
    started_s: float
    passes: int = 0
    nfe: int = 0
    num_retries: int = 0
    num_loops: int = 0
    encode_ms: float = 0.0
    first_stable_ms: float | None = None
    reasons: list[StopReason] = field(default_factory=list)
    windows: list[dict[str, int]] = field(default_factory=list)
    telemetry: list[PassRecord] = field(default_factory=list)
    revision: list[dict[str, Any]] = field(default_factory=list)  # positions that stood out


def check_runnable(workshop: Workshop, job: RefineJob) -> None:
    """Refuse a job that could not be run. Raises: InvalidJob, or a kind of it. Costs no NFE."""
    has_causal = workshop.denoiser.capabilities.has_causal
    is_causal = choose_route(job.config, has_causal=has_causal).route == "autoregressive"
    resolve_sampler(job.config)
    plan_job(job, workshop.words.codec, is_causal=is_causal)


class JobRun:
    """A job being run. Raises InvalidJob (or a kind of it) when it cannot be."""

    def __init__(
        self,
        workshop: Workshop,
        job: RefineJob,
        *,
        queue_ms: float = 0.0,
        sampler: Sampler | None = None,
    ) -> None:
        """`sampler` stands in for what the job's settings resolve to: benchmarks compare rules."""
        self.job = job
        self._workshop = workshop
        self._queue_ms = queue_ms
        denoiser = workshop.denoiser
        self.route = choose_route(job.config, has_causal=denoiser.capabilities.has_causal).route
        self._is_causal = self.route == "autoregressive"
        self._sampler = sampler or resolve_sampler(job.config)
        self._plan: JobPlan = plan_job(job, workshop.words.codec, is_causal=self._is_causal)
        self._pass_limits = self._share_passes()
        self.max_passes = sum(self._pass_limits)
        self._outcome = Outcome(job, self._plan)
        self._progress = _Progress(started_s=workshop.now_s())
        self._open: tuple[Sequence[int], WindowRun | CausalRun] | None = None

    def events(self) -> Iterator[JobEvent]:
        """Yield JobStarted, a PassCompleted after every pass, and JobFinished."""
        steps = self._steps()
        while True:
            with torch.inference_mode():  # entered per step: a generator must not hold it
                event = next(steps, None)
            if event is None:
                return
            yield event

    def _steps(self) -> Iterator[JobEvent]:
        progress = self._progress
        yield JobStarted(self.job.job_id, self.route, self.max_passes, round(self._queue_ms, 3))
        for number, group in enumerate(self._plan.groups):
            run = self._open_window(number, group)
            self._open = group, run
            for report in run.run():
                self._outcome.note_drafts(group, report.drafts, report.stable)
                yield self._pass_completed(report)
            if self._should_retry(run):
                yield from self._try_again(number, group, run)
            progress.num_loops += loops(run.result, run.texts)
            self._outcome.note_window(group, run.result)
            self._open = None
            progress.reasons.append(run.result.stop_reason)
            progress.nfe += run.result.nfe
            progress.windows[number]["grown_slots"] = run.result.grown
            if run.result.positions is not None:
                progress.revision.append(run.result.positions.card())
        yield self._finished()

    def _should_retry(self, run: WindowRun | CausalRun) -> bool:
        """Whether even the best fill runs in circles and nothing limits another attempt."""
        is_free = self.job.config.steps is None and run.result.stop_reason is StopReason.SETTLED
        return is_free and loops(run.result, run.texts) > 0

    def _try_again(
        self, number: int, group: Sequence[int], run: WindowRun | CausalRun
    ) -> Iterator[JobEvent]:
        """Run a window once more with sampled candidates; what was shown stays meanwhile."""
        self._progress.num_retries += 1
        self.max_passes += self._pass_limits[number]
        again = self._open_window(number, group, attempt=1)
        for report in again.run():
            yield self._pass_completed(report)
        promised = [self._outcome.promised(index) for index in group]
        leaders = choose_again(run.result, again.result, run.texts, promised)
        run.result.join(again.result, leaders=leaders)

    def cancelled(self) -> JobFinished:
        """Return the end of a run that was stopped between passes: what its draft holds.

        Costs no NFE: what is offered has settled already, and is not judged.
        """
        settled = {}
        if self._open is not None:
            group, run = self._open
            self._progress.nfe += run.result.nfe
            found = zip(group, run.settled(), strict=True)
            settled = {index: one for index, one in found if one is not None}
        regions = self._outcome.stopped(settled, self.job.config.alternatives)
        num_tokens = sum(one.num_tokens for one in settled.values())
        return self._ended(StopReason.CANCELLED, regions, num_open=num_tokens)

    def _open_window(
        self, number: int, group: Sequence[int], *, attempt: int = 0
    ) -> WindowRun | CausalRun:
        shop, plan = self._workshop, self._plan
        started_s = shop.now_s()
        replaced = plan.replacements(group, self._outcome.fills)
        forms = plan.forms_within(group)
        # A form is kept by the canvas, whatever the route.
        is_causal = self._is_causal and not forms

        def lay_out(lengths: Sequence[int]) -> tuple[Window, Context]:
            window = lay_out_window(
                self.job.text,
                [plan.parts[index] for index in group],
                [fit_width(length) for length in lengths],
                codec=shop.words.codec,
                budget=shop.context_tokens,
                brief=self.job.config.brief,
                replaced=replaced,
            )
            return window, self._encode(window, is_causal=is_causal)

        window, context = lay_out([max(plan.lengths[index]) for index in group])
        # A second attempt has the same window again, and its context from the cache.
        del self._progress.windows[number:]
        self._progress.windows.append(
            {"left_tokens": len(window.left), "right_tokens": context.num_tokens - len(window.left)}
        )
        kept = {i: plan.kept[index] for i, index in enumerate(group) if index in plan.kept}
        task = WindowTask(
            denoiser=shop.denoiser,
            context=context,
            window=window,
            words=shop.words,
            sampler=self._sampler if attempt == 0 else self._sampler.heated(),
            lengths=tuple(plan.lengths[index] for index in group),
            hints=tuple(plan.hints[index] for index in group),
            given=mask_weakest(shop.denoiser, context, window, kept) if kept else {},
            texts=tuple(plan.beside(self.job.text, index, replaced) for index in group),
            used=self._used_tokens(),
            may_stabilise=tuple(
                not self.job.regions[plan.parts[index].region].constraints for index in group
            ),
            random=CounterHash(
                self.job.config.seed + number + attempt * RETRY_SEED, self._request_key()
            ),
            trace_key=shop.trace_key,
            calibration=shop.calibration,
            forms=forms,
            rooms=tuple(plan.rooms[index] for index in group),
            relay=lay_out,
        )
        self._progress.encode_ms += (shop.now_s() - started_s) * MS_PER_S
        budget = self._budget(number)
        if is_causal:
            rows = max(self.job.config.alternatives, 1)
            return CausalRun(task, budget, shop.now_s, num_rows=rows)
        return WindowRun(task, budget, shop.now_s)

    def _encode(self, window: Window, *, is_causal: bool) -> Context:
        denoiser = self._workshop.denoiser
        # The autoregressive route reads the left context only.
        count = len(window.left) if is_causal else len(window.tokens)
        tokens, positions = window.tokens[:count], window.positions[:count]
        return self._workshop.contexts.find(
            tokens,
            positions,
            lambda: denoiser.encode_context(
                torch.tensor(tokens, device=denoiser.device),
                torch.tensor(positions, device=denoiser.device),
            ),
        )

    def _used_tokens(self) -> frozenset[int]:
        """Tokens of the fills so far, as they read in the middle of a line."""
        codec = self._workshop.words.codec
        fills = self._outcome.fills.values()
        return frozenset(token for fill in fills for token in codec.encode(f" {fill}"))

    def _request_key(self) -> bytes:
        return text_digest(self.job.text).encode()

    def _share_passes(self) -> list[int]:
        """Passes each window may take: what it could need, within the user's `steps`."""
        needs = [min(self._sampler.max_passes, self._longest(group)) for group in self._plan.groups]
        steps = self.job.config.steps
        if steps is None:
            return needs
        if self._is_causal:
            return [steps] * len(needs)
        return [
            min(need, steps // len(needs) + (index < steps % len(needs)))
            for index, need in enumerate(needs)
        ]

    def _longest(self, group: Sequence[int]) -> int:
        """Return the passes a window takes that commits a slot a pass and revises an eighth."""
        slots = max(max(self._plan.lengths[i]) + self._plan.rooms[i] for i in group)
        waits = len(group) - 1 if self._sampler.begins_in_turn else 0
        revises = not isinstance(self._sampler.remasking, Monotone)
        return slots + waits + ((slots + 7) // 8 if revises else 0)

    def _budget(self, number: int) -> Budget:
        started_s = self._progress.started_s
        now_s, left = self._workshop.now_s(), len(self._plan.groups) - number
        config = self.job.config
        limit_s = None
        if config.time_budget_s is not None:
            # What is left is shared evenly, so that the last window gets its part too.
            rest_s = started_s + config.time_budget_s - now_s
            limit_s = now_s + max(0.0, rest_s) / left
        deadline_s = None
        if self.job.deadline_s is not None:
            rest_s = started_s + self.job.deadline_s - self._queue_ms / MS_PER_S - now_s
            deadline_s = now_s + max(0.0, rest_s) / left
        return Budget(self._pass_limits[number], limit_s, deadline_s)

    def _pass_completed(self, report: PassReport) -> PassCompleted:
        progress = self._progress
        progress.passes += 1
        progress.telemetry.append(report.record)
        drafts = self._outcome.region_drafts()
        if progress.first_stable_ms is None and any(draft.stable_prefix for draft in drafts):
            progress.first_stable_ms = self._since()
        record = report.record
        return PassCompleted(
            job_id=self.job.job_id,
            pass_index=progress.passes,
            max_passes=self.max_passes,
            regions=drafts,
            stable_prefix=self._outcome.stable_total(drafts),
            changed=report.changed,
            committed=record.committed,
            remasked=record.remasked,
            mean_confidence=record.mean_confidence,
            pass_ms=record.pass_ms,
        )

    def _finished(self) -> JobFinished:
        regions = self._outcome.results(self.job.config.alternatives)
        return self._ended(_overall(self._progress.reasons), regions)

    def _ended(
        self, reason: StopReason, regions: tuple[RegionResult, ...], *, num_open: int = 0
    ) -> JobFinished:
        """Return the run's last word; `num_open` tokens stand in an unfinished window."""
        progress = self._progress
        num_tokens = sum(self._outcome.chosen_lengths()) + num_open
        text = self._outcome.text(regions)
        card = make_card(
            self.job,
            self._workshop.identity,
            route=self.route,
            sampler=self._sampler.card()
            | {
                "max_passes_by_window": self._pass_limits,
                "nfe": progress.nfe,
                "revision": progress.revision,
                "retries": progress.num_retries,  # of windows whose best fill looped
                "loops": progress.num_loops,  # fills offered first that loop all the same
                "calibration": list(self._workshop.calibration.temperatures),
            },
            canvas={
                "context_tokens": self._workshop.context_tokens,
                # What the model saw on each side of a window's first and last part.
                "windows": self._progress.windows,
                "lengths_tried": [list(item) for item in self._plan.lengths],
                "lengths_chosen": self._outcome.chosen_lengths(),
            },
            result_text=text,
            stop=(reason, progress.passes),
            versions=self._workshop.versions,
            notes=self._outcome.notes(),
        )
        total_ms = self._since()
        return JobFinished(
            job_id=self.job.job_id,
            regions=regions,
            passes=progress.passes,
            tokens_per_pass=round(num_tokens / max(1, progress.passes), 4),
            stop_reason=reason,
            timings=Timings(
                queue_ms=round(self._queue_ms, 3),
                encode_ms=round(progress.encode_ms, 3),
                first_stable_ms=round(progress.first_stable_ms or total_ms, 3),
                complete_ms=round(total_ms, 3),
            ),
            run_card=card,
            telemetry=tuple(progress.telemetry),
        )

    def _since(self) -> float:
        return (self._workshop.now_s() - self._progress.started_s) * MS_PER_S


def cancelled_job(job: RefineJob, identity: ModelIdentity, *, queue_ms: float) -> JobFinished:
    """Return the end of a job that was cancelled before it began: nothing to offer."""
    card = make_card(
        job,
        identity,
        route="",
        sampler={},
        canvas={},
        result_text=job.text,
        stop=(StopReason.CANCELLED, 0),
        versions={},
    )
    return JobFinished(
        job_id=job.job_id,
        regions=tuple(RegionResult(region.region_id, (), 0.0) for region in job.regions),
        passes=0,
        tokens_per_pass=0.0,
        stop_reason=StopReason.CANCELLED,
        timings=Timings(queue_ms=round(queue_ms, 3)),
        run_card=card,
    )


def _overall(reasons: Sequence[StopReason]) -> StopReason:
    """The most telling reason of a job's windows: a clock before a budget before settling."""
    order = [
        *CLOCK,
        StopReason.PASS_BUDGET,
        StopReason.EARLY_ANSWER,
        StopReason.STRUCTURE,
        StopReason.SETTLED,
    ]
    return min(reasons, key=order.index)
