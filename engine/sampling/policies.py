"""Presets as data, and the one place where names become rule objects.

Everything that decides a run is in a `Sampler`; its `card()` is what the run card keeps.
Numbers were fitted by `bench quality --sweep`; what was tried is in engine/LOG.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from engine.canvas.length import LengthPrior
from engine.contract import Preset, SamplerConfig
from engine.errors import InvalidJob
from engine.sampling.commitment import (
    CommitmentRule,
    EntropyBounded,
    Factor,
    Klass,
    LeftToRight,
    Margin,
    Random,
    Threshold,
    TopK,
)
from engine.sampling.guidance import Guidance
from engine.sampling.ranking import RankingWeights
from engine.sampling.remasking import (
    LeaveOneOut,
    Monotone,
    RemaskingRule,
    ReMDMCap,
    TokenEdits,
)
from engine.sampling.schedules import Cosine, Linear, Schedule
from engine.sampling.stopping import EarlyAnswer

__all__ = ["COMMITMENTS", "PRESETS", "REMASKINGS", "SCHEDULES", "Sampler", "resolve_sampler"]


@dataclass(frozen=True, slots=True)
class Sampler:
    """Every rule and number of one run, resolved before the first pass."""

    commitment: CommitmentRule
    schedule: Schedule
    remasking: RemaskingRule
    early_answer: EarlyAnswer
    guidance: Guidance
    ranking: RankingWeights
    length_prior: LengthPrior
    max_passes: int  # per window
    whole_slots: int  # slots of a part that get a pass each
    pass_ratio: float  # passes it should take for each further slot
    num_lengths: int  # lengths denoised to the end
    num_samples: int  # further candidates, sampled
    sample_temperature: float
    temperature: float  # of every candidate; 0 = greedy
    top_p: float
    leader_ratio: float  # share of slots committed when one candidate is chosen to be shown
    leader_min_slots: int  # shorter parts wait for the end: they are there at once

    def num_passes(self, num_slots: int) -> int:
        """Return how many passes a part of so many slots should take."""
        whole = min(num_slots, self.whole_slots)
        return whole + math.ceil(self.pass_ratio * (num_slots - whole))

    def heated(self) -> Sampler:
        """Return the sampler with every candidate drawn, for a second attempt."""
        return replace(self, temperature=self.temperature or self.sample_temperature)

    def card(self) -> dict[str, Any]:
        """Return every threshold by name."""
        rules = (self.commitment, self.schedule, self.remasking)
        named = {type(rule).__name__: asdict(rule) for rule in rules}  # type: ignore[call-overload]
        numbers = asdict(self)
        for name in ("commitment", "schedule", "remasking"):
            numbers[name] = type(getattr(self, name)).__name__
        return numbers | {"rules": named}


@dataclass(frozen=True, slots=True)
class PresetNumbers:
    gamma: float  # nats for each mask
    early_bound: float | None
    max_passes: int
    whole_slots: int
    pass_ratio: float
    num_lengths: int
    num_samples: int
    leader_ratio: float
    revises: bool


PRESETS: dict[Preset, PresetNumbers] = {
    "fast": PresetNumbers(
        gamma=0.5,
        early_bound=None,
        max_passes=32,
        whole_slots=2,
        pass_ratio=0.35,
        num_lengths=3,
        num_samples=0,
        leader_ratio=0.0,
        revises=False,
    ),
    "balanced": PresetNumbers(
        gamma=0.25,
        early_bound=None,
        max_passes=64,
        whole_slots=8,
        pass_ratio=0.5,
        num_lengths=8,
        num_samples=0,
        leader_ratio=0.5,
        revises=False,
    ),
    "careful": PresetNumbers(
        gamma=0.0,
        early_bound=None,
        max_passes=256,
        whole_slots=16,
        pass_ratio=1.0,
        num_lengths=8,
        num_samples=6,
        leader_ratio=1.0,
        revises=True,
    ),
}


# Rules by the names that a job may ask for; each is made with the preset's numbers.
COMMITMENTS: dict[str, Callable[[PresetNumbers], CommitmentRule]] = {
    "entropy_bounded": lambda _: EntropyBounded(gamma=0.4),
    "top_k": lambda _: TopK(),
    "threshold": lambda _: Threshold(),
    "factor": lambda _: Factor(),
    "klass": lambda _: Klass(),
    "margin": lambda _: Margin(),
    "random": lambda _: Random(),
    "left_to_right": lambda numbers: LeftToRight(gamma=numbers.gamma),
}
SCHEDULES: dict[str, Schedule] = {"linear": Linear(), "cosine": Cosine()}
REMASKINGS: dict[str, RemaskingRule] = {
    "none": Monotone(),
    "leave_one_out": LeaveOneOut(tau=0.1),
    "remdm_cap": ReMDMCap(),
    "token_edits": TokenEdits(),
}
Named = TypeVar("Named")


def resolve_sampler(config: SamplerConfig) -> Sampler:
    """Turn a user's settings into rules; what they leave open the preset says.

    Raises: InvalidJob for a rule or preset that does not exist.
    """
    numbers = _named("preset", config.preset, PRESETS)
    revises = numbers.revises if config.mode is None else config.mode == "revise"
    rows = numbers.num_lengths + numbers.num_samples
    remasking = config.remasking or ("leave_one_out" if revises else "none")
    if config.mode == "monotone" and remasking != "none":
        raise InvalidJob(f"mode monotone with remasking {remasking!r}; allowed: none")
    return Sampler(
        commitment=_named("commitment", config.commitment or "left_to_right", COMMITMENTS)(numbers),
        schedule=_named("schedule", config.schedule or "linear", SCHEDULES),
        remasking=_named("remasking", remasking, REMASKINGS),
        early_answer=EarlyAnswer(numbers.early_bound),
        guidance=Guidance(),
        ranking=RankingWeights(),
        length_prior=LengthPrior(),
        max_passes=config.steps or numbers.max_passes,
        whole_slots=numbers.whole_slots,
        pass_ratio=numbers.pass_ratio,
        num_lengths=numbers.num_lengths,
        num_samples=numbers.num_samples + max(0, config.alternatives - rows),
        sample_temperature=0.8,
        temperature=config.temperature or 0.0,
        top_p=0.9,
        leader_ratio=numbers.leader_ratio,
        leader_min_slots=17,
    )


def _named(what: str, name: str, known: Mapping[Any, Named]) -> Named:
    if name not in known:
        raise InvalidJob(f"{what} {name!r}; allowed: {', '.join(known)}")
    return known[name]
