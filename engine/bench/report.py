"""Means with bootstrap intervals over documents, and facts about the machine."""

from __future__ import annotations

import os
import platform
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

__all__ = ["auroc", "calibration_error", "machine", "mean_with_interval", "quantile"]

NUM_RESAMPLES = 1000


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the sorted values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def mean_with_interval(
    values: Sequence[float], groups: Sequence[object]
) -> dict[str, float | None]:
    """Return the mean and a 95 % interval by bootstrap over groups (documents), seed fixed.

    Without values all are None.
    """
    if not values:
        return {"mean": None, "low": None, "high": None, "n": 0}
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


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    """Return the chance that a true label's score is above a false one's, ties counting half.

    None where one kind is missing. Source: the Mann-Whitney statistic, by average ranks.
    """
    num_true = sum(labels)
    num_false = len(labels) - num_true
    if not num_true or not num_false:
        return None
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    ranks = (last - (counts - 1) / 2)[inverse]
    total = float(ranks[np.asarray(labels, bool)].sum())
    return (total - num_true * (num_true + 1) / 2) / (num_true * num_false)


def calibration_error(
    confidence: Sequence[float], is_right: Sequence[bool], *, bins: int = 10
) -> float | None:
    """Return the expected calibration error over `bins` equal bins of confidence, 0..1.

    Source: Guo et al., On Calibration of Modern Neural Networks (arXiv:1706.04599).
    """
    if not confidence:
        return None
    sure, right = np.asarray(confidence), np.asarray(is_right, float)
    index = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [
        abs(sure[index == b].mean() - right[index == b].mean()) * (index == b).mean()
        for b in range(bins)
        if (index == b).any()
    ]
    return float(sum(gaps))


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
