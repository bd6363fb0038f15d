"""A denoiser without weights: it says what a script says, deterministically.

It implements the whole protocol over a small word-and-byte codec, so that tests can drive
every rule of the sampler to its corner cases, and so that the application runs without a
model. It must not know samplers or jobs. Scores depend on the slot and what is visible, not
on other rows of a batch.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.denoisers.base import (
    Capabilities,
    CausalState,
    Context,
    RegionStream,
    SlotState,
)

__all__ = ["Answer", "ScriptedCodec", "ScriptedDenoiser", "Slot", "pool_script"]

POOL_TEXT = (
    "the patient was seen today and reports that symptoms have improved since last week "
    "we will review this plan again at our next meeting with all members of staff present "
    "please contact office if you need further help and would like to change any details"
)
POOL = tuple(POOL_TEXT.split())
PIECE = re.compile(r" ?[^\W\d_]+|\s|.", re.DOTALL)
PAD_TEXT = ""  # an answer's text for "nothing here"


@dataclass(frozen=True, slots=True)
class Slot:
    """What a script is asked: a slot of a region, and the region as it stands."""

    region: int  # 0-based, in canvas order
    index: int  # slot within the region
    num_slots: int
    visible: tuple[str | None, ...]  # each slot's token text, None where masked
    call: int  # 0-based count of `score` calls
    context: tuple[int, ...]  # context token ids


@dataclass(frozen=True, slots=True)
class Answer:
    """The token (its exact text; "" for PAD) a script wants in a slot, and how surely."""

    text: str
    confidence: float  # in (0, 1)


Script = Callable[[Slot], Answer]


def pool_script(slot: Slot) -> Answer:
    """Plausible words: a stretch of a fixed pool, its start chosen by the context."""
    key = hashlib.blake2b(repr((slot.context, slot.region)).encode(), digest_size=4).digest()
    start = int.from_bytes(key, "big")
    word = POOL[(start + slot.index) % len(POOL)]
    wave = (start // 7 + 5 * slot.index) % 11 / 11
    length = 3 + start % 6  # the length this region "ought" to have scores best
    return Answer(f" {word}", (0.5 + 0.48 * wave) / (1 + 0.2 * abs(slot.num_slots - length)))


class ScriptedCodec:
    """Lossless: pool words (with and without a leading space) and single bytes; id 0 is special."""

    def __init__(self, words: tuple[str, ...] = ()) -> None:
        known = sorted({form for word in (*POOL, *words) for form in (word, f" {word}")})
        self._table = (b"<special>", *(bytes([value]) for value in range(256)))
        self._table += tuple(word.encode() for word in known)
        self._ids = {raw: index for index, raw in enumerate(self._table) if index > 256}
        self.vocab_size = len(self._table)

    def encode(self, text: str) -> list[int]:
        tokens: list[int] = []
        for piece in PIECE.findall(text):
            raw = piece.encode()
            token = self._ids.get(raw)
            tokens.extend([token] if token is not None else [1 + value for value in raw])
        return tokens

    def token_bytes(self, token: int) -> bytes:
        return self._table[token]

    def decode(self, tokens: list[int]) -> str:
        return b"".join(self._table[token] for token in tokens).decode("utf-8", "replace")

    def special_ids(self) -> frozenset[int]:
        return frozenset({0})


@dataclass(frozen=True, slots=True)
class ScriptedContext:
    tokens: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def num_tokens(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class ScriptedState:
    rows: tuple[tuple[int, ...], ...]  # each row's tokens so far

    @property
    def num_tokens(self) -> int:
        return len(self.rows[0])


class ScriptedDenoiser:
    """`Denoiser` over a script; `pause` is called once per `score`, to make passes last."""

    name = "scripted"
    sha256 = "0" * 64
    adapter_name = "none"
    adapter_sha256 = "0" * 64
    precision = "fp32"

    def __init__(
        self,
        script: Script = pool_script,
        *,
        words: tuple[str, ...] = (),
        pause: Callable[[], None] | None = None,
    ) -> None:
        self.codec = ScriptedCodec(words)
        self.device = torch.device("cpu")
        self.capabilities = Capabilities(
            max_positions=1 << 20,
            exact_context_cache=True,
            has_pad=True,
            scores_visible=True,
            has_causal=True,
        )
        self.num_calls = 0
        self._script = script
        self._pause = pause or (lambda: None)

    def encode_context(self, tokens: Tensor, positions: Tensor) -> Context:
        """See `Denoiser.encode_context`."""
        return ScriptedContext(tuple(tokens.tolist()), tuple(positions.tolist()))

    def score(self, context: Context, stream: RegionStream, wanted: Tensor) -> Tensor:
        """See `Denoiser.score`."""
        assert isinstance(context, ScriptedContext)
        self._pause()
        rows: list[Tensor] = []
        starts = _region_starts(context.positions, stream.positions.tolist())
        for row in range(stream.tokens.shape[0]):
            columns = torch.nonzero(wanted[row]).flatten().tolist()
            rows.extend(self._answer(context, stream, (row, column), starts) for column in columns)
        self.num_calls += 1
        return torch.stack(rows) if rows else torch.zeros(0, self.codec.vocab_size + 1)

    def score_causal(
        self, context: Context, stream: RegionStream, num_before: Tensor, wanted: Tensor
    ) -> Tensor:
        """See `Denoiser.score_causal`."""
        assert isinstance(context, ScriptedContext)
        rows: list[Tensor] = []
        for row, column in torch.nonzero(wanted).tolist():
            before = context.tokens[: int(num_before[row])]
            rows.append(self._next((*before, *stream.tokens[row, :column].tolist())))
        return torch.stack(rows) if rows else torch.zeros(0, self.codec.vocab_size)

    def causal_prefix(self, context: Context, num_tokens: int) -> CausalState:
        """See `Denoiser.causal_prefix`."""
        assert isinstance(context, ScriptedContext)
        return ScriptedState((context.tokens[:num_tokens],))

    def extend(self, state: CausalState, tokens: Tensor) -> tuple[Tensor, CausalState]:
        """See `Denoiser.extend`."""
        assert isinstance(state, ScriptedState)
        before = state.rows * (tokens.shape[0] if len(state.rows) == 1 else 1)
        grown = [(*old, *new) for old, new in zip(before, tokens.tolist(), strict=True)]
        logits = torch.stack(
            [
                torch.stack([self._next(row[: len(old) + 1 + i]) for i in range(tokens.shape[1])])
                for old, row in zip(before, grown, strict=True)
            ]
        )
        return logits, ScriptedState(tuple(grown))

    def causal_logprobs(self, state: CausalState, tokens: Tensor, present: Tensor) -> Tensor:
        """See `Denoiser.causal_logprobs`."""
        assert isinstance(state, ScriptedState)
        before = state.rows * (tokens.shape[0] if len(state.rows) == 1 else 1)
        result = torch.zeros(tokens.shape)
        for row, column in torch.nonzero(present).tolist():
            history = (*before[row], *tokens[row, :column].tolist())
            logprobs = self._next(history).log_softmax(-1)
            result[row, column] = logprobs[int(tokens[row, column])]
        return result

    def _answer(
        self,
        context: ScriptedContext,
        stream: RegionStream,
        place: tuple[int, int],
        starts: tuple[int, ...],
    ) -> Tensor:
        row, column = place
        position = int(stream.positions[row, column])
        region = max(i for i, start in enumerate(starts) if start <= position)
        first = column - (position - starts[region])
        states = stream.state[row].tolist()
        end = first
        while (
            end < len(states)
            and states[end] != SlotState.ABSENT
            and (int(stream.positions[row, end]) == starts[region] + end - first)
        ):
            end += 1
        visible = tuple(
            self._visible(int(stream.tokens[row, i]), states[i]) for i in range(first, end)
        )
        answer = self._script(
            Slot(region, column - first, end - first, visible, self.num_calls, context.tokens)
        )
        return self._peaked(answer)

    def _visible(self, token: int, state: int) -> str | None:
        if state == SlotState.MASK:
            return None
        return PAD_TEXT if state == SlotState.PAD else self.codec.decode([token])

    def _peaked(self, answer: Answer) -> Tensor:
        """Logits [V + 1] that give the answer its confidence and share the rest evenly."""
        size = self.codec.vocab_size + 1
        token = size - 1
        if answer.text != PAD_TEXT:
            token = self.codec.encode(answer.text)[0]
        logits = torch.zeros(size)
        best = math.log(answer.confidence / (1 - answer.confidence) * (size - 1))
        # Where a rule bans the leading space, the bare word follows; then any other word.
        if answer.text.startswith(" "):
            logits[self.codec.encode(answer.text[1:] or " ")[0]] = best / 2
        for offset, word in enumerate((" and", "and")):
            logits[self.codec.encode(word)[0]] = best / 4 - offset
        logits[token] = best
        return logits

    def _next(self, history: tuple[int, ...]) -> Tensor:
        """Causal logits [V]: a pool word after each word, by the last two tokens."""
        key = hashlib.blake2b(repr(history[-2:]).encode(), digest_size=4).digest()
        word = POOL[int.from_bytes(key, "big") % len(POOL)]
        return self._peaked(Answer(f" {word}", 0.6))[:-1]


def _region_starts(context: tuple[int, ...], stream: list[list[int]]) -> tuple[int, ...]:
    """First canvas position of each region: where the context's positions have a gap."""
    taken = set(context)
    slots = {p for row in stream for p in row if p not in taken}
    ends = [before + 1 for before in sorted(taken) if before + 1 not in taken]
    return tuple(start for start in ends if start in slots) or (0,)
