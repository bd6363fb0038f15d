"""The autoregressive route: the untouched base writes from left to right, then the join decides.

The fallback and the comparator. It sees the right context only when it chooses where a fill
ends: every fair ending of every row is ranked by the join. Same reports and results as the
diffusion loop; a pass is one token of every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from engine.contract import StopReason
from engine.denoisers.base import CausalState
from engine.sampling.admissible import Admissible
from engine.sampling.drafts import PartDraft, draft_part, fill_text
from engine.sampling.drawing import Draw
from engine.sampling.offers import Settled
from engine.sampling.pass_loop import WindowResult
from engine.sampling.probe import WindowTask
from engine.sampling.ranking import rank_fills
from engine.sampling.reports import PassReport
from engine.sampling.stopping import Budget
from engine.telemetry.trace import canvas_hash, record_pass

__all__ = ["CausalRun"]


class CausalRun:
    """State of one part between tokens; the window has exactly one part."""

    def __init__(
        self, task: WindowTask, budget: Budget, now_s: Callable[[], float], *, num_rows: int
    ) -> None:
        assert len(task.window.parts) == 1, "the autoregressive route writes one part at a time"
        self.result = WindowResult()
        self._task = task
        self._budget = budget
        self._now_s = now_s
        self._admissible = Admissible(task.window, task.words, has_pad=False, used=task.used)
        heat = task.sampler.temperature
        sampled = heat or task.sampler.sample_temperature
        self._draws = [
            Draw(row, sampled if row else heat, task.sampler.drawing, task.random)
            for row in range(num_rows)
        ]
        self._rows: list[list[int]] = [[] for _ in range(num_rows)]
        self._confidence: list[list[float]] = [[] for _ in range(num_rows)]

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """What stands beside each part: before, after."""
        return self._task.texts

    def settled(self) -> list[Settled | None]:
        """Return what the shown row holds so far; where it will end is not known."""
        tokens, confidence = self._rows[0], self._confidence[0]
        if not tokens:
            return [None]
        raw = self._task.words.fill_bytes(tokens)[len(self._task.window.parts[0].prefix) :]
        text = raw.decode("utf-8", "ignore")  # a character may not be written to its end yet
        return [Settled(text, sum(confidence) / len(confidence), len(tokens), is_whole=False)]

    def run(self) -> Iterator[PassReport]:
        """Yield after every token; `result` is complete when the iterator ends."""
        longest = max(self._task.lengths[0])
        state, logits = self._start()
        started_s = self._now_s()
        while True:
            self.result.passes += 1
            self.result.nfe += len(self._rows)
            entropy = self._append(logits)
            pass_ms = (self._now_s() - started_s) * 1e3
            yield self._report(entropy, pass_ms)
            is_full = len(self._rows[0]) >= longest
            reason = None if is_full else self._budget.reason(self.result.passes, self._now_s())
            if is_full or reason is not None:
                self._finish(reason or StopReason.SETTLED)
                return
            started_s = self._now_s()
            newest = torch.tensor([[row[-1]] for row in self._rows])
            logits, state = self._task.denoiser.extend(state, newest.to(self._task.denoiser.device))

    def _start(self) -> tuple[CausalState, Tensor]:
        task, left = self._task, self._task.window.left
        state = task.denoiser.causal_prefix(task.context, len(left) - 1)
        last = torch.tensor([[left[-1]]] * len(self._rows)).to(task.denoiser.device)
        logits, state = task.denoiser.extend(state, last)
        return state, logits

    def _append(self, logits: Tensor) -> float:
        """Draw one token for every row from logits [B, 1, V]; return the mean entropy."""
        slot = len(self._rows[0])
        entropies = []
        for row, draw in enumerate(self._draws):
            left = self._rows[row][-1] if slot else None
            bias = self._admissible.causal_bias(0, slot, left)[:-1]
            plain = logits[row, -1].log_softmax(-1)
            logprobs = (logits[row, -1] + bias).log_softmax(-1)
            token = int(logprobs.argmax())
            if draw.temperature > 0:
                token = draw.token(logprobs, slot)
            self._rows[row].append(token)
            self._confidence[row].append(float(plain[token].exp()))
            entropies.append(float(-(logprobs.exp() * logprobs).sum()))
        return sum(entropies) / len(entropies)

    def _report(self, entropy: float, pass_ms: float) -> PassReport:
        tokens, confidence = self._rows[0], self._confidence[0]
        part = self._task.window.parts[0]
        draft: PartDraft = draft_part(part, tokens, confidence, self._task.words, is_open=True)
        grid = torch.tensor(self._rows)
        record = record_pass(
            self.result.passes,
            (len(self._rows), 0, 0, 0),
            (sum(confidence) / len(confidence), entropy),
            pass_ms=pass_ms,
            digest=canvas_hash(grid, torch.zeros(0), self._task.trace_key),
        )
        return PassReport(record, (draft,), (0,), 1)

    def _finish(self, reason: StopReason) -> None:
        task, part = self._task, self._task.window.parts[0]
        endings = [
            (row, length) for row in range(len(self._rows)) for length in self._fair_ends(row)
        ]
        suffix = tuple(task.words.codec.encode(part.suffix.decode())) if part.suffix else ()
        fills = [[(*self._rows[row][:length], *suffix)] for row, length in endings]
        scores = rank_fills(
            task.denoiser,
            task.context,
            task.window,
            fills,
            texts=task.texts,
            words=task.words,
            weights=task.sampler.ranking,
        )
        best: dict[int, int] = {}
        for index, (row, _) in enumerate(endings):
            if row not in best or scores[index][0] > scores[best[row]][0]:
                best[row] = index
        for row, index in best.items():
            self.result.texts.append([fill_text(part, fills[index][0], task.words)])
            self.result.scores.append(scores[index])
            used = self._confidence[row][: endings[index][1]]
            self.result.confidence.append([sum(used) / len(used)])
            self.result.num_tokens.append([len(fills[index][0])])
        ranked = [score[0] for score in self.result.scores]
        self.result.leaders = [ranked.index(max(ranked))]
        self.result.stop_reason = reason

    def _fair_ends(self, row: int) -> list[int]:
        """Numbers of tokens after which the row may end: at the end of a word, within hints."""
        tokens, words = self._rows[row], self._task.words
        shortest = 1 if len(self._task.lengths[0]) > 3 else min(self._task.lengths[0])
        ends = []
        for length in range(shortest, len(tokens) + 1):
            is_word_end = length == len(tokens) or not words.continues_word(tokens[length])
            if is_word_end and self._admissible.may_end(0, tokens[length - 1]):
                ends.append(length)
        return ends or [len(tokens)]
