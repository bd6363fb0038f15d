"""Presets as data, and the one place where names become rule objects.

Everything that decides a run is in a `Sampler`; its `card()` is what the run card keeps.
Numbers are starting points until the bench refits them; what was tried is in engine/LOG.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from engine.canvas.length import LengthPrior
from engine.contract import Preset, SamplerConfig
from engine.sampling.commitment import CommitmentRule, EntropyBounded
from engine.sampling.ranking import RankingWeights
from engine.sampling.remasking import LeaveOneOut, Monotone, RemaskingRule
from engine.sampling.stopping import EarlyAnswer

__all__ = ["PRESETS", "Sampler", "resolve_sampler"]


@dataclass(frozen=True, slots=True)
class Sampler:
    """Every rule and number of one run, resolved before the first pass."""

    commitment: CommitmentRule
    remasking: RemaskingRule
    early_answer: EarlyAnswer
    ranking: RankingWeights
    length_prior: LengthPrior
    max_passes: int  # per window
    pass_ratio: float  # passes a part should take, for each of its slots
    num_lengths: int  # lengths denoised to the end
    num_samples: int  # further candidates, sampled
    sample_temperature: float
    temperature: float  # of every candidate; 0 = greedy
    top_p: float
    leader_ratio: float  # share of slots committed when one candidate is chosen to be shown
    leader_min_slots: int  # shorter parts wait for the end: they are there at once

    def card(self) -> dict[str, Any]:
        """Return every threshold by name."""
        rules = (self.commitment, self.remasking)
        named = {type(rule).__name__: asdict(rule) for rule in rules}  # type: ignore[call-overload]
        numbers = asdict(self)
        for name in ("commitment", "remasking"):
            numbers[name] = type(getattr(self, name)).__name__
        return numbers | {"rules": named}


@dataclass(frozen=True, slots=True)
class PresetNumbers:
    gamma: float
    early_bound: float | None
    max_passes: int
    pass_ratio: float
    num_lengths: int
    num_samples: int
    leader_ratio: float
    revises: bool


PRESETS: dict[Preset, PresetNumbers] = {
    "fast": PresetNumbers(
        gamma=0.4,
        early_bound=None,
        max_passes=16,
        pass_ratio=0.5,
        num_lengths=2,
        num_samples=0,
        leader_ratio=0.0,
        revises=False,
    ),
    "balanced": PresetNumbers(
        gamma=0.1,
        early_bound=None,
        max_passes=48,
        pass_ratio=0.75,
        num_lengths=3,
        num_samples=0,
        leader_ratio=0.5,
        revises=False,
    ),
    "careful": PresetNumbers(
        gamma=0.02,
        early_bound=None,
        max_passes=128,
        pass_ratio=1.0,
        num_lengths=4,
        num_samples=2,
        leader_ratio=1.0,
        revises=True,
    ),
}


def resolve_sampler(config: SamplerConfig) -> Sampler:
    """Turn a user's settings into rules; what they leave open the preset says."""
    numbers = PRESETS[config.preset]
    revises = numbers.revises if config.mode is None else config.mode == "revise"
    rows = numbers.num_lengths + numbers.num_samples
    return Sampler(
        commitment=EntropyBounded(gamma=numbers.gamma),
        remasking=LeaveOneOut(tau=0.1) if revises else Monotone(),
        early_answer=EarlyAnswer(numbers.early_bound),
        ranking=RankingWeights(),
        length_prior=LengthPrior(),
        max_passes=config.steps or numbers.max_passes,
        pass_ratio=numbers.pass_ratio,
        num_lengths=numbers.num_lengths,
        num_samples=numbers.num_samples + max(0, config.alternatives - rows),
        sample_temperature=0.8,
        temperature=config.temperature or 0.0,
        top_p=0.9,
        leader_ratio=numbers.leader_ratio,
        leader_min_slots=13,
    )
