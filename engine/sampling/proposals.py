"""From beliefs to proposals: one token a slot, PAD only as a tail, no clashing neighbours.

Pure over beliefs and canvas; nothing is committed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from engine.canvas.canvas import Canvas
from engine.canvas.slots import SlotState
from engine.sampling.admissible import Admissible
from engine.sampling.beliefs import Beliefs
from engine.sampling.commitment import SlotScores
from engine.sampling.drawing import Draw

__all__ = ["begin_in_turn", "fill_masks", "propose", "without_clashes"]


def propose(
    beliefs: Beliefs, canvas: Canvas, draws: Sequence[Draw], *, pad: int, pass_index: int
) -> SlotScores:
    """Return scores [C, P, L] with a proposed token for every masked slot."""
    masked = canvas.masked
    rows = beliefs.row.clamp_min(0)
    token = beliefs.best[rows, 0]
    confidence = beliefs.best_logprob[rows, 0].exp()
    gap = beliefs.best_logprob[rows, 0] - beliefs.best_logprob[rows, 1]
    entropy = beliefs.entropy[rows]
    for candidate, part, slot in torch.nonzero(masked).tolist():
        draw, row = draws[candidate], int(rows[candidate, part, slot])
        if draw.temperature > 0:
            drawn = draw.token(beliefs.logprobs[row], pass_index, part, slot)
            token[candidate, part, slot] = drawn
            confidence[candidate, part, slot] = beliefs.logprobs[row, drawn].exp()
    scores = SlotScores(masked, token, confidence, entropy, gap)
    _keep_pad_to_tails(scores, beliefs, canvas, pad)
    return scores


def without_clashes(
    chosen: Tensor, scores: SlotScores, canvas: Canvas, admissible: Admissible
) -> Tensor:
    """Drop the less certain of two new neighbours that cannot stand together.

    A token with which its part cannot end does not stand before PAD. Also drops PAD that would
    not continue a tail. At least one choice of a part stays: where all are PAD, the region ends
    at the first of them, and every mask behind it becomes PAD too.
    """
    words, kept = admissible.vocabulary, chosen.clone()
    tokens, confidence = scores.token.tolist(), scores.confidence.tolist()
    for candidate, part in torch.nonzero(chosen.any(-1)).tolist():
        slots = torch.nonzero(chosen[candidate, part]).flatten().tolist()
        row, sure = tokens[candidate][part], confidence[candidate][part]
        states = canvas.state[candidate, part].tolist()
        for slot in sorted(slots, reverse=True):
            right = slot + 1
            is_new = right < len(states) and bool(kept[candidate, part, right])
            if row[slot] == words.pad:
                at_tail = right == len(states) or states[right] in (
                    SlotState.PAD,
                    SlotState.ABSENT,
                )
                if not at_tail and not (is_new and row[right] == words.pad):
                    kept[candidate, part, slot] = False
            elif is_new and not _joins(row[slot], row[right], part, admissible):
                weaker = slot if sure[slot] < sure[right] else right
                kept[candidate, part, weaker] = False
        if not kept[candidate, part].any():
            visible = [slot for slot in slots if row[slot] != words.pad]
            if visible:
                kept[candidate, part, max(visible, key=lambda slot: sure[slot])] = True
            else:  # PAD is only proposed where nothing else is on its right
                kept[candidate, part, slots[0] :] = scores.masked[candidate, part, slots[0] :]
    return kept


def begin_in_turn(chosen: Tensor, scores: SlotScores, canvas: Canvas) -> Tensor:
    """Let one part of each candidate begin in a pass: the most certain of those that are blank.

    The others wait, so that they see its first words: parts that must agree, a name or a number,
    would else be chosen side by side. Costs a window at most a pass for each part but one.
    """
    kept = chosen.clone()
    blank = (canvas.masked | (canvas.state == SlotState.ABSENT)).all(-1) & chosen.any(-1)
    sure = torch.where(chosen, scores.confidence, 0.0).amax(-1)
    for candidate in torch.nonzero(blank.sum(-1) > 1).flatten().tolist():
        parts = torch.nonzero(blank[candidate]).flatten().tolist()
        first = max(parts, key=lambda part: (float(sure[candidate, part]), -part))
        for part in parts:
            kept[candidate, part] &= part == first
    return kept


def fill_masks(
    scores: SlotScores, beliefs: Beliefs, canvas: Canvas, admissible: Admissible, *, held: Tensor
) -> SlotScores:
    """Return scores whose tokens fit together for every mask at once, most certain first.

    A slot whose best token clashes with a neighbour takes its next best, except where a form
    has chosen all of a part's tokens together: `held` bool [C, P].
    """
    pad = admissible.vocabulary.pad
    token, confidence = scores.token.clone(), scores.confidence.clone()
    visible = torch.where(canvas.committed, canvas.tokens, -1)  # -1: not known yet
    visible[canvas.state == SlotState.PAD] = pad
    order = torch.nonzero(scores.masked & ~held.unsqueeze(-1)).tolist()
    order.sort(key=lambda place: -float(scores.confidence[tuple(place)]))
    for candidate, part, slot in order:
        first = int(token[candidate, part, slot])
        row = int(beliefs.row[candidate, part, slot])
        options = [first, *(item for item in beliefs.best[row].tolist() if item != pad)]
        around = [
            int(visible[candidate, part, slot + offset])
            if 0 <= slot + offset < visible.shape[-1]
            else -1
            for offset in (-1, 1)
        ]
        picked = next((item for item in options if _fits(item, around, part, admissible)), first)
        token[candidate, part, slot] = visible[candidate, part, slot] = picked
        confidence[candidate, part, slot] = beliefs.logprobs[row, picked].exp()
    return replace(scores, token=token, confidence=confidence)


def _fits(token: int, around: list[int], part: int, admissible: Admissible) -> bool:
    left, right = around
    return (left < 0 or _joins(left, token, part, admissible)) and (
        right < 0 or _joins(token, right, part, admissible)
    )


def _joins(left: int, right: int, part: int, admissible: Admissible) -> bool:
    """Whether two tokens of a part, either of them PAD perhaps, can stand side by side."""
    words = admissible.vocabulary
    if left == words.pad:
        return right == words.pad
    return admissible.ends_well(part, left) if right == words.pad else not words.clash(left, right)


def _keep_pad_to_tails(scores: SlotScores, beliefs: Beliefs, canvas: Canvas, pad: int) -> None:
    """Replace proposed PADs that have anything but PAD on their right by the next best token."""
    for candidate, part in torch.nonzero((scores.token == pad).any(-1)).tolist():
        is_tail = True
        for slot in reversed(range(int(canvas.lengths[candidate, part]))):
            is_masked = bool(scores.masked[candidate, part, slot])
            if not is_masked:
                is_tail = is_tail and int(canvas.state[candidate, part, slot]) == SlotState.PAD
            elif scores.token[candidate, part, slot] != pad:
                is_tail = False
            elif not is_tail:
                row = int(beliefs.row[candidate, part, slot])
                best = beliefs.best[row].tolist()
                index = next(i for i, item in enumerate(best) if item != pad)
                scores.token[candidate, part, slot] = best[index]
                scores.confidence[candidate, part, slot] = beliefs.best_logprob[row, index].exp()
