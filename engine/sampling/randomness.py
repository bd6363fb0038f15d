"""Randomness as a function of where it is used: no generator, so no order to depend on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["CounterHash"]


@dataclass(frozen=True, slots=True)
class CounterHash:
    """Uniform numbers keyed by seed and request."""

    seed: int
    request: bytes

    def uniform(self, *counters: int) -> float:
        """Return a number in (0, 1) that depends on the key and the counters only.

        Source: counter-based generators (Salmon et al., SC 2011); BLAKE2b stands in for
        Philox: a few draws a pass do not need its speed, and the result is portable.
        """
        message = b"".join(counter.to_bytes(8, "big", signed=True) for counter in counters)
        key = hashlib.blake2b(
            self.request + self.seed.to_bytes(16, "big", signed=True), digest_size=32
        ).digest()
        digest = hashlib.blake2b(message, key=key, digest_size=8).digest()
        return (int.from_bytes(digest, "big") + 0.5) / 2.0**64
