"""The embedded denoiser: an untouched causal base for context, an adapter for regions.

Owns the two sets of weights and the exact context cache; knows no schedule, threshold or job.
Invariants: context never attends to regions, so its keys and values serve every pass, every
alternative and the autoregressive mode alike; with the adapter off and a causal mask, region
logits are the base's.

Source: ALGORITHMS section 1 (masked diffusion: MDLM arXiv:2406.07524; causal base adapted:
DiffuLLaMA arXiv:2410.17891).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  (the field's name for it)
from torch import Tensor

from engine.denoisers.adapter import Adapter
from engine.denoisers.base import Capabilities, CausalState, Context, RegionStream, SlotState
from engine.denoisers.codec import BytePairCodec
from engine.denoisers.llama import (
    KeyValue,
    Shape,
    Weights,
    causal_stream,
    region_layer,
    region_stream,
    rms_norm,
    rotary_tables,
)

__all__ = ["BaseContext", "BaseState", "InfillDenoiser", "embed_stream"]


@dataclass(frozen=True, slots=True)
class BaseContext:
    """Context tokens [T], their positions [T], and keys and values [Hkv, T, E] per layer."""

    tokens: Tensor
    positions: Tensor
    layers: tuple[KeyValue, ...]

    @property
    def num_tokens(self) -> int:
        return int(self.tokens.shape[0])


@dataclass(frozen=True, slots=True)
class BaseState:
    """A causal prefix: a shared stretch of context, then each row's own tokens [B, t]."""

    prefix: BaseContext
    tokens: Tensor | None
    layers: tuple[KeyValue, ...] | None

    @property
    def num_tokens(self) -> int:
        return self.prefix.num_tokens + (0 if self.tokens is None else self.tokens.shape[1])


def embed_stream(stream: RegionStream, embed: Tensor, mask: Tensor, pad: Tensor) -> Tensor:
    """Return the float32 input [B, S, D] of a region stream: tokens, MASK and PAD."""
    x = F.embedding(stream.tokens.clamp_min(0), embed).to(torch.float32)
    state = stream.state.unsqueeze(-1)
    x = torch.where(state == SlotState.MASK, mask.to(torch.float32), x)
    return torch.where(state == SlotState.PAD, pad.to(torch.float32), x)


