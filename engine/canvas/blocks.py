"""Regions longer than a canvas, cut into blocks that are denoised one after the other.

A block is a part like any other: earlier blocks are its left context once they are written,
later ones its right context as they stand. Pure but for the tokenizer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from engine.canvas.slots import TextCodec

__all__ = ["BLOCK_TOKENS", "cut_blank", "cut_text"]

BLOCK_TOKENS = 192  # three quarters of the longest canvas: a rewrite may take more than was there
WORD = re.compile(r"\S+")
SENTENCE_ENDS = (".", "!", "?", ":", ";")
LONGEST_WORD = 24  # code points, at most 96 tokens; what has no spaces is cut like this


def cut_text(
    text: str, start: int, end: int, codec: TextCodec, *, longest: int
) -> tuple[tuple[int, int], ...]:
    """Return blocks of text[start:end], one if it has at most `longest` tokens.

    Blocks end at a sentence where one ends in their second half, else at a word; the white
    space between two blocks belongs to neither.
    """
    if len(codec.encode(text[start:end])) <= longest:
        return ((start, end),)
    blocks: list[tuple[int, int]] = []
    first, count, sentence_end = start, 0, None
    previous_end = start
    for word_start, word_end in _words(text, start, end):
        size = len(codec.encode(f" {text[word_start:word_end]}"))
        if count + size > BLOCK_TOKENS and previous_end > first:
            cut = sentence_end or previous_end
            blocks.append((first, cut))
            first = cut + _num_space(text[cut:word_start])
            count, sentence_end = len(codec.encode(text[first:word_start])), None
        count += size
        previous_end = word_end
        if count > BLOCK_TOKENS // 2 and text[word_end - 1] in SENTENCE_ENDS:
            sentence_end = word_end
    return (*blocks, (first, end))


def cut_blank(start: int, end: int, length: int) -> tuple[tuple[int, int, int], ...] | None:
    """Return (start, end, tokens) of the blocks of a blank that is to hold `length` tokens.

    Every block stands for at least one code point of the blank's marker. None when the marker
    has too few.
    """
    num_blocks = math.ceil(length / BLOCK_TOKENS)
    if num_blocks > end - start:
        return None
    shares = [length // num_blocks + (i < length % num_blocks) for i in range(num_blocks)]
    starts = [start + i for i in range(num_blocks)]
    return tuple(zip(starts, [*starts[1:], end], shares, strict=True))


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in WORD.finditer(text, start, end):
        for at in range(match.start(), match.end(), LONGEST_WORD):
            yield at, min(at + LONGEST_WORD, match.end())


def _num_space(text: str) -> int:
    return len(text) - len(text.lstrip())
