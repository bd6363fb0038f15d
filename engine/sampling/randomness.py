"""Randomness as a function of where it is used: no generator, so no order to depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["CounterHash", "throw_dice"]


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
        return (self._number(counters) + 0.5) / 2.0**64

    def integer(self, *counters: int) -> int:
        """Return a whole number below 2**63, as `uniform` does: a seed for many numbers."""
        return self._number(counters) >> 1

    def _number(self, counters: tuple[int, ...]) -> int:
        message = b"".join(counter.to_bytes(8, "big", signed=True) for counter in counters)
        key = hashlib.blake2b(
            self.request + self.seed.to_bytes(16, "big", signed=True), digest_size=32
        ).digest()
        return int.from_bytes(hashlib.blake2b(message, key=key, digest_size=8).digest(), "big")


def throw_dice(random: CounterHash, shape: Sequence[int], pass_index: int, salt: int) -> Tensor:
    """Return numbers in [0, 1) of `shape` [C, ...]; a candidate's do not depend on the others."""
    rows = [
        torch.rand(
            *shape[1:],
            generator=torch.Generator().manual_seed(random.integer(candidate, pass_index, salt)),
        )
        for candidate in range(shape[0])
    ]
    return torch.stack(rows)
