"""A tiny random Llama and adapter, for tests that need the arithmetic and not the words."""

from __future__ import annotations

import torch

from engine.denoisers.adapter import Adapter
from engine.denoisers.base import RegionStream, SlotState
from engine.denoisers.codec import BytePairCodec, build_tokenizer, byte_of_symbol
from engine.denoisers.infill import InfillDenoiser
from engine.denoisers.llama import LayerWeights, Shape, Weights

VOCAB = 300
SHAPE = Shape(heads=6, kv_heads=2, norm_epsilon=1e-5, rope_theta=1e4, max_positions=512)
WIDTH, HEAD, MLP, LAYERS = 48, 8, 64, 3


def tiny_weights(seed: int = 0) -> Weights:
    rng = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, generator=rng) * columns**-0.5

    layers = tuple(
        LayerWeights(
            qkv=matrix((SHAPE.heads + 2 * SHAPE.kv_heads) * HEAD, WIDTH),
            o=matrix(WIDTH, SHAPE.heads * HEAD),
            gate_up=matrix(2 * MLP, WIDTH),
            down=matrix(WIDTH, MLP),
            attention_norm=1 + 0.1 * torch.randn(WIDTH, generator=rng),
            mlp_norm=1 + 0.1 * torch.randn(WIDTH, generator=rng),
        )
        for _ in range(LAYERS)
    )
    return Weights(matrix(VOCAB, WIDTH) * 3, layers, torch.ones(WIDTH))


def tiny_adapter(base: Weights, *, scale: float, seed: int = 1) -> Adapter:
    """An adapter of rank 4; with scale 0 it changes nothing."""
    rng = torch.Generator().manual_seed(seed)
    initial = Adapter.initial(base, 4, rng)
    tensors = {
        name: tensor + scale * torch.randn(tensor.shape, generator=rng)
        for name, tensor in initial.tensors.items()
    }
    return Adapter(tensors)


def tiny_codec() -> BytePairCodec:
    symbols = sorted(byte_of_symbol(), key=byte_of_symbol().__getitem__)
    extra = [f"{a}{b}" for a in "abcdefg" for b in "hijklmn"][: VOCAB - 256]
    tokens = [*symbols, *extra]
    tokenizer = build_tokenizer(tokens, [f"{pair[0]} {pair[1]}" for pair in extra])
    table = byte_of_symbol()
    return BytePairCodec(
        tokenizer, VOCAB, tuple(bytes(table[s] for s in token) for token in tokens), frozenset({0})
    )


def tiny_denoiser(*, scale: float = 0.1) -> InfillDenoiser:
    base = tiny_weights()
    return InfillDenoiser(
        base,
        tiny_adapter(base, scale=scale),
        SHAPE,
        tiny_codec(),
        identity=("tiny", "0" * 64, "tiny-adapter", "1" * 64),
        precision="fp32",
    )


def a_stream(rows: list[str], anchor: int, start: int) -> RegionStream:
    """One region a row: `?` is MASK, `_` PAD, `.` ABSENT, a letter is its code as a token."""
    states = {"?": SlotState.MASK, "_": SlotState.PAD, ".": SlotState.ABSENT}
    tokens = [[anchor, *(ord(c) if c not in states else 0 for c in row)] for row in rows]
    state = [[0, *(int(states.get(c, SlotState.TOKEN)) for c in row)] for row in rows]
    places = [start - 1 + offset for offset in range(len(rows[0]) + 1)]
    return RegionStream(
        torch.tensor(tokens),
        torch.tensor(state, dtype=torch.uint8),
        torch.tensor([places] * len(rows)),
    )
