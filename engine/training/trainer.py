"""The training loop: one resumable state, one step, held-out measurement, checkpoints.

Every random choice is a function of (seed, batch number), so resuming from a checkpoint repeats
exactly what an uninterrupted run would have done. The released weights are an exponential moving
average, which stands in for a decay of the learning rate at any moment.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from engine.denoisers.adapter import Adapter
from engine.denoisers.base import RegionStream, SlotState
from engine.denoisers.infill import embed_stream
from engine.denoisers.llama import (
    KeyValue,
    LayerStep,
    Shape,
    Weights,
    causal_stream,
    region_layer,
    region_stream,
)
from engine.training.corpus import Corpus
from engine.training.corruption import CorruptionConfig, corrupt, stack_samples
from engine.training.objective import infill_loss

__all__ = ["Batch", "StepReport", "TrainConfig", "Trainer", "make_batch", "second_look"]


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Everything that decides what a run computes."""

    seed: int = 1
    batch: int = 20  # windows in one piece
    accumulate: int = 1  # pieces whose gradients make one step
    learning_rate: float = 3e-4
    warmup_steps: int = 60
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    average: float = 0.98  # of the moving average of the weights
    own_wrong_share: float = 0.08  # of the second look's visible words: its first guess instead
    scored_ratio: float = 0.75  # rows kept for the loss, a fixed number per batch
    other_scored_ratio: float = 0.55  # the same for the second look, which hides less
    corruption: CorruptionConfig = field(default_factory=CorruptionConfig)


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of `Sample`, with a leading axis of B samples."""

    context: Tensor
    context_positions: Tensor
    tokens: Tensor
    state: Tensor
    positions: Tensor
    targets: Tensor
    weight: Tensor
    other_state: Tensor
    other_weight: Tensor

    @property
    def stream(self) -> RegionStream:
        return RegionStream(self.tokens, self.state, self.positions)


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did. Losses in nats; rates over scored rows."""

    step: int
    loss: float
    masked_accuracy: float
    region_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Piece:
    loss: float
    masked_accuracy: float
    region_tokens: int


def make_batch(
    corpus: Corpus, config: TrainConfig, vocab_size: int, number: int, device: torch.device
) -> Batch:
    """Return the run's batch of that number; it depends on config.seed and the number only."""
    shape = config.corruption
    samples = []
    for row in range(config.batch):
        rng = np.random.default_rng((config.seed, number, row))
        window = corpus.choose_window(shape.context_tokens + shape.stream_slots, rng)
        samples.append(corrupt(window, shape, vocab_size, rng))
    arrays = stack_samples(samples)
    return Batch(**{name: torch.from_numpy(array).to(device) for name, array in arrays.items()})


def second_look(batch: Batch, guesses: Tensor, share: float, rng: np.random.Generator) -> Batch:
    """Return the batch with the complement hidden, and a few of the model's own wrong words.

    `guesses` [B, S] int64 holds the first look's best word for each masked slot, -1 elsewhere (and
    for PAD). With probability `share` a visible slot shows it in place of the true word and is
    scored, so that the model learns to doubt what it would itself have said.

    Source: step-unrolled denoising, SUNDAE (arXiv:2112.06749), one unrolled step.
    """
    draw = torch.from_numpy(rng.random(tuple(guesses.shape))).to(guesses.device)
    in_view = (batch.other_state == SlotState.TOKEN) & (batch.targets >= 0)
    shown = in_view & (guesses >= 0) & (draw < share)
    words = torch.where(in_view, batch.targets, batch.tokens)
    return replace(
        batch,
        tokens=torch.where(shown, guesses, words),
        state=batch.other_state,
        weight=torch.where(shown, 1.0, batch.other_weight),
    )


