"""Which route a job takes, and why. Pure, torch-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.contract import SamplerConfig
from engine.errors import InvalidJob

__all__ = ["RouteChoice", "choose_route"]


@dataclass(frozen=True, slots=True)
class RouteChoice:
    route: Literal["diffusion", "autoregressive"]
    reason: str


def choose_route(config: SamplerConfig, *, has_causal: bool) -> RouteChoice:
    """Return the route for a job. Raises: InvalidJob when the model cannot take the one asked."""
    if config.route == "autoregressive":
        if not has_causal:
            raise InvalidJob("this model has no autoregressive route; allowed: auto, diffusion")
        return RouteChoice("autoregressive", "asked for")
    reason = "asked for" if config.route == "diffusion" else "default"
    return RouteChoice("diffusion", reason)
