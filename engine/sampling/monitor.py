"""Tells fills that run in circles. Pure text; its numbers are counts of words.

Ranking already prefers fills that repeat less; this says when even the best one loops, so that
the window is tried once more.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from engine.sampling.pass_loop import WindowResult
from engine.sampling.ranking import repeat_ratio

__all__ = ["choose_again", "is_looping", "loops"]

WORD = re.compile(r"\w+")
MIN_WORDS = 4  # fewer words cannot be told to loop
MANY_REPEATS = 0.5  # share of words that repeat what stands close by
RUN = 3  # so many equal words in a row are a loop whatever else there is


def is_looping(before: str, fill: str, after: str) -> bool:
    """Return whether a fill repeats one word over and over, or mostly what stands close by."""
    words = [word.lower() for word in WORD.findall(fill)]
    if any(len(list(run)) >= RUN for _, run in itertools.groupby(words)):
        return True
    return len(words) >= MIN_WORDS and repeat_ratio(before, fill, after) >= MANY_REPEATS


def choose_again(
    first: WindowResult,
    second: WindowResult,
    texts: Sequence[tuple[str, str]],
    promised: Sequence[str],
) -> list[int]:
    """Return the leader of each part once both runs' candidates stand side by side.

    The parts of a window keep one leader each; a looping one gives way to the second run's best
    that does not loop and begins with what was promised as stable.
    """
    leaders = list(first.leaders)
    for part, (before, after) in enumerate(texts):
        if not is_looping(before, first.texts[leaders[part]][part], after):
            continue
        fair = [
            row
            for row, fills in enumerate(second.texts)
            if fills[part].startswith(promised[part]) and not is_looping(before, fills[part], after)
        ]
        if fair:
            best = max(fair, key=lambda row: second.scores[row][part])
            leaders[part] = len(first.texts) + best
    return leaders


def loops(result: WindowResult, texts: Sequence[tuple[str, str]]) -> int:
    """Return how many parts' leaders loop; `texts` [P] stands beside the parts."""
    return sum(
        is_looping(before, result.texts[result.leaders[part]][part], after)
        for part, (before, after) in enumerate(texts)
    )
