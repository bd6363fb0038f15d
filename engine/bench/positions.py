"""Single positions with the truth around them: accuracy, calibration, planted wrong words.

No sampling: held-out regions are hidden in part, one forward says how sure the model is of each
hidden word, and the truth says whether it was right. By decile of the share that is hidden;
entry i is of shares in (i/10, (i+1)/10], as in `Calibration`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.bench.report import auroc, calibration_error, mean_with_interval
from engine.bench.tasks import read_documents
from engine.bench.windows import Window, choose_windows, encode_window, score_rows
from engine.denoisers.base import Denoiser
from engine.sampling.calibration import NUM_DECILES
from engine.sampling.job import Workshop

__all__ = ["TEMPERATURES", "PositionRequest", "bench_positions"]

TEMPERATURES = tuple(round(0.7 + 0.05 * step, 2) for step in range(17))  # 0.7 to 1.5
FIRST_WORD = 17  # smaller ids are control tokens

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PositionRequest:
    """Which windows to read."""

    folder: Path
    windows: int = 160
    region: int = 32
    context: int = 64
    wrong_share: float = 0.1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A hidden word: how sure the model was at each temperature, and whether it was right."""

    group: tuple[str, int]
    decile: int
    is_right: bool
    confidence: Floats  # [temperatures] of the best word
    true_logprob: Floats  # [temperatures]


@dataclass(frozen=True, slots=True)
class _Visible:
    """A word in view; `doubt` is minus its log-probability."""

    is_wrong: bool
    doubt: float


def bench_positions(workshop: Workshop, request: PositionRequest) -> dict[str, Any]:
    """Score every window; temperatures are fitted on one half of the documents.

    Everything reported but the temperatures is of the other half.
    """
    denoiser, codec = workshop.denoiser, workshop.words.codec
    rng = np.random.default_rng(request.seed)
    hidden: list[_Hidden] = []
    visible: dict[str, list[_Visible]] = {"random": [], "own": []}
    windows = choose_windows(
        read_documents(request.folder),
        codec,
        count=request.windows,
        region=request.region,
        context=request.context,
        seed=request.seed,
    )
    with torch.inference_mode():
        for window in windows:
            context = encode_window(denoiser, window)
            hidden.extend(_hide(denoiser, context, window, rng))
            planted = rng.random(len(window.region)) < request.wrong_share
            for kind, words in _wrong_words(denoiser, context, window, planted, rng).items():
                visible[kind].extend(_doubts(denoiser, context, window, words))
    fitted = [item for item in hidden if _is_for_fitting(item.group)]
    tested = [item for item in hidden if not _is_for_fitting(item.group)]
    temperatures = [_fit_temperature(_of(fitted, decile)) for decile in range(NUM_DECILES)]
    return {
        "temperatures": temperatures,
        "deciles": [
            _describe(_of(tested, decile), temperatures[decile], decile)
            for decile in range(NUM_DECILES)
        ],
        "all": _describe_all(tested, temperatures),
        "planted_words": {
            kind: {
                "auroc": auroc([v.doubt for v in items], [v.is_wrong for v in items]),
                "wrong": sum(v.is_wrong for v in items),
                "visible": len(items),
            }
            for kind, items in visible.items()
        },
    }


def _is_for_fitting(group: tuple[str, int]) -> bool:
    return group[1] % 2 == 0


def _of(items: Sequence[_Hidden], decile: int) -> list[_Hidden]:
    return [item for item in items if item.decile == decile]


