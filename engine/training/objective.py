"""Weighted cross-entropy over many outputs without keeping the logits.

The output rows are frozen except PAD's, so the loss of a chunk of hidden states and its gradient
are computed together in the forward and only the gradient is kept.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["infill_loss"]

CHUNK_ROWS = 256


def infill_loss(
    hidden: Tensor, pad_row: Tensor, embed: Tensor, targets: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the sum of weight * cross-entropy, each row's loss and its best guess.

    hidden [N, D] float32, pad_row [D], embed [V, D], targets [N] int64 (V = PAD), weight [N].
    Only the sum has a gradient, towards hidden and pad_row.
    """
    result: tuple[Tensor, Tensor, Tensor] = _InfillLoss.apply(  # type: ignore[no-untyped-call]
        hidden, pad_row, embed, targets, weight
    )
    return result


class _InfillLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, pad_row: Tensor, embed: Tensor, targets: Tensor, weight: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        num_rows = hidden.shape[0]
        losses = hidden.new_empty(num_rows)
        guesses = targets.new_empty(num_rows)
        grad_hidden = torch.empty_like(hidden)
        grad_pad = torch.zeros_like(pad_row, dtype=torch.float32)
        vocab = embed.shape[0]
        for start in range(0, num_rows, CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            h, target = hidden[rows], targets[rows]
            logits = torch.cat(
                [
                    torch.nn.functional.linear(h.to(embed.dtype), embed).float(),
                    (h @ pad_row).unsqueeze(-1),
                ],
                dim=-1,
            )
            guesses[rows] = logits.argmax(-1)
            logits -= logits.logsumexp(-1, keepdim=True)
            losses[rows] = -logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
            slope = logits.exp_()
            slope.scatter_add_(-1, target.unsqueeze(-1), torch.full_like(slope[:, :1], -1.0))
            slope *= weight[rows].unsqueeze(-1)
            grad_hidden[rows] = (slope[:, :vocab].to(embed.dtype) @ embed).float()
            grad_hidden[rows] += slope[:, vocab:] * pad_row
            grad_pad += slope[:, vocab] @ h
        ctx.save_for_backward(grad_hidden, grad_pad)
        ctx.mark_non_differentiable(losses, guesses)
        return (losses * weight).sum(), losses, guesses

    @staticmethod
    def backward(
        ctx: Any, grad_sum: Tensor, _losses: Tensor, _guesses: Tensor
    ) -> tuple[Tensor, Tensor, None, None, None]:
        grad_hidden, grad_pad = ctx.saved_tensors
        return grad_hidden * grad_sum, grad_pad * grad_sum, None, None, None
