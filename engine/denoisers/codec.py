"""Lossless byte-level BPE: text to token ids and back, with every string treated as text.

The tokenizer is built without registered special tokens, so a document that spells
`<|im_end|>` or `[MASK]` is encoded as ordinary bytes and can never become a control token.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

__all__ = ["BytePairCodec", "build_tokenizer", "byte_of_symbol"]


def byte_of_symbol() -> dict[str, int]:
    """Map each printable symbol of byte-level BPE to the byte it stands for.

    Source: the byte-to-unicode table of GPT-2's encoder: printable Latin-1 bytes stand for
    themselves, the other 68 are shifted to U+0100 and up.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    shifted = (byte for byte in range(256) if byte not in set(printable))
    return table | {chr(0x100 + index): byte for index, byte in enumerate(shifted)}


def build_tokenizer(tokens: list[str], merges: list[str]) -> Tokenizer:
    """Make a byte-level BPE tokenizer from a vocabulary and its merges, best first."""
    pairs = [(left, right) for left, right in (merge.split(" ", 1) for merge in merges)]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


@dataclass(frozen=True, slots=True)
class BytePairCodec:
    """Token ids, their bytes, and which of them must never be produced."""

    tokenizer: Tokenizer
    vocab_size: int
    bytes_of: tuple[bytes, ...]
    specials: frozenset[int]

    @classmethod
    def load(cls, path: Path, specials: frozenset[int]) -> BytePairCodec:
        """Read a tokenizer file written by `engine.denoisers.fetch`."""
        tokenizer = Tokenizer.from_file(str(path))
        symbols = byte_of_symbol()
        size = tokenizer.get_vocab_size()
        table = []
        for token in range(size):
            text = tokenizer.id_to_token(token) or ""
            known = all(symbol in symbols for symbol in text)
            table.append(bytes(symbols[symbol] for symbol in text) if known else text.encode())
        return cls(tokenizer, size, tuple(table), specials)

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`; their bytes joined are its UTF-8 exactly."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def token_bytes(self, token: int) -> bytes:
        return self.bytes_of[token]

    def decode(self, tokens: list[int]) -> str:
        """Join the tokens' bytes; bytes that are not UTF-8 become U+FFFD."""
        return b"".join(self.bytes_of[token] for token in tokens).decode("utf-8", "replace")

    def special_ids(self) -> frozenset[int]:
        """Control tokens of the base; never produced, never read from text."""
        return self.specials