def _hide(
    denoiser: Denoiser, context: Any, window: Window, rng: np.random.Generator
) -> list[_Hidden]:
    truth = window.region
    masks = []
    for decile in range(NUM_DECILES):
        ratio = (decile + rng.random()) / NUM_DECILES
        mask = rng.random(len(truth)) < ratio
        mask[rng.integers(len(truth))] = True
        masks.append(mask)
    logits = score_rows(
        denoiser, context, window, tokens=[truth] * len(masks), masked=masks, wanted=masks
    )
    targets = torch.from_numpy(np.concatenate([truth[mask] for mask in masks]))
    is_right = (logits.argmax(-1) == targets).tolist()
    confidence, true_logprob = [], []
    for temperature in TEMPERATURES:
        logprobs = (logits / temperature).log_softmax(-1)
        confidence.append(logprobs.max(-1).values.exp())
        true_logprob.append(logprobs.gather(-1, targets[:, None]).squeeze(-1))
    sure, true = torch.stack(confidence, -1).numpy(), torch.stack(true_logprob, -1).numpy()
    deciles = [
        (NUM_DECILES * int(mask.sum()) - 1) // len(mask)
        for mask in masks
        for _ in range(mask.sum())
    ]
    return [
        _Hidden(window.group, decile, right, sure[row], true[row])
        for row, (decile, right) in enumerate(zip(deciles, is_right, strict=True))
    ]


def _wrong_words(
    denoiser: Denoiser,
    context: Any,
    window: Window,
    planted: NDArray[np.bool_],
    rng: np.random.Generator,
) -> dict[str, NDArray[np.int64]]:
    """Return the region with wrong words planted: drawn uniformly, and the model's own guesses."""
    truth = window.region
    if not planted.any():
        return {}
    uniform = rng.integers(FIRST_WORD, denoiser.codec.vocab_size, len(truth))
    logits = score_rows(
        denoiser, context, window, tokens=[truth], masked=[planted], wanted=[planted]
    )
    logits[:, -1] = float("-inf")  # PAD is no word
    own = truth.copy()
    own[planted] = logits.argmax(-1).numpy()
    return {"random": np.where(planted, uniform, truth), "own": own}


def _doubts(
    denoiser: Denoiser, context: Any, window: Window, words: NDArray[np.int64]
) -> list[_Visible]:
    everything = np.ones(len(words), np.bool_)
    logits = score_rows(
        denoiser, context, window, tokens=[words], masked=[~everything], wanted=[everything]
    )
    chosen = logits.log_softmax(-1).gather(-1, torch.from_numpy(words)[:, None]).squeeze(-1)
    is_wrong = words != window.region
    return [_Visible(bool(w), -float(d)) for w, d in zip(is_wrong, chosen, strict=True)]


def _fit_temperature(items: Sequence[_Hidden]) -> float:
    """Return the temperature with the lowest cross-entropy; 1 where there is nothing to fit."""
    if not items:
        return 1.0
    mean = np.stack([item.true_logprob for item in items]).mean(0)
    return TEMPERATURES[int(mean.argmax())]


def _describe(items: Sequence[_Hidden], temperature: float, decile: int) -> dict[str, Any]:
    at, plain = TEMPERATURES.index(temperature), TEMPERATURES.index(1.0)
    right = [item.is_right for item in items]
    return {
        "hidden": [decile / NUM_DECILES, (decile + 1) / NUM_DECILES],
        "top1": mean_with_interval([float(r) for r in right], [i.group for i in items]),
        "cross_entropy": _mean([-float(item.true_logprob[plain]) for item in items]),
        "ece": calibration_error([float(item.confidence[at]) for item in items], right),
        "ece_uncalibrated": calibration_error(
            [float(item.confidence[plain]) for item in items], right
        ),
        "auroc": auroc([float(item.confidence[at]) for item in items], right),
        "temperature": temperature,
    }


def _describe_all(items: Sequence[_Hidden], temperatures: Sequence[float]) -> dict[str, Any]:
    at = [TEMPERATURES.index(temperatures[item.decile]) for item in items]
    sure = [float(item.confidence[index]) for item, index in zip(items, at, strict=True)]
    plain = TEMPERATURES.index(1.0)
    right = [item.is_right for item in items]
    return {
        "ece": calibration_error(sure, right),
        "ece_uncalibrated": calibration_error([float(i.confidence[plain]) for i in items], right),
        "auroc": auroc(sure, right),
        "positions": len(items),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
