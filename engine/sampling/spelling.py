"""A vocabulary run over an automaton: which tokens lead from a state to which state.

Tokens are bytes and automata read characters, so a state here carries the bytes of a character
that has not ended yet. Only characters that the automaton or the text at hand names are spelled
in pieces: every beginning of any character would be a state of its own. A state from which
nearly every token leads on is called open; for it the tokens are named by the caller, for
others all of them are found in a trie.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from engine.constraints.automata import Automaton
from engine.sampling.vocabulary import Vocabulary

__all__ = ["Speller", "Spelling"]

USUAL = " abcdefghijklmnopqrstuvwxyz"
MANY_USUAL = 14  # where so many of them lead on, a state is open
MAX_VISITED = 12_000  # trie nodes looked at from one state before it counts as open too


class Spelling(NamedTuple):
    """An automaton's state, and the bytes read since it that are no whole character."""

    state: Hashable
    pending: bytes = b""


@dataclass
class Speller:
    """Moves over one automaton, found once for each state; `text` may be spelled in pieces."""

    automaton: Automaton
    words: Vocabulary
    text: str = ""
    _moves: dict[tuple[Spelling, bytes], dict[Spelling, list[int]] | None] = field(
        default_factory=dict
    )
    _after: dict[tuple[Spelling, int, bytes], Spelling | None] = field(default_factory=dict)

    @cached_property
    def _characters(self) -> dict[bytes, list[str]]:
        """Characters that may be spelled in pieces, by each proper beginning of their bytes."""
        found: dict[bytes, list[str]] = {}
        for char in sorted(self.automaton.alphabet | set(self.text)):
            raw = char.encode()
            for size in range(1, len(raw)):
                found.setdefault(raw[:size], []).append(char)
        return found

    @cached_property
    def specials(self) -> frozenset[int]:
        return self.words.codec.special_ids()

    def after(self, spelling: Spelling, token: int, prefix: bytes = b"") -> Spelling | None:
        """Return where `token` leads, None if nowhere; it must begin with `prefix`, not read."""
        key = (spelling, token, prefix)
        if key not in self._after:
            raw = self.words.bytes[token]
            found: Spelling | None = None
            if raw.startswith(prefix) and token not in self.specials:
                found = spelling
                for byte in raw[len(prefix) :]:
                    found = None if found is None else self._read(found, byte)
            self._after[key] = found
        return self._after[key]

    def moves(self, spelling: Spelling, prefix: bytes = b"") -> dict[Spelling, list[int]] | None:
        """Return the tokens that lead to each reachable state; None for an open state."""
        key = (spelling, prefix)
        if key not in self._moves:
            self._moves[key] = self._walk(spelling, prefix)
        return self._moves[key]

    def group(
        self, spelling: Spelling, tokens: Iterable[int], prefix: bytes = b""
    ) -> dict[Spelling, list[int]]:
        """Return those of `tokens` that a masked slot may take, by where they lead."""
        found: dict[Spelling, list[int]] = {}
        for token in tokens:
            target = self.after(spelling, token, prefix)
            if target is not None and self.may_wait(target):
                found.setdefault(target, []).append(token)
        return found

    def may_wait(self, spelling: Spelling) -> bool:
        """Whether a masked slot may leave off here: some character continues what is pending."""
        if not spelling.pending:
            return True
        return any(
            self.automaton.step(spelling.state, char) is not None
            for char in self._characters.get(spelling.pending, ())
        )

    def _is_open(self, spelling: Spelling) -> bool:
        step = self.automaton.step
        return (
            not spelling.pending
            and sum(step(spelling.state, char) is not None for char in USUAL) >= MANY_USUAL
        )

    def _walk(self, spelling: Spelling, prefix: bytes) -> dict[Spelling, list[int]] | None:
        if self._is_open(spelling):
            return None
        trie = self.words.trie
        start = trie.find(prefix)
        if start is None:
            return {}
        found: dict[Spelling, list[int]] = {}
        stack = [(start, spelling)]
        if prefix and trie.tokens[start]:
            found[spelling] = list(trie.tokens[start])
        visited = 0
        while stack:
            node, here = stack.pop()
            for byte, child in trie.children[node].items():
                visited += 1
                target = self._read(here, byte)
                if target is None or not self.may_wait(target):
                    continue
                if trie.tokens[child]:
                    found.setdefault(target, []).extend(trie.tokens[child])
                stack.append((child, target))
            if visited > MAX_VISITED:
                return None
        return found

    def _read(self, spelling: Spelling, byte: int) -> Spelling | None:
        raw = spelling.pending + bytes((byte,))
        if byte >= 0x80 or spelling.pending:
            try:
                char = raw.decode()
            except UnicodeDecodeError as error:
                # Cut off in the middle of a character: wait for more. Anything else is no text.
                is_begun = error.reason == "unexpected end of data"
                return Spelling(spelling.state, raw) if is_begun else None
        else:
            char = chr(byte)
        after = self.automaton.step(spelling.state, char)
        return None if after is None else Spelling(after)
