"""Turn the text corpus into one token file, and choose windows from it by counter.

Owns document splits, quote normalisation and domain weights. Which window a sample reads
depends on (seed, step, row) alone, so a resumed run reads on where it stopped. Documents that
share long stretches with held-out text are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.denoisers.codec import BytePairCodec
from engine.training.overlap import HeldoutRuns

__all__ = ["Corpus", "prepare_corpus", "source_weight"]

SEPARATOR = "\n<|doc|>\n"
STRAIGHT_QUOTES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..."}
)
# Documents that keep typographic quotes, so that both forms are known.
TYPOGRAPHIC_SHARE = 0.3

DOMAIN_WEIGHTS = {"clinical": 3.0, "business": 3.0, "legal": 1.0, "code": 0.5, "docs": 0.7}
SOURCE_WEIGHTS = {
    "standardebooks-fiction": 2.5,
    "clic": 0.4,
    "eltec-eng": 0.4,
    "synthetic-letters": 0.3,
}


def source_weight(domain: str, source: str) -> float:
    """Return how often a source's tokens are drawn relative to their number."""
    return SOURCE_WEIGHTS.get(source, DOMAIN_WEIGHTS.get(domain, 1.0))


def prepare_corpus(
    folder: Path, out: Path, codec: BytePairCodec, *, heldout: Path | None = None
) -> dict[str, Any]:
    """Tokenise every `<domain>/<source>.txt`; write tokens.bin, documents.npy, sources.json.

    tokens.bin is uint16, each document ended by token 0; documents.npy int64 [N, 3] holds
    start, end and source index. Documents that `heldout`'s texts share long stretches with are
    left out and counted. Returns the contents of sources.json.
    """
    if codec.vocab_size > 1 << 16:
        raise ValueError(f"vocabulary of {codec.vocab_size} does not fit uint16")
    out.mkdir(parents=True, exist_ok=True)
    kept_out = HeldoutRuns.of(_heldout_tokens(heldout, codec) if heldout else ())
    left_out = 0
    spans: list[tuple[int, int, int]] = []
    sources: list[dict[str, Any]] = []
    position = 0
    with (out / "tokens.bin.partial").open("wb") as file:
        for path in sorted(folder.glob("*/*.txt")):
            first = position
            for tokens in _tokenise_documents(path, codec):
                if kept_out.holds(tokens):
                    left_out += 1
                    continue
                tokens.tofile(file)
                spans.append((position, position + len(tokens), len(sources)))
                position += len(tokens)
            domain, source = path.parent.name, path.stem
            sources.append(
                {
                    "domain": domain,
                    "source": source,
                    "tokens": position - first,
                    "weight": source_weight(domain, source),
                }
            )
    np.save(out / "documents.npy", np.array(spans, dtype=np.int64))
    summary = {
        "tokens": position,
        "documents": len(spans),
        "left_out": left_out,
        "sources": sources,
    }
    (out / "sources.json").write_text(json.dumps(summary, indent=1))
    (out / "tokens.bin.partial").replace(out / "tokens.bin")
    return summary


def _heldout_tokens(folder: Path, codec: BytePairCodec) -> Iterator[NDArray[np.uint16]]:
    """Yield held-out documents as they are and with straight quotes, as the corpus has both."""
    for path in sorted(folder.glob("*.txt")):
        for document in path.read_text(encoding="utf-8").split(SEPARATOR):
            text = document.strip()
            for form in {text, text.translate(STRAIGHT_QUOTES)}:
                yield np.array(codec.encode(form), dtype=np.uint16)


def _tokenise_documents(path: Path, codec: BytePairCodec) -> Iterator[NDArray[np.uint16]]:
    documents = path.read_text(encoding="utf-8").split(SEPARATOR)
    keep_lines = path.parent.name == "code"
    for start in range(0, len(documents), 256):
        batch = []
        for index, document in enumerate(documents[start : start + 256], start):
            text = document.strip()
            # Deterministic per document: its number in the file decides quotes and spacing.
            if (index * 2654435761) % 1000 >= TYPOGRAPHIC_SHARE * 1000:
                text = text.translate(STRAIGHT_QUOTES)
            if index % 2 and not keep_lines:
                text = text.replace("\n", "\n\n")
            if text:
                batch.append(text)
        for encoding in codec.tokenizer.encode_batch_fast(batch, add_special_tokens=False):
            yield np.array([*encoding.ids, 0], dtype=np.uint16)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A tokenised corpus, memory-mapped."""

    tokens: NDArray[np.uint16]
    cumulative: NDArray[np.float64]  # over sources, of weight x tokens
    bounds: NDArray[np.int64]  # [num_sources, 2] token range of each source

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Map a folder written by `prepare_corpus`. Raises: FileNotFoundError."""
        tokens = np.memmap(folder / "tokens.bin", dtype=np.uint16, mode="r")
        sources = json.loads((folder / "sources.json").read_text())["sources"]
        sizes = np.array([item["tokens"] for item in sources], dtype=np.int64)
        ends = sizes.cumsum()
        mass = (sizes * np.array([item["weight"] for item in sources])).cumsum()
        return cls(tokens, mass / mass[-1], np.stack([ends - sizes, ends], axis=1))

    def choose_window(self, length: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `length` consecutive tokens of one source, sources by weight.

        A window may run over a document's end; token 0 marks the place.
        """
        while True:
            source = int(np.searchsorted(self.cumulative, rng.random(), side="right"))
            start, end = self.bounds[min(source, len(self.bounds) - 1)]
            if end - start > length:
                first = int(rng.integers(start, end - length))
                return self.tokens[first : first + length].astype(np.int64)
