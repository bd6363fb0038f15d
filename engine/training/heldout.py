"""Held-out measurement during training: the same windows and the same holes every time.

Owns the curve that says whether training helps: top-1 accuracy and cross-entropy on masked
positions at fixed mask ratios, and on short gaps that are wholly unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.denoisers.codec import BytePairCodec
from engine.training.corpus import SEPARATOR, STRAIGHT_QUOTES
from engine.training.objective import infill_loss
from engine.training.trainer import Batch, Trainer

__all__ = ["CASES", "HeldoutCase", "HeldoutScore", "measure", "read_windows"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HeldoutCase:
    """One region of `length` tokens in the middle, `ratio` of them masked, then masked PAD."""

    name: str
    length: int
    ratio: float
    pad: int = 0
    context: int = 96


CASES = (
    HeldoutCase("masked_15", 96, 0.15),
    HeldoutCase("masked_50", 96, 0.5),
    HeldoutCase("masked_all", 96, 1.0),
    HeldoutCase("gap_8", 8, 1.0),
    HeldoutCase("gap_4", 4, 1.0),
    HeldoutCase("gap_2", 2, 1.0),
    HeldoutCase("gap_1", 1, 1.0),
    HeldoutCase("gap_5_of_16", 5, 1.0, pad=11),
)


@dataclass(frozen=True, slots=True)
class HeldoutScore:
    """Over all masked positions of a case; `first_accuracy` over each region's first one."""

    name: str
    accuracy: float
    cross_entropy: float
    first_accuracy: float
    num_positions: int


def read_windows(folder: Path, codec: BytePairCodec, *, count: int, length: int) -> Ints:
    """Return [count, length] tokens, documents chosen evenly over all files of `folder`."""
    rng = np.random.default_rng(7)
    files = sorted(folder.glob("*.txt"))
    pools: list[list[Ints]] = []
    for path in files:
        if path.name.startswith("README"):
            continue
        documents = path.read_text(encoding="utf-8").split(SEPARATOR)
        texts = [document.strip().translate(STRAIGHT_QUOTES) for document in documents]
        tokens = [np.array(codec.encode(text), dtype=np.int64) for text in texts]
        pools.append([item for item in tokens if len(item) > length])
    chosen = []
    for index in range(count):
        pool = pools[index % len(pools)]
        document = pool[int(rng.integers(len(pool)))]
        start = int(rng.integers(0, len(document) - length))
        chosen.append(document[start : start + length])
    return np.stack(chosen)


def measure(
    trainer: Trainer, windows: Ints, cases: Sequence[HeldoutCase] = CASES, rows: int = 16
) -> list[HeldoutScore]:
    """Score the averaged weights on every case; windows hold at least 192 tokens."""
    return [_measure_case(trainer, windows, case, rows) for case in cases]


def _measure_case(trainer: Trainer, windows: Ints, case: HeldoutCase, rows: int) -> HeldoutScore:
    losses, hits, firsts = [], [], []
    for start in range(0, len(windows), rows):
        batch = _hide(windows[start : start + rows], case, trainer, np.random.default_rng(start))
        with torch.no_grad():
            hidden = trainer.hidden(batch, trainer.encode(batch), trainer.averaged)
            targets, weight = batch.targets.flatten(), batch.weight.flatten()
            chosen = weight.nonzero().squeeze(-1)
            _, loss, best = infill_loss(
                hidden.flatten(0, 1)[chosen - 1],
                trainer.averaged["pad_embedding"],
                trainer.base.embed,
                targets[chosen],
                weight[chosen],
            )
        losses.append(loss)
        hits.append(best == targets[chosen])
        firsts.append((best == targets[chosen])[chosen % (case.length + case.pad + 1) == 1])
    num = sum(int(part.numel()) for part in losses)
    return HeldoutScore(case.name, _mean(hits), _mean(losses), _mean(firsts), num)


def _mean(parts: list[Tensor]) -> float:
    return float(torch.cat(parts).float().mean())


def _hide(windows: Ints, case: HeldoutCase, trainer: Trainer, rng: np.random.Generator) -> Batch:
    count = len(windows)
    left, length = case.context // 2, case.length
    text = windows[:, : case.context + length]
    region = text[:, left : left + length]
    places = np.broadcast_to(np.arange(text.shape[1] + case.pad), (count, text.shape[1] + case.pad))
    masked = rng.random((count, length)) < case.ratio
    masked[:, 0] |= ~masked.any(1)
    anchor = np.zeros((count, 1), np.int64)
    pad = np.ones((count, case.pad), np.int64)
    behind = left + length + case.pad
    arrays = {
        "context": np.concatenate([text[:, :left], text[:, left + length :]], axis=1),
        "context_positions": np.concatenate([places[:, :left], places[:, behind:]], axis=1),
        "tokens": np.concatenate([text[:, left - 1 : left], region, 0 * pad], axis=1),
        "state": np.concatenate([anchor, masked, pad], axis=1).astype(np.uint8),
        "positions": places[:, left - 1 : behind].copy(),
        "targets": np.concatenate([anchor - 1, region, pad * trainer.vocab_size], axis=1),
        "weight": np.concatenate([anchor, masked, pad], axis=1).astype(np.float32),
    }
    arrays |= {"other_state": arrays["state"], "other_weight": arrays["weight"]}
    return Batch(
        **{name: torch.from_numpy(array).to(trainer.device) for name, array in arrays.items()}
    )
