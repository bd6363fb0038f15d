"""Which masks become tokens after a pass.

Frozen rules over what a pass said of each slot; no model, no canvas writing. Laws (tests):
only masked slots are chosen, at least `at_least` of each part that has masks, and the choice
for a part depends on that part only.

Shapes: B parts of all candidates, L slots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

__all__ = [
    "CommitmentRule",
    "EntropyBounded",
    "Factor",
    "Klass",
    "LeftToRight",
    "Margin",
    "Random",
    "SlotScores",
    "Threshold",
    "TopK",
]


@dataclass(frozen=True, slots=True)
class SlotScores:
    """What one pass said of each slot, [B, L] or [C, P, L]; meaningful where `masked`."""

    masked: Tensor  # bool
    token: Tensor  # int64, the proposed token
    confidence: Tensor  # float32, probability of the proposed token
    entropy: Tensor  # float32, nats
    gap: Tensor  # float32, logit gap between the two best tokens
    drift: Tensor | None = None  # float32, KL from the pass before, nats; infinite at first
    dice: Tensor | None = None  # float32, uniform in (0, 1), for rules that draw

    def flatten(self) -> SlotScores:
        """Return [C * P, L] scores of [C, P, L] ones."""
        tensors = (self.masked, self.token, self.confidence, self.entropy, self.gap)
        drift, dice = (None if t is None else t.flatten(0, 1) for t in (self.drift, self.dice))
        flat = SlotScores(*(tensor.flatten(0, 1) for tensor in tensors))
        return replace(flat, drift=drift, dice=dice)

    def over(self, masked: Tensor) -> SlotScores:
        """Return the scores as they apply to the slots that are still `masked`."""
        return replace(self, masked=masked)


class CommitmentRule(Protocol):
    @property
    def needs_drift(self) -> bool:
        """Whether `drift` is to be measured."""
        ...

    @property
    def needs_dice(self) -> bool:
        """Whether `dice` are to be thrown."""
        ...

    def choose(self, scores: SlotScores, at_least: Tensor) -> Tensor:
        """Return the slots to commit, bool [B, L]; `at_least` is int64 [B]."""
        ...


@dataclass(frozen=True, slots=True)
class EntropyBounded:
    """Commit the most certain masks while their joint uncertainty stays bounded.

    Masks are taken by ascending entropy while sum(H) - max(H) <= `gamma` nats, at most a
    `share` of the part's masks. Of two neighbours only the more certain is taken, unless both
    reach `sure`: neighbours depend on each other most.

    Source: EB-Sampler (arXiv:2505.24857). We bound each part by itself: parts of one window
    are far apart, and a joint bound would make long jobs pass by pass through them.
    """

    gamma: float
    share: float = 0.25
    sure: float = 0.98

    @property
    def needs_drift(self) -> bool:
        return False

    @property
    def needs_dice(self) -> bool:
        return False

    def choose(self, scores: SlotScores, at_least: Tensor) -> Tensor:
        chosen = torch.zeros_like(scores.masked)
        entropy = scores.entropy.tolist()
        confidence = scores.confidence.tolist()
        for row, masks in enumerate(scores.masked.tolist()):
            slots = [slot for slot, is_masked in enumerate(masks) if is_masked]
            if not slots:
                continue
            order = sorted(slots, key=lambda slot: (entropy[row][slot], slot))
            taken = self._take(order, entropy[row], confidence[row])
            need = min(int(at_least[row]), len(order))
            rest = (slot for slot in order if slot not in taken)
            while len(taken) < need:
                taken.append(next(rest))
            chosen[row, taken] = True
        return chosen

    def _take(self, order: list[int], entropy: list[float], confidence: list[float]) -> list[int]:
        taken: list[int] = []
        spent, limit = 0.0, math.ceil(len(order) * self.share)
        for slot in order:
            # `spent` is the sum without the last: entropies ascend, so the last is the largest.
            if taken and (spent > self.gamma or len(taken) >= limit):
                break
            spent += entropy[slot]
            if self._is_free(slot, taken, confidence):
                taken.append(slot)
        return taken

    def _is_free(self, slot: int, taken: list[int], confidence: list[float]) -> bool:
        beside = [other for other in taken if abs(other - slot) == 1]
        return all(min(confidence[slot], confidence[other]) >= self.sure for other in beside)


class _Ranked:
    """Takes the best slots of each part: those that qualify, and `at_least` whatever they are.

    A subclass says what best means and how many of the best-ranked qualify.
    """

    __slots__ = ()

    @property
    def needs_drift(self) -> bool:
        return False

    @property
    def needs_dice(self) -> bool:
        return False

    def choose(self, scores: SlotScores, at_least: Tensor) -> Tensor:
        worth = self._worth(scores).masked_fill(~scores.masked, float("-inf"))
        chosen = torch.zeros_like(scores.masked)
        for row, num_masked in enumerate(scores.masked.sum(-1).tolist()):
            if not num_masked:
                continue
            order = torch.argsort(worth[row], descending=True, stable=True)[:num_masked]
            count = max(self._num_fit(scores, row, order), int(at_least[row]), 1)
            chosen[row, order[:count]] = True
        return chosen

    def _worth(self, scores: SlotScores) -> Tensor:
        return scores.confidence

    def _num_fit(self, scores: SlotScores, row: int, order: Tensor) -> int:
        """Return how many of the slots in `order` qualify, counted from the best."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class TopK(_Ranked):
    """As many of the most confident as the schedule asks for. Source: LLaDA (arXiv:2502.09992)."""

    def _num_fit(self, scores: SlotScores, row: int, order: Tensor) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class Threshold(_Ranked):
    """All masks whose confidence reaches `bound`. Source: Fast-dLLM (arXiv:2505.22618)."""

    bound: float = 0.9

    def _num_fit(self, scores: SlotScores, row: int, order: Tensor) -> int:
        return int((scores.confidence[row, order] >= self.bound).sum())


