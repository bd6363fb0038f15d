"""One forward over canvases, and what it said of each masked slot.

The only part of sampling that calls `Denoiser.score`. Turns logits into proposals: bans first,
then greedy or sampled tokens, with confidence and entropy of the untempered distribution.

Shapes: C candidates, P parts, L slots, N scored slots, V vocabulary (column V is PAD).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.canvas.canvas import Canvas
from engine.canvas.slots import SlotState
from engine.denoisers.base import Context, Denoiser
from engine.sampling.admissible import BANNED, Admissible
from engine.sampling.calibration import Calibration
from engine.sampling.guidance import Guidance

__all__ = [
    "Beliefs",
    "VisibleBeliefs",
    "drift_between",
    "hidden_probability",
    "hidden_stripes",
    "score_canvas",
    "visible_beliefs",
]

NUM_BEST = 4  # kept per slot, so that a doubled word or space can give way to the next best


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Distributions of the masked slots; `row` [C, P, L] finds a slot's row, -1 elsewhere."""

    row: Tensor
    logprobs: Tensor  # [N, V + 1] float32, after bans
    best: Tensor  # [N, NUM_BEST] int64, best first
    best_logprob: Tensor  # [N, NUM_BEST] float32
    entropy: Tensor  # [N] float32
    nfe: int  # canvases that were scored

    def gather(self, sources: Sequence[Sequence[int]], width: int) -> Beliefs:
        """Return beliefs whose candidate c takes part p from candidate `sources[c][p]`."""
        rows = [
            torch.stack([self.row[source, part, :width] for part, source in enumerate(parts)])
            for parts in sources
        ]
        return Beliefs(
            torch.stack(rows), self.logprobs, self.best, self.best_logprob, self.entropy, self.nfe
        )


def score_canvas(
    denoiser: Denoiser,
    context: Context,
    canvas: Canvas,
    admissible: Admissible,
    *,
    calibration: Calibration,
    guidance: Guidance | None = None,
) -> Beliefs:
    """Score every masked slot of the candidates that have any: one forward.

    Logits are divided by the temperature of their part's mask ratio, then guided, before any
    ban. Costs one NFE for each such candidate, two with guidance.
    """
    masked = canvas.masked
    active = torch.nonzero(masked.flatten(1).any(-1)).flatten().tolist()
    logits = _forward(denoiser, context, canvas, active, masked[active])
    if not calibration.is_identity:
        logits = logits / _temperatures(calibration, canvas)[masked].unsqueeze(-1).to(logits)
    logits, nfe = (guidance or Guidance()).apply(denoiser, context, canvas, logits)
    logits = admissible.apply(logits, canvas, active)
    _ban_revoked(logits, canvas.revoked[masked])
    row = torch.full(masked.shape, -1, dtype=torch.int64)
    row[masked] = torch.arange(int(masked.sum()))
    logprobs = logits.log_softmax(-1)
    best_logprob, best = logprobs.topk(NUM_BEST, dim=-1)
    entropy = -(logprobs.exp() * logprobs).sum(-1)
    return Beliefs(row, logprobs, best.cpu(), best_logprob.cpu(), entropy.cpu(), len(active) + nfe)


def _temperatures(calibration: Calibration, canvas: Canvas) -> Tensor:
    """Return the divisor of every slot [C, P, L]: one number a part."""
    num_masked, lengths = canvas.masked.sum(-1).tolist(), canvas.lengths.tolist()
    by_part = [
        [calibration.temperature(masked, max(slots, 1)) for masked, slots in zip(*row, strict=True)]
        for row in zip(num_masked, lengths, strict=True)
    ]
    return torch.tensor(by_part).unsqueeze(-1).expand(canvas.masked.shape)


def _ban_revoked(logits: Tensor, revoked: Tensor) -> None:
    """A token that was taken back in the last pass is not chosen again in this one."""
    rows = torch.nonzero(revoked >= 0).flatten()
    if rows.numel():
        logits[rows.to(logits.device), revoked[rows].to(logits.device)] = BANNED


@dataclass(frozen=True, slots=True)
class VisibleBeliefs:
    """What the model thinks of visible tokens where they stand, [C, P, L]."""

    own: Tensor  # float32, the token's probability; 1 where not asked
    best: Tensor  # int64, the most probable token
    lead: Tensor  # float32, its probability; 0 where not asked
    nfe: int


