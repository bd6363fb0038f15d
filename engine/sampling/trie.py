"""A vocabulary as a trie of bytes. Pure; built once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["TokenTrie"]


class TokenTrie:
    """Tokens by their bytes: `children` and `tokens` of each node. Node 0 is the root."""

    def __init__(self, token_bytes: Sequence[bytes], *, excluded: Collection[int]) -> None:
        self.children: list[dict[int, int]] = [{}]
        self.tokens: list[list[int]] = [[]]
        for token, raw in enumerate(token_bytes):
            if raw and token not in excluded:
                self._add(token, raw)

    def find(self, prefix: bytes) -> int | None:
        """Return the node of `prefix`, None where no token begins so."""
        node: int | None = 0
        for byte in prefix:
            node = None if node is None else self.children[node].get(byte)
        return node

    def _add(self, token: int, raw: bytes) -> None:
        node = 0
        for byte in raw:
            if byte not in self.children[node]:
                self.children[node][byte] = len(self.children)
                self.children.append({})
                self.tokens.append([])
            node = self.children[node][byte]
        self.tokens[node].append(token)
