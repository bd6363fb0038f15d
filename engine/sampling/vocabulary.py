"""What the sampler needs to know of each token: its bytes and how it meets its neighbours.

Built once per codec, immutable. V tokens; vectors are bool [V + 1], column V is PAD.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

import torch
from torch import Tensor

from engine.canvas.slots import TextCodec
from engine.sampling.trie import TokenTrie

__all__ = ["CLOSING", "Vocabulary"]

# English words that nothing ends with: a clause that stops here is not over.
DANGLING_TEXT = (
    "a an and as because but every for from if in into its my nor of on or our than that the their "
    "to very which with your"
)
DANGLING = frozenset(DANGLING_TEXT.split())
CLOSING = ".,;:!?"
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
# Fills never spell a blank, or a filled document would be read as unfilled (BEHAVIOURS H3).
PLACEHOLDER = re.compile(rb"\[_|_{2,}|\*{2,}|\{\{|\}\}")
DOUBLED = tuple(b"_*{},;:."[i : i + 1] for i in range(8))  # the first four lead to a blank


class Vocabulary:
    """Bytes and traits of every token of a codec."""

    def __init__(self, codec: TextCodec, device: torch.device) -> None:
        self.codec = codec
        self.size = codec.vocab_size
        self.pad = codec.vocab_size  # the id that stands for PAD in choices
        self.device = device
        self.bytes = tuple(codec.token_bytes(token) for token in range(self.size))
        specials = codec.special_ids()
        text = tuple(_text_of(raw) for raw in self.bytes)
        self.never = self._vector(
            token in specials or not raw or bool(CONTROL.search(raw) or PLACEHOLDER.search(raw))
            for token, raw in enumerate(self.bytes)
        )
        self.line_break = self._vector(b"\n" in raw for raw in self.bytes)
        self.partial = self._vector(item is None for item in text)
        known = tuple(item or "" for item in text)
        self.starts_space = self._vector(item[:1].isspace() for item in known)
        self.ends_space = self._vector(item[-1:].isspace() for item in known)
        self.starts_alnum = self._vector(item[:1].isalnum() for item in known)
        self.ends_alnum = self._vector(item[-1:].isalnum() for item in known)
        self.starts_closing = self._vector(_closes_first(item) for item in known)
        self.ends_closing = self._vector(_closes(item) for item in known)
        self.ends_sentence = self._vector(_ends_sentence(item) for item in known)
        self.dangles = self._vector(item.strip().lower() in DANGLING for item in known)
        self.inner_space = self._vector("  " in item or "\t" in item for item in known)
        self._space_first = frozenset(i for i, item in enumerate(known) if item[:1].isspace())
        self._space_last = frozenset(i for i, item in enumerate(known) if item[-1:].isspace())
        self._alnum_first = frozenset(i for i, item in enumerate(known) if item[:1].isalnum())
        self._alnum_last = frozenset(i for i, item in enumerate(known) if item[-1:].isalnum())
        self._closing_last = frozenset(i for i, item in enumerate(known) if _closes(item))
        self._closing_first = frozenset(i for i, item in enumerate(known) if _closes_first(item))
        self._goes_on = frozenset(
            i for i, item in enumerate(known) if item.lstrip()[:1].islower() or _closes_first(item)
        )
        self._may_precede_sentence = frozenset(
            i for i, item in enumerate(known) if item.rstrip()[-1:] in ("", *".!?:-*•")
        )
        self._partial = frozenset(i for i, item in enumerate(text) if item is None)
        self._words = tuple(item.strip().lower() if len(item.strip()) > 1 else "" for item in known)
        self._cache: dict[tuple[bytes, bool], Tensor] = {}

    @cached_property
    def trie(self) -> TokenTrie:
        """All tokens that may be produced, by their bytes; made when first asked for."""
        return TokenTrie(self.bytes, excluded=self.codec.special_ids())

    def starting_with(self, prefix: bytes) -> Tensor:
        """Tokens whose bytes start with `prefix`; for a space: exactly one space."""
        if prefix == b" ":
            return self._cached(
                (prefix, True), lambda raw: raw[:1] == b" " and not raw[1:2].isspace()
            )
        return self._cached((prefix, True), lambda raw: raw.startswith(prefix))

    def ending_with(self, suffix: bytes) -> Tensor:
        """Tokens whose bytes end with `suffix`."""
        return self._cached((suffix, False), lambda raw: raw.endswith(suffix))

    def is_space_first(self, token: int) -> bool:
        return token in self._space_first

    def is_space_last(self, token: int) -> bool:
        return token in self._space_last

    def is_closing_first(self, token: int) -> bool:
        return token in self._closing_first

    def continues_sentence(self, token: int) -> bool:
        """Whether text that starts with the token goes on with a sentence: ". " or "word"."""
        return token in self._goes_on

    def may_precede_sentence(self, token: int) -> bool:
        """Whether a sentence may begin after the token: a stop, a colon, a line's start."""
        return token in self._may_precede_sentence

    def is_partial(self, token: int) -> bool:
        """Whether the token's bytes are a piece of a character."""
        return token in self._partial

    def is_closing_last(self, token: int) -> bool:
        return token in self._closing_last

    def continues_word(self, token: int) -> bool:
        """Whether the token goes on with the word before it."""
        raw = self.bytes[token]
        return raw[:1].isalnum() or raw[:1] >= b"\x80"

    def begins_word(self, token: int) -> bool:
        """Whether the token's first character is a letter or digit."""
        return token in self._alnum_first

    def ends_word(self, token: int) -> bool:
        """Whether the token's last character is a letter or digit."""
        return token in self._alnum_last

    def word(self, token: int) -> str:
        """The token's letters in lower case if it has more than one, else ""."""
        word = self._words[token]
        return word if word.isalpha() else ""

    def clash(self, left: int, right: int) -> bool:
        """Whether two tokens cannot stand side by side: a doubled space or a doubled word."""
        if left in self._space_last and right in self._space_first:
            return True
        if self.doubled_after(left) and self.bytes[right][:1] == self.bytes[left][-1:]:
            return True
        if self.opens_blank(left) and self.bytes[right][:1] == b"_":
            return True
        return left == right and bool(self.word(left))

    def opens_blank(self, token: int) -> bool:
        """Whether an underscore after the token would begin what reads as a blank."""
        return self.bytes[token][-1:] == b"["

    def doubled_after(self, token: int) -> bytes:
        """The character that must not follow the token, or nothing."""
        last = self.bytes[token][-1:]
        return last if last in DOUBLED else b""

    def doubled_before(self, token: int) -> bytes:
        """The character that must not stand before the token, or nothing."""
        first = self.bytes[token][:1]
        return first if first in DOUBLED else b""

    def fill_bytes(self, tokens: Iterable[int]) -> bytes:
        return b"".join(self.bytes[token] for token in tokens)

    def _cached(self, key: tuple[bytes, bool], is_member: Callable[[bytes], bool]) -> Tensor:
        if key not in self._cache:
            self._cache[key] = self._vector(is_member(raw) for raw in self.bytes)
        return self._cache[key]

    def _vector(self, members: Iterable[bool]) -> Tensor:
        return torch.tensor([*members, False], dtype=torch.bool, device=self.device)


def _text_of(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _closes_first(text: str) -> bool:
    first = text.lstrip()[:1]
    return bool(first) and first in CLOSING


def _ends_sentence(text: str) -> bool:
    return text.rstrip()[-1:] in (".", "!", "?") or text.lstrip()[:1] in ("!", "?")


def _closes(text: str) -> bool:
    last = text.rstrip()[-1:]
    return bool(last) and last in CLOSING
