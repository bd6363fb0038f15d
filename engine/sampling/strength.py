"""How much of existing text to rewrite: its weakest tokens become masks.

Source: ALGORITHMS section 8: ceil(s * N) tokens with the lowest hidden-token probability. We
hide every eighth token at a time instead of one: eight rows whatever the length.
"""

from __future__ import annotations

import math

import torch

from engine.canvas.canvas import Canvas
from engine.canvas.layout import Window
from engine.canvas.parts import Part
from engine.canvas.slots import TextCodec
from engine.denoisers.base import Context, Denoiser
from engine.sampling.beliefs import hidden_stripes
from engine.sampling.probe import Given

__all__ = ["NUM_STRIPES", "mask_weakest", "part_tokens"]

NUM_STRIPES = 8


def part_tokens(part: Part, codec: TextCodec) -> list[int]:
    """Tokenise a part's own text so that its first and last token carry the edge bytes."""
    assert part.original is not None
    prefix, suffix = part.prefix.decode(), part.suffix.decode()
    tokens = codec.encode(prefix + part.original + suffix)
    starts = codec.token_bytes(tokens[0]).startswith(part.prefix)
    ends = codec.token_bytes(tokens[-1]).endswith(part.suffix)
    if starts and ends:
        return tokens
    edges = (codec.encode(prefix) if prefix else [], codec.encode(suffix) if suffix else [])
    return [*edges[0], *codec.encode(part.original), *edges[1]]


def mask_weakest(
    denoiser: Denoiser,
    context: Context,
    window: Window,
    texts: dict[int, tuple[int, ...]],
) -> dict[int, Given]:
    """Return, for parts with existing tokens, which of them to rewrite at the part's strength.

    `texts` maps a part's index to its tokens; other parts are masked out while these are
    scored. Costs NUM_STRIPES NFE.
    """
    lengths = [len(texts[p]) if p in texts else 1 for p in range(len(window.parts))]
    canvas = Canvas.masked_out(window, [lengths])
    for part, tokens in texts.items():
        canvas.give(part, tokens, [False] * len(tokens))
    seen = hidden_stripes(denoiser, context, canvas, canvas.committed, num_stripes=NUM_STRIPES)
    probability = seen.own
    given = {}
    for part, tokens in texts.items():
        count = math.ceil(window.parts[part].strength * len(tokens))
        values = probability[0, part, : len(tokens)]
        weakest = torch.argsort(values, stable=True)[:count].tolist()
        masked = tuple(slot in set(weakest) for slot in range(len(tokens)))
        given[part] = Given(tokens, masked)
    return given