class InfillDenoiser:
    """`Denoiser` over a base and an adapter; holds weights only, no job's state."""

    def __init__(
        self,
        base: Weights,
        adapter: Adapter,
        shape: Shape,
        codec: BytePairCodec,
        *,
        identity: tuple[str, str, str, str],
        precision: str,
    ) -> None:
        """`identity` is (name, sha256) of the base and (name, sha256) of the adapter."""
        self.name, self.sha256, self.adapter_name, self.adapter_sha256 = identity
        self.precision = precision
        self.codec = codec
        self.device = base.embed.device
        self.capabilities = Capabilities(
            max_positions=shape.max_positions,
            exact_context_cache=True,
            has_pad=True,
            scores_visible=True,
            has_causal=True,
        )
        self._base = base
        self._shape = shape
        self._updated = adapter.merged(base)
        self._mask = adapter.tensors["mask_embedding"].float()
        self._pad = adapter.tensors["pad_embedding"].float()
        self._head_width = base.embed.shape[1] // shape.heads

    @torch.inference_mode()
    def encode_context(self, tokens: Tensor, positions: Tensor) -> Context:
        """See `Denoiser.encode_context`. An empty context is allowed."""
        if tokens.numel() == 0:
            return self._empty_context(tokens, positions)
        _, cache = causal_stream(tokens[None], positions[None], self._base, self._shape)
        layers = tuple(KeyValue(layer.key[0], layer.value[0]) for layer in cache)
        return BaseContext(tokens, positions, layers)

    @torch.inference_mode()
    def score(self, context: Context, stream: RegionStream, wanted: Tensor) -> Tensor:
        """See `Denoiser.score`."""
        assert isinstance(context, BaseContext)
        packed, rows = _pack(stream)
        bias = _rows_apart(rows, context.num_tokens)
        hidden = self._run_packed(packed, context, bias, self._updated)
        return self._infill_logits(hidden[_predictors(stream, wanted)])

    @torch.inference_mode()
    def score_causal(
        self, context: Context, stream: RegionStream, num_before: Tensor, wanted: Tensor
    ) -> Tensor:
        """See `Denoiser.score_causal`."""
        assert isinstance(context, BaseContext)
        packed, rows = _pack(stream)
        bias = _rows_apart(rows, context.num_tokens)
        count = len(rows)
        later = torch.ones(count, count, dtype=torch.bool, device=rows.device).triu(1)
        bias[0, :, context.num_tokens :].masked_fill_(later, float("-inf"))
        place = torch.arange(context.num_tokens, device=rows.device)
        hidden_from = place[None, :] >= num_before[rows][:, None]
        bias[0, :, : context.num_tokens].masked_fill_(hidden_from, float("-inf"))
        hidden = self._run_packed(packed, context, bias, self._base)
        return self._base_logits(hidden[_predictors(stream, wanted)])

    @torch.inference_mode()
    def causal_prefix(self, context: Context, num_tokens: int) -> CausalState:
        """See `Denoiser.causal_prefix`; zero tokens are allowed."""
        assert isinstance(context, BaseContext)
        layers = tuple(
            KeyValue(kv.key[:, :num_tokens], kv.value[:, :num_tokens]) for kv in context.layers
        )
        prefix = BaseContext(context.tokens[:num_tokens], context.positions[:num_tokens], layers)
        return BaseState(prefix, None, None)

    @torch.inference_mode()
    def extend(self, state: CausalState, tokens: Tensor) -> tuple[Tensor, CausalState]:
        """See `Denoiser.extend`."""
        hidden, state = self._extend_hidden(state, tokens)
        return self._base_logits(hidden), state

    @torch.inference_mode()
    def causal_logprobs(self, state: CausalState, tokens: Tensor, present: Tensor) -> Tensor:
        """See `Denoiser.causal_logprobs`. The head runs on present tokens only."""
        assert isinstance(state, BaseState)
        shortened, last = self._without_last(state)
        rows = tokens.shape[0]
        inputs = torch.cat([last.expand(rows, 1), tokens[:, :-1]], dim=1)
        hidden, _ = self._extend_hidden(shortened, inputs)
        logprobs = self._base_logits(hidden[present]).log_softmax(-1)
        chosen = logprobs.gather(-1, tokens[present].unsqueeze(-1)).squeeze(-1)
        return torch.zeros(tokens.shape, device=self.device).masked_scatter(present, chosen)

    def _run_packed(
        self, packed: RegionStream, context: BaseContext, bias: Tensor, weights: Weights
    ) -> Tensor:
        """Return the last hidden states [N, D] of a packed stream."""
        x = embed_stream(packed, self._base.embed, self._mask, self._pad)
        return region_stream(
            x, packed.positions, context.layers, bias, weights=weights, shape=self._shape
        )[0]

    def _extend_hidden(self, state: CausalState, tokens: Tensor) -> tuple[Tensor, BaseState]:
        assert isinstance(state, BaseState)
        rows, length = tokens.shape
        earlier = 0 if state.tokens is None else int(state.tokens.shape[1])
        start = self._next_position(state)
        positions = torch.arange(start, start + length, device=self.device)
        bias = self._causal_bias(state.prefix.num_tokens + earlier, length)
        rotary = self._rotary(positions.expand(rows, length))
        x = F.embedding(tokens, self._base.embed).to(torch.float32)
        grown = []
        for index, layer in enumerate(self._base.layers):
            own = None if state.layers is None else _expand(state.layers[index], rows)
            x, key_value = region_layer(
                x, rotary, state.prefix.layers[index], own, bias, layer=layer, shape=self._shape
            )
            grown.append(key_value)
        history = tokens
        if state.tokens is not None:
            history = torch.cat([state.tokens.expand(rows, earlier), tokens], dim=1)
        hidden = rms_norm(x, self._base.final_norm, self._shape.norm_epsilon)
        return hidden, BaseState(state.prefix, history, tuple(grown))

    def _without_last(self, state: BaseState) -> tuple[BaseState, Tensor]:
        if state.tokens is not None and state.layers is not None:
            layers = tuple(KeyValue(kv.key[:, :, :-1], kv.value[:, :, :-1]) for kv in state.layers)
            return BaseState(state.prefix, state.tokens[:, :-1], layers), state.tokens[:, -1:]
        if state.num_tokens == 0:
            # Token 0 opens a text: the base was trained with it between documents.
            return state, torch.zeros(1, 1, dtype=torch.int64, device=self.device)
        count = state.num_tokens - 1
        shortened = self.causal_prefix(state.prefix, count)
        assert isinstance(shortened, BaseState)
        return shortened, state.prefix.tokens[-1:].view(1, 1)

    def _next_position(self, state: BaseState) -> int:
        prefix = state.prefix.positions
        start = int(prefix[-1]) + 1 if prefix.numel() else 0
        return start + (0 if state.tokens is None else int(state.tokens.shape[1]))

    def _rotary(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        return rotary_tables(positions, self._head_width, self._shape.rope_theta)

    def _infill_logits(self, hidden: Tensor) -> Tensor:
        logits = self._base_logits(hidden)
        pad = hidden.to(torch.float32) @ self._pad
        return torch.cat([logits, pad.unsqueeze(-1)], dim=-1)

    def _base_logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden.to(self._base.embed.dtype), self._base.embed).to(torch.float32)

    def _causal_bias(self, num_before: int, length: int) -> Tensor:
        bias = torch.zeros(1, length, num_before + length, device=self.device)
        future = torch.ones(length, length, device=self.device, dtype=torch.bool).triu(1)
        bias[0, :, num_before:].masked_fill_(future, float("-inf"))
        return bias

    def _empty_context(self, tokens: Tensor, positions: Tensor) -> BaseContext:
        empty = self._base.embed.new_zeros(self._shape.kv_heads, 0, self._head_width)
        layers = tuple(KeyValue(empty, empty) for _ in self._base.layers)
        return BaseContext(tokens, positions, layers)


