"""Held-out gaps: words cut out of running text, by seed, with what stood there.

Owns which gaps are asked for. A gap begins at a word and holds a given number of base tokens, so
that its length can be told or kept from the sampler. A task has one gap or several to be filled
jointly.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.denoisers.base import TextCodec

__all__ = ["Gap", "choose_gaps", "read_documents"]

SEPARATOR = "\n<|doc|>\n"
STRAIGHT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
NUM_WORDS_AROUND = 100  # a note of about 200 words
MAX_MOVE = 8  # words
NUM_WORDS_BETWEEN = (8, 30)  # of gaps to be filled jointly


@dataclass(frozen=True, slots=True)
class Gap:
    """A text with a reference at each range; each is `num_tokens` of the base long."""

    domain: str
    document: int
    text: str
    ranges: tuple[tuple[int, int], ...]  # code points, ascending
    num_tokens: int

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(self.text[start:end] for start, end in self.ranges)


def read_documents(folder: Path) -> dict[str, list[str]]:
    """Return the documents of each domain: one file a domain, split at `<|doc|>` lines.

    Raises: FileNotFoundError when the folder holds none.
    """
    found = {
        path.stem: [d.strip().translate(STRAIGHT) for d in path.read_text("utf-8").split(SEPARATOR)]
        for path in sorted(folder.glob("*.txt"))
        if not path.name.startswith("README")
    }
    if not found:
        raise FileNotFoundError(f"no <domain>.txt below {folder}")
    return found


def choose_gaps(
    documents: dict[str, list[str]],
    codec: TextCodec,
    *,
    lengths: Sequence[int],
    per_cell: int,
    seed: int,
    count: int = 1,
) -> Iterator[Gap]:
    """Yield `per_cell` tasks of `count` gaps for each (domain, length), over many documents."""
    for domain, texts in documents.items():
        for length in lengths:
            rng = random.Random(f"{seed}/{domain}/{length}/{count}")
            order = rng.sample(range(len(texts)), len(texts))
            made, tries = 0, 0
            while made < per_cell and tries < per_cell * 50:
                document = order[tries % len(order)]
                tries += 1
                cut = _cut(texts[document], codec, length, count, rng)
                if cut is not None:
                    yield Gap(domain, document, *cut, length)
                    made += 1


def _cut(
    text: str, codec: TextCodec, length: int, count: int, rng: random.Random
) -> tuple[str, tuple[tuple[int, int], ...]] | None:
    words = list(re.finditer(r"(?<=\s)\S+", text))
    if len(words) < 2 * NUM_WORDS_AROUND // 3 + length * count:
        return None
    first = index = rng.randrange(len(words) // 4, len(words))
    ranges: list[tuple[int, int]] = []
    for _ in range(count):
        # A single gap stands where it was drawn; one of several may move on to where it fits.
        tries = range(index, min(index + (MAX_MOVE if count > 1 else 1), len(words)))
        found = (_gap_at(text, codec, words[place].start(), length) for place in tries)
        gap = next((gap for gap in found if gap is not None), None)
        if gap is None:
            return None
        ranges.append(gap)
        index = sum(word.start() < gap[1] for word in words) + rng.randint(*NUM_WORDS_BETWEEN)
    left = words[max(0, first - NUM_WORDS_AROUND)].start()
    behind = [word for word in words[first:] if word.start() >= ranges[-1][1]]
    behind = behind[:NUM_WORDS_AROUND]
    right = behind[-1].end() if behind else len(text)
    return text[left:right], tuple((start - left, end - left) for start, end in ranges)


def _gap_at(text: str, codec: TextCodec, start: int, length: int) -> tuple[int, int] | None:
    """Return the gap of exactly `length` tokens from `start` on one line, if a word ends there."""
    end = _end_after(text, codec, start, length)
    return None if end is None or "\n" in text[start:end] else (start, end)


def _end_after(text: str, codec: TextCodec, start: int, length: int) -> int | None:
    """Return where the gap of exactly `length` tokens from `start` ends, at a word's end."""
    for word_end in (m.end() for m in re.finditer(r"\S+", text[start : start + 12 * length])):
        # With the space before it, as the sampler sees it.
        count = len(codec.encode(" " + text[start : start + word_end]))
        if count >= length:
            is_word_end = text[start + word_end : start + word_end + 1] in (" ", "\n", "")
            return start + word_end if count == length and is_word_end else None
    return None
