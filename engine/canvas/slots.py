"""The words that canvas and denoiser share: slot states, the region stream, the text codec.

A mask is a state of a position, never a token id, so text that spells "[MASK]" is safe.

Shapes: B canvases, S slots of the region stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from torch import Tensor

__all__ = ["OPENING_TOKEN", "RegionStream", "SlotState", "TextCodec"]

OPENING_TOKEN = 0  # stands before a text that a region opens; the base saw it between documents


class SlotState(IntEnum):
    """What one slot of the region stream holds."""

    TOKEN = 0  # a visible token (committed, forced, or an anchor: the token before the region)
    MASK = 1  # unknown
    PAD = 2  # known to hold nothing; only as a region's tail
    ABSENT = 3  # no slot here; fills ragged batches, never attended to


@dataclass(frozen=True, slots=True)
class RegionStream:
    """The positions a pass may change, each region preceded by its anchor.

    A region of n slots takes n + 1 consecutive columns: the anchor, then the region. The
    hidden state of column s predicts column s + 1 (shifted prediction). Rows of one batch
    may differ in lengths; unused columns are ABSENT.
    """

    tokens: Tensor  # [B, S] int64; ignored unless state is TOKEN
    state: Tensor  # [B, S] uint8, SlotState
    positions: Tensor  # [B, S] int64, place in the canvas (rotary position)


class TextCodec(Protocol):
    """Lossless byte-level tokenizer facade; text that spells a special token stays text."""

    @property
    def vocab_size(self) -> int: ...

    def encode(self, text: str) -> list[int]: ...

    def token_bytes(self, token: int) -> bytes: ...

    def decode(self, tokens: list[int]) -> str:
        """Join the tokens' bytes; bytes that are not UTF-8 become U+FFFD."""
        ...

    def special_ids(self) -> frozenset[int]:
        """Ids that must never be produced."""
        ...
