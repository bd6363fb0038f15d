"""How long a gap is, told by one pass: the probe's confidence, PAD, and a prior, compared.

One forward a gap: an all-masked canvas for each candidate length. What the confidence of a
canvas and PAD's place on the widest one say is compared with the truth.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.bench.report import mean_with_interval
from engine.bench.tasks import read_documents
from engine.bench.windows import Window, choose_windows, encode_window, score_rows
from engine.canvas.length import UNKNOWN_LENGTHS, LengthPrior, fit_width, rank_lengths
from engine.sampling.job import Workshop

__all__ = ["LengthRequest", "bench_lengths"]

MEDIANS = (3.0, 4.0, 5.0, 6.0)
SPREADS = (0.5, 0.7, 1.0, 1.5)
GROWTHS = (0.0, 0.15, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class LengthRequest:
    """Which gaps to ask for; as many of each true length."""

    folder: Path
    windows: int = 24  # of each length
    lengths: Sequence[int] = tuple(range(1, 17))
    context: int = 96
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Probe:
    """What one forward says of a gap. `pad` [W]: probability of PAD on the widest canvas."""

    group: tuple[str, int]
    true: int
    means: tuple[float, ...]  # of the best word's log-probability, by candidate length
    pad: NDArray[np.float32]


Method = Callable[[_Probe], int]


def bench_lengths(workshop: Workshop, request: LengthRequest) -> dict[str, Any]:
    """Compare the ways to tell a gap's length; the prior is fitted on half of the documents."""
    probes = _probe_all(workshop, request)
    fitted = [probe for probe in probes if probe.group[1] % 2 == 0]
    tested = [probe for probe in probes if probe.group[1] % 2 == 1]
    prior = _fit_prior(fitted) if fitted else LengthPrior()
    methods: dict[str, Method] = {
        "always the median": lambda _: round(prior.median),
        "probe": _by_prior(LengthPrior(median=5.0, spread=math.inf, growth=0.0)),
        "probe and shipped prior": _by_prior(LengthPrior()),
        "probe and fitted prior": _by_prior(prior),
        "first likely PAD": _first_pad,
        "expected PAD": _expected_pad,
    }
    return {
        "gaps": len(tested),
        "fitted_prior": {"median": prior.median, "spread": prior.spread, "growth": prior.growth},
        "methods": {name: _describe(tested, method) for name, method in methods.items()},
    }


def _probe_all(workshop: Workshop, request: LengthRequest) -> list[_Probe]:
    documents, codec = read_documents(request.folder), workshop.words.codec
    found: list[_Probe] = []
    for length in request.lengths:
        windows = choose_windows(
            documents,
            codec,
            count=request.windows,
            region=length,
            context=request.context,
            seed=request.seed + length,
        )
        with torch.inference_mode():
            found.extend(_probe(workshop, window) for window in windows)
    return found


def _probe(workshop: Workshop, window: Window) -> _Probe:
    denoiser = workshop.denoiser
    width = fit_width(max(UNKNOWN_LENGTHS))
    context = encode_window(denoiser, window, width=width)
    masks = [np.ones(length, np.bool_) for length in UNKNOWN_LENGTHS]
    blanks = [np.zeros(length, np.int64) for length in UNKNOWN_LENGTHS]
    logits = score_rows(denoiser, context, window, tokens=blanks, masked=masks, wanted=masks)
    logprobs = logits.log_softmax(-1)
    best = logprobs[:, :-1].max(-1).values
    ends = list(itertools.accumulate(UNKNOWN_LENGTHS))
    means = tuple(
        float(best[end - length : end].mean())
        for length, end in zip(UNKNOWN_LENGTHS, ends, strict=True)
    )
    pad = logprobs[-UNKNOWN_LENGTHS[-1] :, -1].exp().numpy()
    return _Probe(window.group, len(window.region), means, pad)


def _by_prior(prior: LengthPrior) -> Method:
    return lambda probe: rank_lengths(prior, probe.means, UNKNOWN_LENGTHS, None)[0]


def _first_pad(probe: _Probe) -> int:
    likely = np.flatnonzero(probe.pad > 0.5)
    return max(1, int(likely[0])) if len(likely) else len(probe.pad)


def _expected_pad(probe: _Probe) -> int:
    """The number of words to expect where each slot is a word with probability 1 - p(PAD)."""
    return max(1, round(float((1 - probe.pad).sum())))


def _fit_prior(probes: Sequence[_Probe]) -> LengthPrior:
    priors = [
        LengthPrior(median, spread, growth)
        for median, spread, growth in itertools.product(MEDIANS, SPREADS, GROWTHS)
    ]
    return min(priors, key=lambda prior: _mean_error(probes, _by_prior(prior)))


def _mean_error(probes: Sequence[_Probe], method: Method) -> float:
    return sum(abs(method(p) - p.true) / p.true for p in probes) / len(probes)


def _describe(probes: Sequence[_Probe], method: Method) -> dict[str, Any]:
    errors: dict[int, list[float]] = defaultdict(list)
    for probe in probes:
        errors[probe.true].append(abs(method(probe) - probe.true) / probe.true)
    relative = [abs(method(probe) - probe.true) / probe.true for probe in probes]
    return {
        "relative_error": mean_with_interval(relative, [probe.group for probe in probes]),
        "by_length": {str(true): sum(e) / len(e) for true, e in sorted(errors.items())},
    }
