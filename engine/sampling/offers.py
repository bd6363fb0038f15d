"""What a part of a stopped run can offer: its settled words, nothing that is still open.

Pure, and costs no pass: a run that is stopped is not judged any more. Of text that is rewritten
in part, an open slot keeps the word that stood in it; elsewhere the words up to the first mask
are a text of their own, and what has settled behind it is left out: nobody knows what comes
between.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from engine.canvas.parts import Part
from engine.sampling.drafts import fill_text, settled_text
from engine.sampling.probe import Given
from engine.sampling.vocabulary import CLOSING, Vocabulary

__all__ = ["Settled", "fair_ending", "settle_part"]


@dataclass(frozen=True, slots=True)
class Settled:
    """A part's text without masks; `confidence` is the mean of its committed tokens."""

    text: str
    confidence: float
    num_tokens: int
    is_whole: bool  # the part ends where the text does


def settle_part(
    part: Part,
    tokens: Sequence[int | None],
    confidence: Sequence[float],
    words: Vocabulary,
    *,
    given: Given | None = None,
) -> Settled | None:
    """Return what has settled of a part's tokens (None: a mask), None where nothing has.

    `confidence` has an entry a slot, 0 where the text was given.
    """
    if given is not None:
        return _with_given(part, tokens, confidence, words, given)
    known = list(itertools.takewhile(lambda token: token is not None, tokens))
    is_whole = len(known) == len(tokens)
    if not known and not is_whole:
        return None
    text = settled_text(part, tokens, words)
    return Settled(text, _mean_positive(confidence[: len(known)]), len(known), is_whole)


def fair_ending(text: str, after: str) -> str:
    """Return an unfinished text as far as it can stand before `after`."""
    if after[:1].isalnum():  # a word would run into the one behind it
        return text[: len(text) - len(text.split(" ")[-1])]
    text = text.rstrip()
    while after[:1] and after[0] in CLOSING and text[-1:] and text[-1] in CLOSING:
        text = text[:-1].rstrip()
    return text


def _with_given(
    part: Part,
    tokens: Sequence[int | None],
    confidence: Sequence[float],
    words: Vocabulary,
    given: Given,
) -> Settled | None:
    # What is missing behind the last token is PAD, and as settled as a token.
    is_open = [token is None for token in tokens] + [False] * (len(given.tokens) - len(tokens))
    if not any(masked and not still for masked, still in zip(given.masked, is_open, strict=True)):
        return None
    pairs = zip(tokens, given.tokens, strict=False)
    mixed = [own if token is None else token for token, own in pairs]
    sure = [value for value, still in zip(confidence, is_open, strict=False) if not still]
    return Settled(fill_text(part, mixed, words), _mean_positive(sure), len(mixed), True)


def _mean_positive(values: Sequence[float]) -> float:
    own = [value for value in values if value > 0]
    return sum(own) / len(own) if own else 1.0
