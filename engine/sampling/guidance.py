"""Guidance: the causal base's opinion of each part's first open slot, mixed into the denoiser's.

Everything left of that slot is known, so the base's own next-token distribution applies to it.
The mixture is of probabilities, which keeps both calibrated; PAD is the denoiser's alone.

Source: mixing a masked model's marginals with a small autoregressive model is APD
(arXiv:2506.00413); it multiplies, we measured both (engine/LOG.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.canvas.canvas import Canvas
from engine.canvas.slots import RegionStream, SlotState
from engine.denoisers.base import Context, Denoiser

__all__ = ["Guidance"]


@dataclass(frozen=True, slots=True)
class Guidance:
    """`weight` is the base's share of the mixture, 0 (off, costs nothing) to below 1."""

    weight: float = 0.0

    def apply(
        self, denoiser: Denoiser, context: Context, canvas: Canvas, logits: Tensor
    ) -> tuple[Tensor, int]:
        """Mix into logits [N, V + 1] of all masked slots, row-major; return them and the NFE.

        One forward of the base over the anchors and settled tokens of all candidates' parts.
        """
        masked = canvas.masked
        is_open = masked.any(-1)
        if self.weight == 0.0 or not bool(is_open.any()) or not denoiser.capabilities.has_causal:
            return logits, 0
        first = masked.to(torch.int64).argmax(-1)
        stream, num_before, wanted = _left_of(canvas, is_open, first)
        device = denoiser.device
        causal = denoiser.score_causal(
            context,
            RegionStream(*(t.to(device) for t in (stream.tokens, stream.state, stream.positions))),
            num_before.to(device),
            wanted.to(device),
        )
        row = torch.full(masked.shape, -1, dtype=torch.int64)
        row[masked] = torch.arange(int(masked.sum()))
        rows = row.gather(-1, first.unsqueeze(-1)).squeeze(-1)[is_open].to(device)
        logits = logits.clone()
        logits[rows] = _mixed(logits[rows], causal, self.weight)
        return logits, int(is_open.any(-1).sum())


def _mixed(infill: Tensor, causal: Tensor, weight: float) -> Tensor:
    """Return log-probabilities [N, V + 1]; special ids are the bans' business, after this."""
    logprobs = infill.log_softmax(-1)
    words = torch.log1p(-logprobs[:, -1:].exp().clamp_max(1 - 1e-6))  # of "not PAD"
    given = causal.log_softmax(-1) + words + math.log(weight)
    mixed = torch.logaddexp(logprobs[:, :-1] + math.log1p(-weight), given)
    return torch.cat([mixed, logprobs[:, -1:]], dim=-1)


def _left_of(canvas: Canvas, is_open: Tensor, first: Tensor) -> tuple[RegionStream, Tensor, Tensor]:
    """Return a row for every open part: its anchor, its tokens before `first`, and that slot.

    Beside it how many context tokens stand before the anchor [B], and the slot asked for.
    """
    window = canvas.window
    counts, before = len(window.left), []
    for run in window.runs:
        before.append(counts - 1)  # without the anchor, which opens the row
        counts += len(run)
    places = torch.nonzero(is_open).tolist()
    width = 2 + int(first[is_open].max())
    tokens = torch.zeros(len(places), width, dtype=torch.int64)
    state = torch.full((len(places), width), int(SlotState.ABSENT), dtype=torch.uint8)
    positions = torch.zeros(len(places), width, dtype=torch.int64)
    wanted = torch.zeros(len(places), width, dtype=torch.bool)
    for row, (candidate, part) in enumerate(places):
        count = int(first[candidate, part])
        tokens[row, 0] = window.anchors[part]
        tokens[row, 1 : 1 + count] = canvas.tokens[candidate, part, :count]
        state[row, : 2 + count] = int(SlotState.TOKEN)
        positions[row] = window.bases[part] - 1 + torch.arange(width)
        wanted[row, 1 + count] = True
    num_before = torch.tensor([before[part] for _, part in places])
    return RegionStream(tokens, state, positions), num_before, wanted
