"""How a candidate's tokens are drawn from a slot's distribution.

Rules over one row of log-probabilities; each draw has a number of its own, made from what it is
for, so that no draw depends on another. Temperature 0 takes the best and asks no rule.

Shapes: V vocabulary (column V is PAD).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from engine.sampling.randomness import CounterHash

__all__ = ["Draw", "DrawingRule", "Gumbel", "Nucleus"]

NUCLEUS_TOKENS = 64  # sampling looks no deeper than this


class DrawingRule(Protocol):
    def choose(
        self, logprobs: Tensor, temperature: float, random: CounterHash, counters: tuple[int, ...]
    ) -> int:
        """Draw a token from logprobs [V + 1] at `temperature` above 0."""
        ...


@dataclass(frozen=True, slots=True)
class Nucleus:
    """From the most probable tokens that together reach `top_p`. Source: arXiv:1904.09751."""

    top_p: float = 0.9

    def choose(
        self, logprobs: Tensor, temperature: float, random: CounterHash, counters: tuple[int, ...]
    ) -> int:
        best, tokens = logprobs.topk(min(NUCLEUS_TOKENS, len(logprobs)))
        nucleus = best.exp().cumsum(-1) - best.exp() < self.top_p
        weights = (best / temperature).masked_fill(~nucleus, float("-inf")).softmax(-1)
        point = random.uniform(*counters)
        drawn = int(torch.searchsorted(weights.double().cumsum(-1), point).clamp_max(len(best) - 1))
        return int(tokens[drawn])


@dataclass(frozen=True, slots=True)
class Gumbel:
    """From the whole distribution, as the best of its values with Gumbel noise added.

    Source: perturb-and-MAP (ICCV 2011), as in LLaDA (arXiv:2502.09992).
    """

    def choose(
        self, logprobs: Tensor, temperature: float, random: CounterHash, counters: tuple[int, ...]
    ) -> int:
        return int(_perturbed(logprobs, temperature, random.integer(*counters)).argmax())


@dataclass(frozen=True, slots=True)
class Draw:
    """How a candidate's tokens are drawn; temperature 0 takes the best."""

    candidate_key: int
    temperature: float
    rule: DrawingRule
    random: CounterHash

    def token(self, logprobs: Tensor, *counters: int) -> int:
        """Draw from logprobs [V + 1] by the number that belongs to `counters`."""
        key = (self.candidate_key, *counters)
        return self.rule.choose(logprobs, self.temperature, self.random, key)

    def perturbed(self, logprobs: Tensor, *counters: int) -> Tensor:
        """Return logprobs [V + 1] whose argmax is a draw: scaled, with Gumbel noise added.

        Temperature 0 returns them as they are.
        """
        if self.temperature == 0:
            return logprobs
        seed = self.random.integer(self.candidate_key, *counters)
        return _perturbed(logprobs, self.temperature, seed).float()


def _perturbed(logprobs: Tensor, temperature: float, seed: int) -> Tensor:
    noise = torch.Generator().manual_seed(seed)
    # float64: rounded Gumbel noise acts like a lower temperature (arXiv:2409.02908).
    uniform = torch.rand(logprobs.shape, generator=noise, dtype=torch.float64)
    gumbel = -(-uniform.clamp_min(1e-300).log()).log()
    return logprobs.double().cpu() / temperature + gumbel
