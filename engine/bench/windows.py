"""Held-out windows by tokens: a region of known truth between two stretches of context.

What the teacher-forced benchmarks score: one forward of chosen canvases, no sampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.canvas.slots import SlotState
from engine.denoisers.base import Context, Denoiser, RegionStream, TextCodec

__all__ = ["Window", "choose_windows", "encode_window", "score_rows"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """`tokens` [C + R + C] of one document, its region the R in the middle."""

    group: tuple[str, int]  # domain and document
    tokens: Ints
    context: int  # C, tokens on each side

    @property
    def region(self) -> Ints:
        return self.tokens[self.context : -self.context]


def choose_windows(
    documents: dict[str, list[str]],
    codec: TextCodec,
    *,
    count: int,
    region: int,
    context: int,
    seed: int,
) -> Iterator[Window]:
    """Yield `count` windows, domains in turn, documents and places by seed."""
    length = region + 2 * context
    rng = np.random.default_rng(seed)
    pools: list[list[tuple[tuple[str, int], Ints]]] = []
    for domain, texts in documents.items():
        pool = [((domain, i), np.array(codec.encode(t), np.int64)) for i, t in enumerate(texts)]
        pool = [item for item in pool if len(item[1]) > length]
        if pool:
            pools.append(pool)
    for number in range(count if pools else 0):
        pool = pools[number % len(pools)]
        group, tokens = pool[int(rng.integers(len(pool)))]
        start = int(rng.integers(0, len(tokens) - length))
        yield Window(group, tokens[start : start + length], context)


def encode_window(denoiser: Denoiser, window: Window, *, width: int | None = None) -> Context:
    """Encode both stretches of context; the right one stands `width` (or R) places on."""
    side = window.context
    gap = len(window.region) if width is None else width
    tokens = np.concatenate([window.tokens[:side], window.tokens[-side:]])
    positions = np.concatenate([np.arange(side), side + gap + np.arange(side)])
    device = denoiser.device
    return denoiser.encode_context(
        torch.from_numpy(tokens).to(device), torch.from_numpy(positions).to(device)
    )


def score_rows(
    denoiser: Denoiser,
    context: Context,
    window: Window,
    *,
    tokens: Sequence[Ints],
    masked: Sequence[NDArray[np.bool_]],
    wanted: Sequence[NDArray[np.bool_]],
) -> Tensor:
    """Return logits [N, V + 1] of the wanted slots of all rows in row-major order, one forward.

    Row r shows `tokens[r]` where `masked[r]` is false; rows may be shorter than others.
    """
    width = 1 + max(len(row) for row in tokens)
    state = np.full((len(tokens), width), int(SlotState.ABSENT), np.uint8)
    shown = np.zeros((len(tokens), width), np.int64)
    asked = np.zeros((len(tokens), width), np.bool_)
    for row, (words, hidden, want) in enumerate(zip(tokens, masked, wanted, strict=True)):
        own = slice(1, 1 + len(words))
        state[row, 0] = int(SlotState.TOKEN)
        shown[row, 0] = window.tokens[window.context - 1]
        state[row, own] = np.where(hidden, int(SlotState.MASK), int(SlotState.TOKEN))
        shown[row, own] = np.where(hidden, 0, words)
        asked[row, own] = want
    positions = np.broadcast_to(window.context - 1 + np.arange(width), shown.shape).copy()
    place = torch.as_tensor
    device = denoiser.device
    stream = RegionStream(
        place(shown).to(device), place(state).to(device), place(positions).to(device)
    )
    return denoiser.score(context, stream, place(asked).to(device)).float().cpu()
