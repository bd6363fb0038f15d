"""Keep held-out text out of the corpus: find documents that share long stretches with it.

Runs of 13 tokens are compared by hash, as published decontamination does; a document is left out
when it shares many of them. Boilerplate of a sentence or two is shared by strangers and stays.

Source: the 13-gram rule of GPT-3's appendix C (arXiv:2005.14165), on tokens instead of words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["HeldoutRuns", "run_hashes"]

RUN_TOKENS = 13
MULTIPLIER = 0x9E3779B97F4A7C15  # odd, so that no power of it is lost modulo 2**64
MAX_SHARED_RUNS = 40  # about fifty tokens in one piece

Hashes = NDArray[np.uint64]


def run_hashes(tokens: NDArray[np.uint16]) -> Hashes:
    """Return one hash for each run of `RUN_TOKENS` tokens, in order; none for shorter text."""
    count = len(tokens) - RUN_TOKENS + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    wide = tokens.astype(np.uint64)
    hashes = np.zeros(count, np.uint64)
    for offset in range(RUN_TOKENS):
        hashes *= np.uint64(MULTIPLIER)
        hashes += wide[offset : offset + count] + np.uint64(1)
    return hashes


@dataclass(frozen=True, slots=True)
class HeldoutRuns:
    """The runs of all held-out text; `hashes` is sorted."""

    hashes: Hashes

    @classmethod
    def of(cls, texts: Iterable[NDArray[np.uint16]]) -> HeldoutRuns:
        """Collect the runs of tokenised held-out texts."""
        found = [run_hashes(tokens) for tokens in texts]
        return cls(np.unique(np.concatenate(found)) if found else np.zeros(0, np.uint64))

    def count_shared(self, tokens: NDArray[np.uint16]) -> int:
        """Return how many runs of `tokens` stand in held-out text too."""
        hashes = run_hashes(tokens)
        if not len(self.hashes) or not len(hashes):
            return 0
        places = np.searchsorted(self.hashes, hashes).clip(max=len(self.hashes) - 1)
        return int((self.hashes[places] == hashes).sum())

    def holds(self, tokens: NDArray[np.uint16]) -> bool:
        """True if a document shares more with held-out text than boilerplate does."""
        return self.count_shared(tokens) > MAX_SHARED_RUNS
