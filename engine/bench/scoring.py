"""How a fill compares with what stood there, and with itself. Pure text."""

from __future__ import annotations

from collections import Counter

__all__ = ["is_exact", "overlap", "repetition"]

EDGES = ".,;:!?\"'()"


def is_exact(answer: str, reference: str) -> bool:
    """True if both are the same text up to case and surrounding space."""
    return answer.strip().lower() == reference.strip().lower()


def overlap(answer: str, reference: str) -> float:
    """Return F1 of the two bags of words, in [0, 1]; case and edge punctuation do not count."""
    first, second = (
        Counter(w.strip(EDGES).lower() for w in t.split()) for t in (answer, reference)
    )
    shared = sum((first & second).values())
    total = sum(first.values()) + sum(second.values())
    return 2 * shared / total if total else 1.0


def repetition(answer: str) -> float:
    """Return the share of word trigrams that stood in the answer before."""
    words = answer.lower().split()
    grams = list(zip(words, words[1:], words[2:], strict=False))
    return 1 - len(set(grams)) / len(grams) if grams else 0.0
