"""Means with bootstrap intervals over documents, and facts about the machine."""

from __future__ import annotations

import os
import platform
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["machine", "mean_with_interval", "quantile"]

NUM_RESAMPLES = 1000


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the sorted values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def mean_with_interval(values: Sequence[float], groups: Sequence[object]) -> dict[str, float]:
    """Return the mean and a 95 % interval by bootstrap over groups (documents), seed fixed."""
    by_group: dict[object, list[float]] = defaultdict(list)
    for value, group in zip(values, groups, strict=True):
        by_group[group].append(value)
    pools = list(by_group.values())
    rng = random.Random(0)
    means = []
    for _ in range(NUM_RESAMPLES):
        drawn = [value for _ in pools for value in rng.choice(pools)]
        means.append(sum(drawn) / len(drawn))
    low, high = quantile(means, 0.025), quantile(means, 0.975)
    return {"mean": sum(values) / len(values), "low": low, "high": high, "n": len(values)}


def machine() -> dict[str, Any]:
    """Return what a timing must be read with: processor, threads and load average."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load_1min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
