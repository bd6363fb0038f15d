"""Held-out gaps: words cut out of running text, by seed, with what stood there.

Owns which gaps are asked for. A gap begins at a word and holds a given number of base tokens, so
that its length can be told or kept from the sampler.
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


@dataclass(frozen=True, slots=True)
class Gap:
    """A text with `reference` at [start, end); `num_tokens` of the base stood there."""

    domain: str
    document: int
    text: str
    start: int
    end: int
    num_tokens: int

    @property
    def reference(self) -> str:
        return self.text[self.start : self.end]


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
) -> Iterator[Gap]:
    """Yield `per_cell` gaps for each (domain, length), from as many documents as there are."""
    for domain, texts in documents.items():
        for length in lengths:
            rng = random.Random(f"{seed}/{domain}/{length}")
            order = rng.sample(range(len(texts)), len(texts))
            made, tries = 0, 0
            while made < per_cell and tries < per_cell * 50:
                document = order[tries % len(order)]
                tries += 1
                gap = _cut(texts[document], codec, length, rng)
                if gap is not None:
                    text, start, end = gap
                    yield Gap(domain, document, text, start, end, length)
                    made += 1


def _cut(
    text: str, codec: TextCodec, length: int, rng: random.Random
) -> tuple[str, int, int] | None:
    words = list(re.finditer(r"(?<=\s)\S+", text))
    if len(words) < 2 * NUM_WORDS_AROUND // 3 + length:
        return None
    first = rng.randrange(len(words) // 4, len(words))
    end = _end_after(text, codec, words[first].start(), length)
    if end is None or "\n" in text[words[first].start() : end]:
        return None
    left = words[max(0, first - NUM_WORDS_AROUND)].start()
    behind = [word for word in words[first:] if word.start() >= end][:NUM_WORDS_AROUND]
    right = behind[-1].end() if behind else len(text)
    start = words[first].start()
    return text[left:right], start - left, end - left


def _end_after(text: str, codec: TextCodec, start: int, length: int) -> int | None:
    """Return where the gap of exactly `length` tokens from `start` ends, at a word's end."""
    for word_end in (m.end() for m in re.finditer(r"\S+", text[start : start + 12 * length])):
        # With the space before it, as the sampler sees it.
        count = len(codec.encode(" " + text[start : start + word_end]))
        if count >= length:
            is_word_end = text[start + word_end : start + word_end + 1] in (" ", "\n", "")
            return start + word_end if count == length and is_word_end else None
    return None
