"""What a part looks like to the user after a pass: text, what has settled, what is stable.

Pure. A masked slot is one U+2591; the bytes a part repeats from outside it are not shown.
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from engine.canvas.parts import Part
from engine.sampling.vocabulary import Vocabulary

__all__ = ["MASK_GLYPH", "PartDraft", "common_prefix", "draft_part", "fill_text", "settled_text"]

MASK_GLYPH = "\u2591"


@dataclass(frozen=True, slots=True)
class PartDraft:
    """A part's text with `settled` code-point ranges and one confidence for each stretch."""

    text: str
    settled: tuple[tuple[int, int], ...]
    confidence: tuple[float, ...]


def fill_text(part: Part, tokens: Sequence[int], words: Vocabulary) -> str:
    """Return what replaces the part: its tokens' text without the repeated edge bytes."""
    raw = words.fill_bytes(tokens)
    assert raw.startswith(part.prefix), "the first token repeats the prefix"
    assert raw.endswith(part.suffix), "the last token repeats the suffix"
    return raw[len(part.prefix) : len(raw) - len(part.suffix)].decode("utf-8", "replace")


def settled_text(part: Part, tokens: Sequence[int | None], words: Vocabulary) -> str:
    """Return the text of the tokens before the first mask, whole characters only.

    It is a prefix of `fill_text` of any completion.
    """
    known = list(itertools.takewhile(lambda token: token is not None, tokens))
    raw = words.fill_bytes(token for token in known if token is not None)[len(part.prefix) :]
    if len(known) == len(tokens):
        return raw[: len(raw) - len(part.suffix)].decode("utf-8", "replace")
    return codecs.getincrementaldecoder("utf-8")("replace").decode(raw, final=False)


def common_prefix(texts: Sequence[str]) -> str:
    """Return the longest string that every text starts with."""
    low, high = min(texts), max(texts)
    pairs = enumerate(zip(low, high, strict=False))
    return low[: next((i for i, (a, b) in pairs if a != b), min(len(low), len(high)))]


def draft_part(
    part: Part,
    tokens: Sequence[int | None],
    confidence: Sequence[float],
    words: Vocabulary,
    *,
    is_open: bool = False,
) -> PartDraft:
    """Return the draft of a part whose masks are None; `confidence` has one entry a slot.

    `is_open`: more tokens will follow, so the last one does not carry the suffix yet.
    """
    stretches = _stretches(tokens, confidence)
    text, settled, means = "", [], []
    for index, (is_known, run, mean) in enumerate(stretches):
        if is_known:
            raw = words.fill_bytes(token for token in run if token is not None)
            if index == 0:
                raw = raw[len(part.prefix) :]
            if index + 1 == len(stretches) and part.suffix and not is_open:
                raw = raw[: len(raw) - len(part.suffix)]
            piece = raw.decode("utf-8", "replace")
        else:
            piece = MASK_GLYPH * len(run)
        if not piece:
            continue
        if is_known:
            settled.append((len(text), len(text) + len(piece)))
        text += piece
        means.append(mean)
    return PartDraft(text, tuple(settled), tuple(means))


def _stretches(
    tokens: Sequence[int | None], confidence: Sequence[float]
) -> list[tuple[bool, list[int | None], float]]:
    stretches: list[tuple[bool, list[int | None], list[float]]] = []
    for token, value in zip(tokens, confidence, strict=False):
        is_known = token is not None
        if not stretches or stretches[-1][0] != is_known:
            stretches.append((is_known, [], []))
        stretches[-1][1].append(token)
        stretches[-1][2].append(value)
    return [(known, run, sum(values) / len(values)) for known, run, values in stretches]
