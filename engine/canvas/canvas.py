"""The canvas: the positions a job works on, and the only writer of their tokens.

C candidates of P parts of up to L slots each, kept on the CPU. A slot goes mask -> token
(commitment), token -> mask (remasking), token -> token (edit) or mask -> PAD; what was given at
the start or frozen since never changes. A part may grow. Invariant: committed + masked + padded
= length, for every part. It must not know models, thresholds or text.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.canvas.layout import Window
from engine.canvas.slots import RegionStream, SlotState

__all__ = ["Canvas"]


class Canvas:
    """Slots [C, P, L]: `tokens` int64, `state` uint8, `frozen` bool, `flips` int16.

    `flips` counts how often a slot was taken back or exchanged; `revoked` int64 is the token
    taken back last, in the pass before only, else -1.
    """

    def __init__(self, window: Window, tokens: Tensor, state: Tensor, frozen: Tensor) -> None:
        self.window = window
        self.tokens = tokens
        self.state = state
        self.frozen = frozen
        self.flips = torch.zeros(tokens.shape, dtype=torch.int16)
        self.revoked = torch.full(tokens.shape, -1, dtype=torch.int64)

    @classmethod
    def masked_out(cls, window: Window, lengths: Sequence[Sequence[int]]) -> Canvas:
        """Make one all-masked candidate per row of `lengths` [C][P] (slots of each part)."""
        counts = torch.tensor(lengths, dtype=torch.int64).view(len(lengths), len(window.parts))
        slots = torch.arange(int(counts.max()))
        absent = slots >= counts.unsqueeze(-1)
        state = torch.full(absent.shape, int(SlotState.MASK), dtype=torch.uint8)
        state[absent] = int(SlotState.ABSENT)
        return cls(window, torch.zeros(absent.shape, dtype=torch.int64), state, absent.clone())

    @property
    def num_candidates(self) -> int:
        return int(self.state.shape[0])

    @property
    def masked(self) -> Tensor:
        """Unknown positions, bool [C, P, L]."""
        return self.state == SlotState.MASK

    @property
    def committed(self) -> Tensor:
        """Visible tokens, given ones included, bool [C, P, L]."""
        return self.state == SlotState.TOKEN

    @property
    def lengths(self) -> Tensor:
        """Slots of each part, int64 [C, P]."""
        return (self.state != SlotState.ABSENT).sum(-1)

    def give(self, part: int, tokens: Sequence[int], masked: Sequence[bool]) -> None:
        """Lay existing text into a part of every candidate; what is not masked never changes."""
        row = torch.tensor(list(tokens), dtype=torch.int64)
        hidden = torch.tensor(list(masked))
        assert (self.lengths[:, part] == len(row)).all(), "the part was made for another length"
        self.tokens[:, part, : len(row)] = row
        self.state[:, part, : len(row)] = torch.where(
            hidden, int(SlotState.MASK), int(SlotState.TOKEN)
        ).to(torch.uint8)
        self.frozen[:, part, : len(row)] = ~hidden

    def commit(self, chosen: Tensor, tokens: Tensor, pad_token: int) -> None:
        """Turn masks into `tokens` [C, P, L] where `chosen`; the id `pad_token` means PAD."""
        assert not (chosen & ~self.masked).any(), "only masks can be committed"
        as_pad = chosen & (tokens == pad_token)
        as_token = chosen & ~as_pad
        self.tokens = torch.where(as_token, tokens, self.tokens)
        self.state[as_token] = int(SlotState.TOKEN)
        self.state[as_pad] = int(SlotState.PAD)

    def remask(self, chosen: Tensor) -> None:
        """Turn tokens back into masks where `chosen` [C, P, L]; frozen slots never."""
        assert not (chosen & (self.frozen | ~self.committed)).any(), "a frozen slot cannot change"
        self.state[chosen] = int(SlotState.MASK)
        self.flips[chosen] += 1
        self.revoked = torch.where(chosen, self.tokens, -1)

    def edit(self, chosen: Tensor, tokens: Tensor) -> None:
        """Exchange visible tokens for `tokens` [C, P, L] where `chosen`; frozen slots never."""
        assert not (chosen & (self.frozen | ~self.committed)).any(), "a frozen slot cannot change"
        self.tokens = torch.where(chosen, tokens, self.tokens)
        self.flips[chosen] += 1

    def grow(self, candidate: int, part: int, num_slots: int) -> None:
        """Give a part of one candidate so many more masks behind its last slot."""
        first = int(self.lengths[candidate, part])
        missing = first + num_slots - self.tokens.shape[-1]
        if missing > 0:
            more = (*self.tokens.shape[:-1], missing)
            absent = torch.full(more, int(SlotState.ABSENT), dtype=self.state.dtype)
            self.state = torch.cat([self.state, absent], dim=-1)
            self.tokens = torch.cat([self.tokens, self.tokens.new_zeros(more)], dim=-1)
            self.frozen = torch.cat([self.frozen, self.frozen.new_ones(more)], dim=-1)
            self.flips = torch.cat([self.flips, self.flips.new_zeros(more)], dim=-1)
            self.revoked = torch.cat([self.revoked, self.revoked.new_full(more, -1)], dim=-1)
        self.state[candidate, part, first : first + num_slots] = int(SlotState.MASK)
        self.frozen[candidate, part, first : first + num_slots] = False

    def freeze(self, chosen: Tensor) -> None:
        """Make slots [C, P, L] final."""
        self.frozen = self.frozen | chosen

    def select(self, candidates: Sequence[int]) -> Canvas:
        """Return a canvas of the named candidates, in that order; one may be named twice."""
        index = torch.tensor(list(candidates), dtype=torch.int64)
        width = int(self.lengths[index].max())
        chosen = Canvas(
            self.window,
            self.tokens[index, :, :width].clone(),
            self.state[index, :, :width].clone(),
            self.frozen[index, :, :width].clone(),
        )
        chosen.flips = self.flips[index, :, :width].clone()
        chosen.revoked = self.revoked[index, :, :width].clone()
        return chosen

    def settled_prefix(self) -> Tensor:
        """Slots before the first mask of each part, bool [C, P, L], absent ones excluded."""
        known = (self.state != SlotState.MASK).to(torch.int8)
        return known.cumprod(-1).bool() & (self.state != SlotState.ABSENT)

    def stream(self, candidates: Sequence[int], device: torch.device) -> RegionStream:
        """Return the region stream [B, P * (1 + L)] of the named candidates.

        L is the longest of them; each part is its anchor and then its slots.
        """
        index = torch.tensor(list(candidates), dtype=torch.int64)
        width = int(self.lengths[index].max())
        rows, parts = len(index), len(self.window.parts)
        anchors = torch.tensor(self.window.anchors).view(1, parts, 1).expand(rows, -1, -1)
        bases = torch.tensor(self.window.bases).view(1, parts, 1).expand(rows, -1, -1)
        tokens = torch.cat([anchors, self.tokens[index, :, :width]], dim=-1)
        visible = torch.full((rows, parts, 1), int(SlotState.TOKEN), dtype=torch.uint8)
        state = torch.cat([visible, self.state[index, :, :width]], dim=-1)
        positions = bases - 1 + torch.arange(width + 1)
        return RegionStream(
            tokens.flatten(1).to(device),
            state.flatten(1).to(device),
            positions.flatten(1).to(device),
        )

    def part_tokens(self, candidate: int, part: int) -> list[int | None]:
        """Return the part's visible tokens and None for masks, without PAD."""
        states = self.state[candidate, part].tolist()
        tokens = self.tokens[candidate, part].tolist()
        hidden = (SlotState.PAD, SlotState.ABSENT)
        return [
            token if state == SlotState.TOKEN else None
            for token, state in zip(tokens, states, strict=True)
            if state not in hidden
        ]
