"""How much of existing text to rewrite: its weakest tokens become masks.

Source: ALGORITHMS section 8: ceil(s * N) tokens with the lowest hidden-token probability. We
hide every eighth token at a time instead of one: eight rows whatever the length. And we take
whole words, by their weakest token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.canvas.canvas import Canvas
from engine.canvas.layout import Window
from engine.canvas.parts import Part
from engine.canvas.slots import TextCodec
from engine.denoisers.base import Context, Denoiser
from engine.sampling.beliefs import hidden_stripes
from engine.sampling.probe import Given

__all__ = ["NUM_STRIPES", "mask_weakest", "part_tokens", "split_words", "weakest_words"]

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
        values = probability[0, part, : len(tokens)].tolist()
        weakest = weakest_words(split_words(tokens, denoiser.codec), values, count)
        given[part] = Given(tokens, tuple(slot in weakest for slot in range(len(tokens))))
    return given


def split_words(tokens: Sequence[int], codec: TextCodec) -> list[list[int]]:
    """Return the slots of each word: a token that goes on with letters or digits is of it."""
    words: list[list[int]] = []
    before = b""
    for slot, token in enumerate(tokens):
        raw = codec.token_bytes(token)
        if words and _is_inner(before[-1:]) and _is_inner(raw[:1]):
            words[-1].append(slot)
        else:
            words.append([slot])
        before = raw
    return words


def _is_inner(byte: bytes) -> bool:
    return byte.isalnum() or byte >= b"\x80"  # the latter: a letter's byte beyond ASCII


def weakest_words(words: Sequence[list[int]], values: Sequence[float], count: int) -> set[int]:
    """Return the slots of the words with the weakest tokens, `count` at most.

    Whole words only: half a word kept is a syllable that the rest must be bent around. Where not
    even the weakest word fits, it is taken all the same.
    """
    order = sorted(words, key=lambda word: (min(values[slot] for slot in word), word[0]))
    chosen: set[int] = set()
    for word in order:
        if count and (not chosen or len(chosen) + len(word) <= count):
            chosen.update(word)
    return chosen