def visible_beliefs(
    denoiser: Denoiser, context: Context, canvas: Canvas, wanted: Tensor
) -> VisibleBeliefs:
    """Score the visible slots `wanted` [C, P, L] as they stand: one forward.

    For models whose logits of visible slots are trained. PAD and special ids are left out.
    """
    own, lead = torch.ones(wanted.shape), torch.zeros(wanted.shape)
    best = canvas.tokens.clone()
    active = torch.nonzero(wanted.flatten(1).any(-1)).flatten().tolist()
    if active:
        logits = _forward(denoiser, context, canvas, active, wanted[active])[:, :-1]
        logits[:, sorted(denoiser.codec.special_ids())] = BANNED
        probability = logits.softmax(-1).cpu()
        top, token = probability.max(-1)
        own[wanted] = probability.gather(-1, canvas.tokens[wanted].unsqueeze(-1)).squeeze(-1)
        best[wanted], lead[wanted] = token, top
    return VisibleBeliefs(own, best, lead, len(active))


def drift_between(earlier: Beliefs | None, now: Beliefs) -> Tensor:
    """Return KL(now || earlier) in nats of each slot [C, P, L]; infinite where new or known."""
    drift = torch.full(now.row.shape, float("inf"))
    if earlier is None or earlier.row.shape != now.row.shape:
        return drift
    both = (now.row >= 0) & (earlier.row >= 0)
    fresh, old = now.logprobs[now.row[both]], earlier.logprobs[earlier.row[both]]
    drift[both] = (fresh.exp() * (fresh - old)).sum(-1).cpu()
    return drift


def hidden_probability(
    denoiser: Denoiser, context: Context, canvas: Canvas, hidden: Tensor
) -> Tensor:
    """Return p(token | the rest) of visible slots with each one hidden, float32 [C, P, L].

    `hidden` bool [C, P, L] names them; the result is 1 elsewhere. One forward with one row
    for each hidden slot: that many NFE.
    """
    places = torch.nonzero(hidden).tolist()
    result = torch.ones(hidden.shape)
    if not places:
        return result
    shadows = canvas.select([candidate for candidate, _, _ in places])
    row_of = torch.full(hidden.shape, -1, dtype=torch.int64)
    for row, (candidate, part, slot) in enumerate(places):
        row_of[candidate, part, slot] = row
    return _score_hidden(denoiser, context, canvas, shadows, row_of)


def hidden_stripes(
    denoiser: Denoiser, context: Context, canvas: Canvas, num_stripes: int
) -> Tensor:
    """Return p(token | the rest) of every visible slot of one candidate, float32 [1, P, L].

    Every `num_stripes`-th slot is hidden together: one forward, `num_stripes` NFE.
    """
    assert canvas.num_candidates == 1, "one candidate at a time"
    stripe = torch.arange(canvas.tokens.shape[-1]) % num_stripes
    row_of = torch.where(canvas.committed, stripe, -1)
    used = range(min(num_stripes, canvas.tokens.shape[-1]))
    return _score_hidden(denoiser, context, canvas, canvas.select([0 for _ in used]), row_of)


def _score_hidden(
    denoiser: Denoiser, context: Context, canvas: Canvas, shadows: Canvas, row_of: Tensor
) -> Tensor:
    """Hide slot (c, p, s) in shadow row `row_of[c, p, s]` (-1: nowhere) and score it there."""
    result = torch.ones(row_of.shape)
    wanted = torch.zeros(shadows.state.shape, dtype=torch.bool)
    places = sorted(
        (int(row_of[c, p, s]), p, s, c) for c, p, s in torch.nonzero(row_of >= 0).tolist()
    )
    for row, part, slot, _ in places:
        shadows.state[row, part, slot] = int(SlotState.MASK)
        wanted[row, part, slot] = True
    rows = list(range(shadows.num_candidates))
    logprobs = _forward(denoiser, context, shadows, rows, wanted).log_softmax(-1).cpu()
    for index, (_, part, slot, candidate) in enumerate(places):
        token = int(canvas.tokens[candidate, part, slot])
        result[candidate, part, slot] = float(logprobs[index, token].exp())
    return result


def _forward(
    denoiser: Denoiser, context: Context, canvas: Canvas, candidates: list[int], wanted: Tensor
) -> Tensor:
    """Return logits [N, V + 1] of `wanted` [B, P, L], whose rows are the candidates."""
    stream = canvas.stream(candidates, denoiser.device)
    rows, parts = wanted.shape[:2]
    width = stream.tokens.shape[1] // parts - 1
    columns = torch.zeros(rows, parts, width + 1, dtype=torch.bool)
    columns[:, :, 1:] = wanted[:, :, :width]
    return denoiser.score(context, stream, columns.flatten(1).to(denoiser.device))