class Trainer:
    """Parameters, optimiser and moving average of one run."""

    def __init__(
        self, base: Weights, shape: Shape, adapter: Adapter, corpus: Corpus, config: TrainConfig
    ) -> None:
        self.base, self.shape, self.corpus, self.config = base, shape, corpus, config
        self.device = base.embed.device
        self.vocab_size = base.embed.shape[0]
        self.step_index = 0
        self.region_tokens = 0
        self.parameters = {
            name: tensor.detach().to(self.device, torch.float32).clone().requires_grad_()
            for name, tensor in adapter.tensors.items()
        }
        self.averaged = {name: p.detach().clone() for name, p in self.parameters.items()}
        matrices = [p for p in self.parameters.values() if p.dim() == 2]
        vectors = [p for p in self.parameters.values() if p.dim() == 1]
        self.optimiser = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": config.weight_decay},
                {"params": vectors, "weight_decay": 0.0},
            ],
            lr=config.learning_rate,
            betas=(0.9, 0.98),
        )
        self._layer: LayerStep = region_layer

    def compile(self) -> None:
        """Compile the region layer; worth it for runs of more than a few minutes."""
        self._layer = torch.compile(region_layer, dynamic=False)

    def step(self) -> StepReport:
        """Run one optimiser step and advance."""
        started = time.perf_counter()
        pieces = range(self.config.accumulate)
        done = [self._piece(self.step_index * self.config.accumulate + index) for index in pieces]
        self._update()
        tokens = sum(piece.region_tokens for piece in done)
        self.region_tokens += tokens
        report = StepReport(
            self.step_index,
            sum(piece.loss for piece in done) / len(done),
            sum(piece.masked_accuracy for piece in done) / len(done),
            tokens,
            time.perf_counter() - started,
        )
        self.step_index += 1
        return report

    def _piece(self, number: int) -> _Piece:
        """Add one batch's gradient: two looks at one encoded context."""
        config = self.config
        batch = make_batch(self.corpus, config, self.vocab_size, number, self.device)
        context = self.encode(batch)
        loss, accuracy, guesses = self._half_step(batch, context, config.scored_ratio)
        rng = np.random.default_rng((config.seed, number, 1 << 20))
        other = second_look(batch, guesses, config.own_wrong_share, rng)
        self._half_step(other, context, config.other_scored_ratio)
        return _Piece(loss, accuracy, 2 * int((batch.targets >= 0).sum()))

    def encode(self, batch: Batch) -> list[KeyValue]:
        """Context keys and values [B, Hkv, C, E] per layer, by the frozen base."""
        with torch.no_grad():
            _, cache = causal_stream(batch.context, batch.context_positions, self.base, self.shape)
        return cache

    def hidden(
        self, batch: Batch, context: list[KeyValue], parameters: dict[str, Tensor]
    ) -> Tensor:
        """Return the updated stream's last hidden states [B, S, D] float32."""
        weights = Adapter(parameters).apart(self.base)
        x = embed_stream(
            batch.stream,
            self.base.embed,
            parameters["mask_embedding"],
            parameters["pad_embedding"],
        )
        absent = batch.state == SlotState.ABSENT
        bias = torch.zeros(x.shape[0], 1, batch.context.shape[1] + x.shape[1], device=self.device)
        bias[:, 0, batch.context.shape[1] :].masked_fill_(absent, float("-inf"))
        return region_stream(
            x,
            batch.positions,
            context,
            bias,
            weights=weights,
            shape=self.shape,
            layer_step=self._layer,
        )

    def _half_step(
        self, batch: Batch, context: list[KeyValue], scored_ratio: float
    ) -> tuple[float, float, Tensor]:
        """Add half a step's gradient; return its loss, accuracy and the masked slots' guesses."""
        hidden = self.hidden(batch, context, self.parameters)
        rows = _scored_rows(batch, scored_ratio)
        flat_targets, flat_weight = batch.targets.flatten(), batch.weight.flatten()
        # Column s is predicted by column s - 1; an anchor is never a target, so s >= 1.
        loss, _, best = infill_loss(
            hidden.flatten(0, 1)[rows - 1],
            self.parameters["pad_embedding"],
            self.base.embed,
            flat_targets[rows].clamp_min(0),
            flat_weight[rows],
        )
        scale = flat_weight[rows].sum().clamp_min(1.0)
        (loss / scale / (2 * self.config.accumulate)).backward()  # type: ignore[no-untyped-call]
        masked = (batch.state.flatten()[rows] == SlotState.MASK) & (flat_weight[rows] > 0)
        right = (best == flat_targets[rows]) & masked
        guesses = torch.full_like(flat_targets, -1)
        guesses[rows[masked]] = torch.where(best < self.vocab_size, best, -1)[masked]
        accuracy = float(right.sum() / masked.sum().clamp_min(1))
        return float(loss.detach() / scale), accuracy, guesses.view_as(batch.targets)

    def _update(self) -> None:
        config = self.config
        ramp = min(1.0, (self.step_index + 1) / config.warmup_steps)
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * ramp
        torch.nn.utils.clip_grad_norm_(self.parameters.values(), config.clip_norm)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        # Young averages follow closely, so that the initial weights are forgotten.
        keep = min(config.average, (1 + self.step_index) / (10 + self.step_index))
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                self.averaged[name].lerp_(parameter, 1 - keep)


def _scored_rows(batch: Batch, ratio: float) -> Tensor:
    """Return a fixed number of flat slot indices, those with weight first.

    A number that varied would make the allocator keep a buffer of every size it ever saw.
    """
    weight = batch.weight.flatten()
    order = torch.argsort((weight == 0).to(torch.int8), stable=True)
    return order[: int(weight.numel() * ratio)].clamp_min(1)