@dataclass(frozen=True, slots=True)
class Factor(_Ranked):
    """The best n for the largest n whose n-th confidence reaches 1 - `factor` / (n + 1).

    Source: Fast-dLLM (arXiv:2505.22618), factor-based decoding.
    """

    factor: float = 1.0

    def _num_fit(self, scores: SlotScores, row: int, order: Tensor) -> int:
        ranks = torch.arange(1, len(order) + 1)
        fits = scores.confidence[row, order] >= 1.0 - self.factor / (ranks + 1)
        return int((ranks * fits).max())


@dataclass(frozen=True, slots=True)
class Klass(_Ranked):
    """All masks that are confident and whose distribution has hardly moved since the last pass.

    Source: KLASS (arXiv:2511.05664); two passes, so nothing qualifies in the first.
    """

    bound: float = 0.9
    drift: float = 0.01  # nats

    @property
    def needs_drift(self) -> bool:
        return True

    def _worth(self, scores: SlotScores) -> Tensor:
        return scores.confidence + self._fits(scores)

    def _num_fit(self, scores: SlotScores, row: int, order: Tensor) -> int:
        return int(self._fits(scores)[row, order].sum())

    def _fits(self, scores: SlotScores) -> Tensor:
        assert scores.drift is not None, "the rule asked for drift"
        return (scores.confidence >= self.bound) & (scores.drift <= self.drift)


@dataclass(frozen=True, slots=True)
class Margin(_Ranked):
    """All masks whose best token leads the next by `bound` nats.

    Source: margin ranking of Dream (arXiv:2508.15487); its probability gap is ours in nats.
    """

    bound: float = 3.0

    def _worth(self, scores: SlotScores) -> Tensor:
        return scores.gap

    def _num_fit(self, scores: SlotScores, row: int, order: Tensor) -> int:
        return int((scores.gap[row, order] >= self.bound).sum())


@dataclass(frozen=True, slots=True)
class LeftToRight:
    """Commit each part's first mask, and those after it while their joint uncertainty is bounded.

    A run of masks from the left is taken while sum(H) - max(H) <= `gamma` nats times the part's
    masks: a longer stretch may be wrong in more places. What a small model knows best is the word
    after known words, and here the right side is in view too.
    The bound is EB-Sampler's (arXiv:2505.24857); the order is ours, measured: engine/LOG.md.
    """

    gamma: float = 0.0

    @property
    def needs_drift(self) -> bool:
        return False

    @property
    def needs_dice(self) -> bool:
        return False

    def choose(self, scores: SlotScores, at_least: Tensor) -> Tensor:
        chosen = torch.zeros_like(scores.masked)
        for row, num_masked in enumerate(scores.masked.sum(-1).tolist()):
            if not num_masked:
                continue
            order = torch.nonzero(scores.masked[row]).flatten()
            entropy = scores.entropy[row, order]
            bound = self.gamma * num_masked
            fits = entropy.cumsum(0) - entropy.cummax(0).values <= bound
            count = max(int(fits.to(torch.int64).cumprod(0).sum()), int(at_least[row]), 1)
            chosen[row, order[:count]] = True
        return chosen


@dataclass(frozen=True, slots=True)
class Random(_Ranked):
    """As many as the schedule asks for, in random order: what the others are held against."""

    @property
    def needs_dice(self) -> bool:
        return True

    def _worth(self, scores: SlotScores) -> Tensor:
        assert scores.dice is not None, "the rule asked for dice"
        return scores.dice

    def _num_fit(self, scores: SlotScores, row: int, order: Tensor) -> int:
        return 0
