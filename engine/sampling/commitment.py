"""Which masks become tokens after a pass.

Frozen rules over what a pass said of each slot; no model, no canvas writing. Laws (tests):
only masked slots are chosen, at least `at_least` of each part that has masks, and the rule
depends on its own part only.

Shapes: B parts of all candidates, L slots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

__all__ = ["CommitmentRule", "EntropyBounded", "SlotScores"]


@dataclass(frozen=True, slots=True)
class SlotScores:
    """What one pass said of each slot, [B, L] or [C, P, L]; meaningful where `masked`."""

    masked: Tensor  # bool
    token: Tensor  # int64, the proposed token
    confidence: Tensor  # float32, probability of the proposed token
    entropy: Tensor  # float32, nats
    gap: Tensor  # float32, logit gap between the two best tokens

    def flatten(self) -> SlotScores:
        """Return [C * P, L] scores of [C, P, L] ones."""
        tensors = (self.masked, self.token, self.confidence, self.entropy, self.gap)
        return SlotScores(*(tensor.flatten(0, 1) for tensor in tensors))

    def over(self, masked: Tensor) -> SlotScores:
        """Return the scores as they apply to the slots that are still `masked`."""
        return replace(self, masked=masked)


class CommitmentRule(Protocol):
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
