"""The join: how well a fill reads between its left and right context, under the base.

The judge is the untouched causal base with the context's own keys and values, so that its
cost is the fills and a little right context. It must not know where fills came from.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.canvas.layout import Window
from engine.denoisers.base import Context, Denoiser
from engine.sampling.drafts import fill_text
from engine.sampling.vocabulary import Vocabulary

__all__ = ["Fills", "RankingWeights", "rank_fills", "repeat_ratio", "score_joins"]

Fills = Sequence[Sequence[Sequence[int]]]  # [C][P] tokens of each part, edge bytes included
WORD = re.compile(r"\w+")
NEAR_WORDS = 32
MAX_JUDGED_TOKENS = 2048  # of one forward; more rows are judged in several


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """What a fill's place depends on beside its join."""

    right_tokens: int = 12
    repetition_penalty: float = 1.0  # nats per judged token at a repeat ratio of 1


@dataclass(frozen=True, slots=True)
class _Row:
    tokens: list[int]
    spans: list[tuple[int, int, int]]  # of each part: its start, its end, the end of the join


def rank_fills(
    denoiser: Denoiser,
    context: Context,
    window: Window,
    fills: Fills,
    *,
    texts: Sequence[tuple[str, str]],
    words: Vocabulary,
    weights: RankingWeights,
) -> list[list[float]]:
    """Return the score [C][P] of each fill, higher is better; `texts` [P] stands beside parts."""
    scores = score_joins(denoiser, context, window, fills, right_tokens=weights.right_tokens)
    for row, parts in enumerate(fills):
        for index, tokens in enumerate(parts):
            before, after = texts[index]
            fill = fill_text(window.parts[index], tokens, words)
            penalty = weights.repetition_penalty * repeat_ratio(before, fill, after)
            # Rounded: among equals the earlier row is first, whatever the order of summation.
            scores[row][index] = round(scores[row][index] - penalty, 6)
    return scores


def score_joins(
    denoiser: Denoiser, context: Context, window: Window, fills: Fills, *, right_tokens: int
) -> list[list[float]]:
    """Return the mean log-probability per token [C][P] of each fill's join.

    Judged are the next `right_tokens` context tokens, or fewer where the next part begins
    earlier, and the fill, which counts as one token of its mean: a sum would prefer short
    fills, a mean over all tokens long and repetitive ones. One causal forward.

    Source: ALGORITHMS section 7; the term without the fill is the same for all fills of a
    part, so it is left out. The weighting is fitted: engine/LOG.md.
    """
    rows = [_shape_row(window, parts, right_tokens) for parts in fills]
    width = max(len(row.tokens) for row in rows)
    chunk = max(1, MAX_JUDGED_TOKENS // max(width, 1))
    scores: list[list[float]] = []
    for start in range(0, len(rows), chunk):
        scores.extend(_judge(denoiser, context, window, rows[start : start + chunk]))
    return scores


def repeat_ratio(before: str, fill: str, after: str) -> float:
    """Return the share of the fill's words that repeat what stands close by, 0..1.

    A word counts when it doubles its neighbour or when the pair it forms with the word
    before it occurs elsewhere within `NEAR_WORDS` words.
    """
    left = [word.lower() for word in WORD.findall(before)[-NEAR_WORDS:]]
    middle = [word.lower() for word in WORD.findall(fill)]
    right = [word.lower() for word in WORD.findall(after)[:NEAR_WORDS]]
    if not middle:
        return 0.0
    words = left + middle + right
    pairs = list(itertools.pairwise(words))
    repeats = 0
    for index in range(len(left), len(left) + len(middle)):
        pair = (words[index - 1], words[index]) if index else None
        doubled = pair is not None and pair[0] == pair[1]
        repeats += doubled or (pair is not None and pairs.count(pair) > 1)
    return repeats / len(middle)


def _shape_row(window: Window, parts: Sequence[Sequence[int]], right_tokens: int) -> _Row:
    tokens: list[int] = []
    spans = []
    for index, fill in enumerate(parts):
        start = len(tokens)
        tokens.extend(fill)
        run = window.runs[index]
        judged = run[:right_tokens]
        spans.append((start, len(tokens), len(tokens) + len(judged)))
        tokens.extend(run if index + 1 < len(parts) else judged)
    return _Row(tokens, spans)


def _judge(
    denoiser: Denoiser, context: Context, window: Window, rows: Sequence[_Row]
) -> list[list[float]]:
    width = max(1, *(len(row.tokens) for row in rows))
    tokens = torch.zeros(len(rows), width, dtype=torch.int64)
    wanted = torch.zeros(len(rows), width, dtype=torch.bool)
    for index, row in enumerate(rows):
        tokens[index, : len(row.tokens)] = torch.tensor(row.tokens, dtype=torch.int64)
        for start, _, join_end in row.spans:
            wanted[index, start:join_end] = True
    state = denoiser.causal_prefix(context, len(window.left))
    device = denoiser.device
    logprobs: Tensor = denoiser.causal_logprobs(state, tokens.to(device), wanted.to(device)).cpu()
    return [
        [
            _join(logprobs[index, start:end], logprobs[index, end:join_end])
            for start, end, join_end in row.spans
        ]
        for index, row in enumerate(rows)
    ]


def _join(fill: Tensor, right: Tensor) -> float:
    values = torch.cat([fill.mean().view(1), right] if fill.numel() else [right])
    return float(values.mean()) if values.numel() else 0.0
