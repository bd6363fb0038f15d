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
    "HiddenBeliefs",
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
    denoiser: Denoiser,
    context: Context,
    canvas: Canvas,
    wanted: Tensor,
    admissible: Admissible | None = None,
) -> VisibleBeliefs:
    """Score the visible slots `wanted` [C, P, L] as they stand: one forward.

    For models whose logits of visible slots are trained. PAD and special ids are left out, and
    so is, as the best, what `admissible` does not let stand there.
    """
    own, lead = torch.ones(wanted.shape), torch.zeros(wanted.shape)
    best = canvas.tokens.clone()
    active = torch.nonzero(wanted.flatten(1).any(-1)).flatten().tolist()
    if active:
        logits = _forward(denoiser, context, canvas, active, wanted[active])[:, :-1]
        logits[:, sorted(denoiser.codec.special_ids())] = BANNED
        probability = logits.softmax(-1).cpu()
        allowed = logits if admissible is None else logits.clone()
        if admissible is not None:
            for row, (c, p, s) in enumerate(torch.nonzero(wanted).tolist()):
                allowed[row] += admissible.visible_bias(canvas, (c, p, s))[:-1]
        top, token = allowed.softmax(-1).cpu().max(-1)
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


@dataclass(frozen=True, slots=True)
class HiddenBeliefs:
    """What the model thinks of visible tokens when they are hidden, float32 [C, P, L]."""

    own: Tensor  # the token's probability given the rest; 1 where not asked
    lead: Tensor  # that of the most probable token or PAD; 0 where not asked
    nfe: int


def hidden_probability(
    denoiser: Denoiser,
    context: Context,
    canvas: Canvas,
    hidden: Tensor,
    admissible: Admissible | None = None,
) -> HiddenBeliefs:
    """Score visible slots with each one hidden by itself; `hidden` bool [C, P, L] names them.

    One forward with one row for each hidden slot: that many NFE.
    """
    places = torch.nonzero(hidden).tolist()
    if not places:
        return HiddenBeliefs(torch.ones(hidden.shape), torch.zeros(hidden.shape), 0)
    shadows = canvas.select([candidate for candidate, _, _ in places])
    row_of = torch.full(hidden.shape, -1, dtype=torch.int64)
    for row, (candidate, part, slot) in enumerate(places):
        row_of[candidate, part, slot] = row
    return _score_hidden(denoiser, context, canvas, (shadows, row_of), admissible)


def hidden_stripes(
    denoiser: Denoiser,
    context: Context,
    canvas: Canvas,
    hidden: Tensor,
    admissible: Admissible | None = None,
    *,
    num_stripes: int,
) -> HiddenBeliefs:
    """Score the visible slots `hidden` [C, P, L] with every `num_stripes`-th hidden together.

    A cheaper `hidden_probability`: slots that are hidden together stand apart. One forward,
    `num_stripes` NFE for each candidate with such slots.
    """
    sources = torch.nonzero(hidden.flatten(1).any(-1)).flatten().tolist()
    used = min(num_stripes, canvas.tokens.shape[-1])
    row_of = torch.full(hidden.shape, -1, dtype=torch.int64)
    stripe = torch.arange(canvas.tokens.shape[-1]) % num_stripes
    for place, candidate in enumerate(sources):
        row_of[candidate] = torch.where(hidden[candidate], place * used + stripe, -1)
    shadows = canvas.select([candidate for candidate in sources for _ in range(used)])
    return _score_hidden(denoiser, context, canvas, (shadows, row_of), admissible)


def _score_hidden(
    denoiser: Denoiser,
    context: Context,
    canvas: Canvas,
    shading: tuple[Canvas, Tensor],
    admissible: Admissible | None,
) -> HiddenBeliefs:
    """Hide slot (c, p, s) in row `row_of[c, p, s]` (-1: nowhere) of the shadows and score it.

    With `admissible` among what may stand there, else among all tokens.
    """
    shadows, row_of = shading
    own, lead = torch.ones(row_of.shape), torch.zeros(row_of.shape)
    places = torch.nonzero(row_of >= 0).tolist()
    rows = sorted({int(row_of[tuple(place)]) for place in places})
    wanted = torch.zeros(shadows.state.shape, dtype=torch.bool)
    for c, p, s in places:
        shadows.state[row_of[c, p, s], p, s] = int(SlotState.MASK)
        wanted[row_of[c, p, s], p, s] = True
    if admissible is not None:  # bans are told from all masks of a row
        wanted[rows] = shadows.masked[rows]
    logits = _forward(denoiser, context, shadows, rows, wanted[rows])
    if admissible is not None:
        logits = admissible.apply(logits, shadows, rows)
    logprobs = logits.log_softmax(-1).cpu()
    index = torch.full(wanted.shape, -1, dtype=torch.int64)
    index[wanted] = torch.arange(int(wanted.sum()))
    for c, p, s in places:
        row = logprobs[index[row_of[c, p, s], p, s]]
        own[c, p, s] = row[canvas.tokens[c, p, s]].exp()
        lead[c, p, s] = row.max().exp()
    return HiddenBeliefs(own, lead, len(rows))


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