def _pack(stream: RegionStream) -> tuple[RegionStream, Tensor]:
    """Put the present columns of all rows side by side: a stream [1, N] and each one's row [N].

    Ragged batches (candidate lengths 1 to 24) would otherwise be two thirds padding.
    """
    present = stream.state != SlotState.ABSENT
    rows = present.nonzero()[:, 0]
    packed = RegionStream(
        stream.tokens[present][None], stream.state[present][None], stream.positions[present][None]
    )
    return packed, rows


def _predictors(stream: RegionStream, wanted: Tensor) -> Tensor:
    """Return which packed columns [N] predict the slots `wanted` [B, S]: those before them."""
    predictors = torch.zeros_like(wanted)
    predictors[:, :-1] = wanted[:, 1:]
    return predictors[stream.state != SlotState.ABSENT]


def _rows_apart(rows: Tensor, num_context: int) -> Tensor:
    """Return the bias [1, N, T + N] that opens the context to all and a row to itself only."""
    apart = rows[:, None] != rows[None, :]
    bias = torch.zeros(1, len(rows), num_context + len(rows), device=rows.device)
    bias[0, :, num_context:].masked_fill_(apart, float("-inf"))
    return bias


def _expand(layer: KeyValue, rows: int) -> KeyValue:
    if layer.key.shape[0] == rows:
        return layer
    return KeyValue(layer.key.expand(rows, -1, -1, -1), layer.value.expand(rows, -1, -1, -1))
