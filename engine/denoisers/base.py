"""What every denoiser offers to the sampler: encode a context once, score region streams often.

The protocol is the border between "what a model computes" and "what is committed": nothing
here knows a schedule, a threshold or a job. A mask is a state of a position, never a token id.

Shapes: B canvases, S slots of the region stream, T context tokens, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from engine.canvas.slots import RegionStream, SlotState, TextCodec

__all__ = [
    "Capabilities",
    "CausalState",
    "Context",
    "Denoiser",
    "RegionStream",
    "SlotState",
    "TextCodec",
]


class Context(Protocol):
    """Encoded context tokens: keys and values per layer. Opaque to the sampler."""

    @property
    def num_tokens(self) -> int: ...


class CausalState(Protocol):
    """Keys and values of a causal prefix, for the autoregressive route and the judge."""

    @property
    def num_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the sampler may ask of a denoiser."""

    max_positions: int
    exact_context_cache: bool
    has_pad: bool  # PAD is an output, so that a region may end early
    scores_visible: bool  # logits of visible slots are trained (wrong tokens can be told)
    has_causal: bool  # offers the causal methods below


@runtime_checkable
class Denoiser(Protocol):
    """A model that predicts every region position from all visible text in one forward."""

    name: str
    sha256: str
    adapter_name: str
    adapter_sha256: str
    device: torch.device
    precision: str
    capabilities: Capabilities

    @property
    def codec(self) -> TextCodec: ...

    def encode_context(self, tokens: Tensor, positions: Tensor) -> Context:
        """Encode context tokens [T] int64 at canvas positions [T] int64, causally, once.

        Row i attends to rows <= i only, so a prefix of the result is the result of the prefix.
        """
        ...

    def score(self, context: Context, stream: RegionStream, wanted: Tensor) -> Tensor:
        """Return float32 logits [N, V + 1] for the N true entries of `wanted` [B, S] bool.

        `wanted` marks the slots to predict, in row-major order; column V is PAD. All rows
        share `context`. One call is one NFE for each canvas (row). Row results do not depend
        on which other rows are in the batch beyond float order.
        """
        ...

    def score_causal(
        self, context: Context, stream: RegionStream, num_before: Tensor, wanted: Tensor
    ) -> Tensor:
        """Return float32 logits [N, V] of the untouched base for the N true entries of `wanted`.

        Row b of `stream` continues the first `num_before[b]` context tokens (int64 [B]); each
        of its slots is predicted from those and from the row's earlier tokens only. TOKEN and
        ABSENT are the only states. One forward for all rows.
        """
        ...

    def causal_prefix(self, context: Context, num_tokens: int) -> CausalState:
        """Return the first `num_tokens` context tokens as a causal prefix, sharing memory."""
        ...

    def extend(self, state: CausalState, tokens: Tensor) -> tuple[Tensor, CausalState]:
        """Append tokens [B, T] (B may exceed the state's 1 row) at the next positions.

        Returns float32 log-probabilities-to-be, i.e. logits [B, T, V] of the *next* token
        after each appended one, and the longer state. The untouched base computes it.
        """
        ...

    def causal_logprobs(self, state: CausalState, tokens: Tensor, present: Tensor) -> Tensor:
        """Return float32 [B, T]: log p(token t | prefix, tokens < t) under the base; 0 if absent.

        `state` must hold at least one token; `present` [B, T] bool marks the tokens to be
        scored; those in front of them are read all the same.
        """
        ...
