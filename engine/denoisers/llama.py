"""The Llama forward in two forms: a causal stream, and a stream that sees a shared context.

Pure functions over weight tables, used by inference and by training alike. A matrix may be
a plain tensor or a frozen tensor plus a low-rank update (`LowRank`); the residual stream is
float32 whatever the weights are.

Shapes: B rows, S stream slots, T context tokens, D width, Hq query heads in G groups a
key/value head, Hkv key/value heads, E head width, F MLP width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  (the field's name for it)
from torch import Tensor

__all__ = [
    "KeyValue",
    "LayerStep",
    "LayerWeights",
    "LowRank",
    "Shape",
    "Weights",
    "causal_stream",
    "region_layer",
    "region_stream",
    "rms_norm",
    "rotary_tables",
]


@dataclass(frozen=True, slots=True)
class Shape:
    """What the weight tables do not say of themselves."""

    heads: int
    kv_heads: int
    norm_epsilon: float
    rope_theta: float
    max_positions: int


@dataclass(frozen=True, slots=True)
class LowRank:
    """`base + b @ a`: base [out, in] frozen, a [rank, in], b [out, rank]."""

    base: Tensor
    a: Tensor
    b: Tensor


Matrix = Tensor | LowRank


@dataclass(frozen=True, slots=True)
class LayerWeights:
    qkv: Matrix  # [(Hq + 2 Hkv) E, D]
    o: Matrix  # [D, Hq E]
    gate_up: Matrix  # [2 F, D]
    down: Matrix  # [D, F]
    attention_norm: Tensor  # [D] float32
    mlp_norm: Tensor  # [D] float32


@dataclass(frozen=True, slots=True)
class Weights:
    embed: Tensor  # [V, D]
    layers: tuple[LayerWeights, ...]
    final_norm: Tensor  # [D] float32


@dataclass(frozen=True, slots=True)
class KeyValue:
    """Keys (after rotation) and values of one layer, [..., Hkv, T, E]."""

    key: Tensor
    value: Tensor


LayerStep = Callable[..., tuple[Tensor, KeyValue]]  # `region_layer`, plain or compiled


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """Normalise the float32 stream over its last axis."""
    return F.rms_norm(x, (x.shape[-1],), weight, epsilon)


def rotary_tables(positions: Tensor, width: int, theta: float) -> tuple[Tensor, Tensor]:
    """Return cosine and sine [..., width] for `positions` [...], halves repeated."""
    half = torch.arange(0, width, 2, dtype=torch.float32, device=positions.device)
    angles = positions.to(torch.float32).unsqueeze(-1) * (theta ** (-half / width))
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def multiply(x: Tensor, matrix: Matrix) -> Tensor:
    """Return x @ matrix.T in the matrix's dtype."""
    if isinstance(matrix, LowRank):
        x = x.to(matrix.base.dtype)
        update = F.linear(F.linear(x, matrix.a.to(x.dtype)), matrix.b.to(x.dtype))
        return F.linear(x, matrix.base) + update
    return F.linear(x.to(matrix.dtype), matrix)


