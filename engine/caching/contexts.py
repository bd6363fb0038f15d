"""Encoded contexts of recent windows, so that a rerun of the same window encodes nothing.

Exact: a context depends on its tokens and positions only, so a hit is the very tensors a miss
would make. Least recently used goes first. One thread; no model knowledge.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from engine.denoisers.base import Context

__all__ = ["ContextCache"]

_Key = tuple[tuple[int, ...], tuple[int, ...]]


class ContextCache:
    """At most `capacity` contexts by (tokens, positions)."""

    def __init__(self, capacity: int) -> None:
        self.num_hits = 0
        self._capacity = capacity
        self._contexts: OrderedDict[_Key, Context] = OrderedDict()

    def find(
        self, tokens: Sequence[int], positions: Sequence[int], encode: Callable[[], Context]
    ) -> Context:
        """Return the context of these tokens and positions, calling `encode` if it is new."""
        key = (tuple(tokens), tuple(positions))
        found = self._contexts.get(key)
        if found is None:
            found = encode()
            self._contexts[key] = found
            if len(self._contexts) > self._capacity:
                self._contexts.popitem(last=False)
        else:
            self.num_hits += 1
            self._contexts.move_to_end(key)
        return found
