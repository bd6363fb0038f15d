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
from engine.sampling.drawing import DrawingRule, Gumbel, Nucleus
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
from engine.sampling.stopping import EarlyAnswer, EveryCandidate, ShownDraft, StopCondition

__all__ = [
    "COMMITMENTS",
    "DRAWINGS",
    "PRESETS",
    "REMASKINGS",
    "SCHEDULES",
    "STOPS",
    "Sampler",
    "resolve_sampler",
]

TOP_P = 0.9


@dataclass(frozen=True, slots=True)
class Sampler:
    """Every rule and number of one run, resolved before the first pass."""

    commitment: CommitmentRule
    schedule: Schedule
    remasking: RemaskingRule
    drawing: DrawingRule
    stop_when: StopCondition
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
    begins_in_turn: bool  # parts of a window, so that each sees the first words of another
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
        names = ("commitment", "schedule", "remasking", "drawing", "stop_when")
        rules = [getattr(self, name) for name in names]
        named = {type(rule).__name__: asdict(rule) for rule in rules}
        numbers = asdict(self)
        numbers |= {name: type(rule).__name__ for name, rule in zip(names, rules, strict=True)}
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
    begins_in_turn: bool
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
        begins_in_turn=False,
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
        begins_in_turn=True,
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
        begins_in_turn=True,
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
DRAWINGS: dict[str, Callable[[float], DrawingRule]] = {
    "nucleus": Nucleus,
    "gumbel": lambda _: Gumbel(),
}
STOPS: dict[str, StopCondition] = {"settled": EveryCandidate(), "shown": ShownDraft()}
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
        drawing=_resolve_drawing(config),
        stop_when=_named("stop_when", config.stop_when or "settled", STOPS),
        early_answer=EarlyAnswer(config.early_answer or numbers.early_bound),
        guidance=Guidance() if config.guidance is None else Guidance(config.guidance),
        ranking=RankingWeights(),
        length_prior=LengthPrior(),
        max_passes=config.steps or numbers.max_passes,
        whole_slots=numbers.whole_slots,
        pass_ratio=numbers.pass_ratio,
        num_lengths=numbers.num_lengths,
        num_samples=numbers.num_samples + max(0, config.alternatives - rows),
        sample_temperature=0.8,
        temperature=config.temperature or 0.0,
        begins_in_turn=numbers.begins_in_turn,
        leader_ratio=numbers.leader_ratio,
        leader_min_slots=17,
    )


def _resolve_drawing(config: SamplerConfig) -> DrawingRule:
    name = config.drawing or "nucleus"
    if name == "gumbel" and config.top_p is not None:
        raise InvalidJob(f"top_p {config.top_p} with drawing 'gumbel'; allowed: nucleus")
    return _named("drawing", name, DRAWINGS)(TOP_P if config.top_p is None else config.top_p)


def _named(what: str, name: str, known: Mapping[Any, Named]) -> Named:
    if name not in known:
        raise InvalidJob(f"{what} {name!r}; allowed: {', '.join(known)}")
    return known[name]