def project(
    x: Tensor, layer: LayerWeights, shape: Shape, rotary: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return rotated queries [B, Hkv, G, S, E], rotated keys and values [B, Hkv, S, E]."""
    normed = rms_norm(x, layer.attention_norm, shape.norm_epsilon)
    qkv = multiply(normed, layer.qkv)
    rows, slots, _ = x.shape
    width = qkv.shape[-1] // (shape.heads + 2 * shape.kv_heads)
    groups = shape.heads // shape.kv_heads
    qkv = qkv.view(rows, slots, -1, width).transpose(1, 2)
    cosine, sine = (table.unsqueeze(1).to(qkv.dtype) for table in rotary)
    turned = qkv[:, : shape.heads + shape.kv_heads]
    first, second = turned.chunk(2, dim=-1)
    turned = turned * cosine + torch.cat([-second, first], dim=-1) * sine
    query = turned[:, : shape.heads].reshape(rows, shape.kv_heads, groups, slots, width)
    return query, turned[:, shape.heads :], qkv[:, shape.heads + shape.kv_heads :]


def mix(x: Tensor, attended: Tensor, layer: LayerWeights, shape: Shape) -> Tensor:
    """Add attention output [B, S, Hq E] and the MLP to the float32 stream x [B, S, D]."""
    x = x + multiply(attended, layer.o)
    gate, up = multiply(rms_norm(x, layer.mlp_norm, shape.norm_epsilon), layer.gate_up).chunk(2, -1)
    return x + multiply(F.silu(gate) * up, layer.down)


def causal_stream(
    tokens: Tensor, positions: Tensor, weights: Weights, shape: Shape
) -> tuple[Tensor, list[KeyValue]]:
    """Run tokens [B, T] causally; return the last hidden states [B, T, D] and every layer's KV."""
    x = F.embedding(tokens, weights.embed).to(torch.float32)
    rotary = rotary_tables(positions, _head_width(weights, shape), shape.rope_theta)
    cache: list[KeyValue] = []
    for layer in weights.layers:
        query, key, value = project(x, layer, shape, rotary)
        attended = F.scaled_dot_product_attention(
            query.flatten(1, 2), key, value, is_causal=True, enable_gqa=True
        )
        cache.append(KeyValue(key, value))
        x = mix(x, attended.transpose(1, 2).flatten(2), layer, shape)
    return rms_norm(x, weights.final_norm, shape.norm_epsilon), cache


def region_layer(
    x: Tensor,
    rotary: tuple[Tensor, Tensor],
    shared: KeyValue,
    own: KeyValue | None,
    bias: Tensor,
    *,
    layer: LayerWeights,
    shape: Shape,
) -> tuple[Tensor, KeyValue]:
    """One layer of a stream x [B, S, D] that attends to `shared`, to `own` and to itself.

    `shared` holds [Hkv, T, E] (one context for all rows) or [B, Hkv, T, E]; `own` holds rows'
    earlier tokens [B, Hkv, t, E]. `bias` [B or 1, 1 or S, T + t + S] float32 is added to the
    scores: 0 or -inf. Returns the new stream and the keys and values of own + this stream.
    A shared context is never copied per row: its scores are one product over all rows.
    """
    query, key, value = project(x, layer, shape, rotary)
    if own is not None:
        key = torch.cat([own.key, key], dim=2)
        value = torch.cat([own.value, value], dim=2)
    rows, kv_heads, groups, slots, width = query.shape
    query = query * width**-0.5
    folded = query.reshape(rows, kv_heads, groups * slots, width)
    to_own = folded @ key.transpose(-1, -2)
    num_shared = shared.key.shape[-2]
    if shared.key.dim() == 3:
        flat = folded.transpose(0, 1).reshape(kv_heads, rows * groups * slots, width)
        to_shared = flat @ shared.key.transpose(-1, -2)
        to_shared = to_shared.view(kv_heads, rows, groups * slots, num_shared).transpose(0, 1)
    else:
        to_shared = folded @ shared.key.transpose(-1, -2)
    scores = torch.cat([to_shared, to_own], dim=-1).to(torch.float32)
    scores = scores.view(rows, kv_heads, groups, slots, -1) + bias[:, None, None]
    probabilities = scores.softmax(-1).to(value.dtype).flatten(2, 3)
    on_shared, on_own = probabilities[..., :num_shared], probabilities[..., num_shared:]
    out = on_own @ value
    if shared.value.dim() == 3:
        flat = on_shared.transpose(0, 1).reshape(kv_heads, rows * groups * slots, num_shared)
        out = out + (flat @ shared.value).view(kv_heads, rows, -1, width).transpose(0, 1)
    else:
        out = out + on_shared @ shared.value
    attended = out.view(rows, kv_heads, groups, slots, width)
    attended = attended.permute(0, 3, 1, 2, 4).reshape(rows, slots, -1)
    return mix(x, attended, layer, shape), KeyValue(key, value)


def region_stream(
    x: Tensor,
    positions: Tensor,
    context: Sequence[KeyValue],
    bias: Tensor,
    *,
    weights: Weights,
    shape: Shape,
    layer_step: LayerStep = region_layer,
) -> Tensor:
    """Run a stream x [B, S, D] at `positions` [B, S] through every layer beside its context.

    Returns the last hidden states [B, S, D] float32. `context` and `bias` are `region_layer`'s
    `shared` and `bias`; `layer_step` is `region_layer` or its compiled form.
    """
    rotary = rotary_tables(positions, _head_width(weights, shape), shape.rope_theta)
    for layer, shared in zip(weights.layers, context, strict=True):
        x, _ = layer_step(x, rotary, shared, None, bias, layer=layer, shape=shape)
    return rms_norm(x, weights.final_norm, shape.norm_epsilon)


def _head_width(weights: Weights, shape: Shape) -> int:
    qkv = weights.layers[0].qkv
    rows = qkv.base.shape[0] if isinstance(qkv, LowRank) else qkv.shape[0]
    return rows // (shape.heads + 2 * shape.kv_heads)
