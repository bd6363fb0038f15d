"""Cut a window of text into context and regions, and hide part of the regions, twice.

Owns the distribution of training samples: how many regions, how long, how much is masked,
which visible tokens are wrong, how much PAD. Pure NumPy, driven by the generator it is given.
Every sample has the same shapes, so that the compiled loop never sees a new one.

The second hiding is the first's complement: what was hidden is in view and what was in view is
hidden, so that two looks at one encoded context score each word about once.

Shapes: C context tokens, S stream slots (anchors + region slots), one row a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CorruptionConfig", "Sample", "corrupt", "share_out", "stack_samples"]

TOKEN, MASK, PAD, ABSENT = 0, 1, 2, 3

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CorruptionConfig:
    """The distribution of samples."""

    context_tokens: int = 144
    stream_slots: int = 80
    max_regions: int = 10
    short_share: float = 0.75  # samples made of many short regions
    short_lengths: tuple[int, int] = (1, 16)
    full_mask_share: float = 0.45  # regions that start as a user's do: all masked
    wrong_share: float = 0.08  # of visible region tokens
    pad_region_share: float = 0.5
    pad_lengths: tuple[int, int] = (4, 16)  # slots of a short region that holds PAD
    max_pad_ratio: float = 0.9  # of those: a probe's canvas may be far too long
    max_long_pad_ratio: float = 0.5  # of the one to three long regions
    gap_share: float = 0.5  # regions followed by unused canvas positions
    max_gap: int = 16


@dataclass(frozen=True, slots=True)
class Sample:
    """One corrupted window; see `RegionStream` for the stream's layout."""

    context: Ints  # [C]
    context_positions: Ints  # [C]
    tokens: Ints  # [S] what is visible
    state: Bytes  # [S]
    positions: Ints  # [S]
    targets: Ints  # [S] the true token, V for PAD; -1 where nothing is to be predicted
    weight: NDArray[np.float32]  # [S] loss weight of a slot, 0 where not predicted
    other_state: Bytes  # [S] of the second look; visible words there are the true ones
    other_weight: NDArray[np.float32]  # [S]


def share_out(total: int, parts: int, rng: np.random.Generator) -> list[int]:
    """Split `total` into `parts` non-negative integers, uniformly over all ways."""
    cuts = np.sort(rng.integers(0, total + 1, parts - 1))
    return [int(part) for part in np.diff([0, *cuts, total])]


def choose_shapes(config: CorruptionConfig, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return slots and PAD slots of each region; with one anchor each they fit the stream."""
    if rng.random() >= config.short_share:
        count = int(rng.integers(1, 4))
        free = config.stream_slots - 2 * count
        lengths = [1 + part for part in share_out(free, count, rng)]
        return [(length, _choose_pad(length, config, rng)) for length in lengths]
    shapes: list[tuple[int, int]] = []
    left = config.stream_slots
    while len(shapes) < config.max_regions and left >= 2:
        if rng.random() < config.pad_region_share:
            low, high = config.pad_lengths
            length = min(int(rng.integers(low, high + 1)), left - 1)
            pad = int(rng.uniform(0, config.max_pad_ratio) * length)
        else:
            low, high = config.short_lengths
            # Log-uniform: as many regions of 1-4 as of 4-16.
            length = min(int(np.exp(rng.uniform(np.log(low), np.log(high + 1)))), left - 1)
            pad = 0
        shapes.append((length, pad))
        left -= length + 1
    return shapes


def corrupt(
    window: Ints, config: CorruptionConfig, vocab_size: int, rng: np.random.Generator
) -> Sample:
    """Make one sample from `window`, which holds at least C + S tokens; unused ones are dropped."""
    shapes = choose_shapes(config, rng)
    gaps = share_out(config.context_tokens, len(shapes) + 1, rng)
    builder = _Builder(config, vocab_size, rng)
    for gap, (length, pad) in zip(gaps, shapes, strict=False):
        window = builder.add_context(window, gap)
        window = builder.add_region(window, length, pad)
    builder.add_context(window, gaps[-1])
    return builder.finish()


def _choose_pad(length: int, config: CorruptionConfig, rng: np.random.Generator) -> int:
    if rng.random() >= config.pad_region_share:
        return 0
    return int(rng.uniform(0, config.max_long_pad_ratio) * length)


class _Builder:
    """Accumulates one sample from left to right."""

    def __init__(self, config: CorruptionConfig, vocab_size: int, rng: np.random.Generator) -> None:
        self.config, self.vocab_size, self.rng = config, vocab_size, rng
        self.context: list[Ints] = []
        self.context_positions: list[Ints] = []
        slots = config.stream_slots
        self.tokens = np.zeros(slots, np.int64)
        self.state = np.full(slots, ABSENT, np.uint8)
        self.positions = np.zeros(slots, np.int64)
        self.targets = np.full(slots, -1, np.int64)
        self.weight = np.zeros(slots, np.float32)
        self.other_state = np.full(slots, ABSENT, np.uint8)
        self.other_weight = np.zeros(slots, np.float32)
        self.slot = 0
        self.place = 0
        self.last = 0  # token 0 opens a text

    def add_context(self, window: Ints, count: int) -> Ints:
        self.context.append(window[:count])
        self.context_positions.append(np.arange(self.place, self.place + count))
        self.place += count
        if count:
            self.last = int(window[count - 1])
        return window[count:]

    def add_region(self, window: Ints, length: int, pad: int) -> Ints:
        real = length - pad
        self.tokens[self.slot] = self.last
        self.state[self.slot] = self.other_state[self.slot] = TOKEN
        self.positions[self.slot] = max(self.place - 1, 0)
        region = slice(self.slot + 1, self.slot + 1 + length)
        truth = np.concatenate([window[:real], np.full(pad, self.vocab_size)])
        masked = self._choose_masked(truth, real)
        wrong = ~masked & (self.rng.random(length) < self.config.wrong_share)
        wrong[real:] = False
        words = np.where(truth < self.vocab_size, truth, 0)
        uniform = self.rng.integers(17, self.vocab_size, length)
        self.tokens[region] = np.where(wrong, uniform, words)
        self.state[region], self.weight[region] = self._view(masked, wrong, real)
        other = self._complement(masked, real)
        none_wrong = np.zeros_like(wrong)
        self.other_state[region], self.other_weight[region] = self._view(other, none_wrong, real)
        self.positions[region] = np.arange(self.place, self.place + length)
        self.targets[region] = truth
        self.slot += length + 1
        self.place += length
        if self.rng.random() < self.config.gap_share:
            self.place += int(self.rng.integers(0, self.config.max_gap + 1))
        if real:
            self.last = int(window[real - 1])
        return window[real:]

    def _choose_masked(self, truth: Ints, real: int) -> Bools:
        config, rng = self.config, self.rng
        ratio = 1.0 if rng.random() < config.full_mask_share else rng.uniform(0.05, 1.0)
        return self._settle(rng.random(len(truth)) < ratio, real)

    def _complement(self, masked: Bools, real: int) -> Bools:
        """What the second look hides: the rest, or a part anew where nothing was in view."""
        if masked.all():
            return self._settle(self.rng.random(len(masked)) < self.rng.uniform(0.05, 0.7), real)
        return self._settle(~masked, real)

    def _settle(self, masked: Bools, real: int) -> Bools:
        _close_tail(masked, real, self.rng)
        if not masked.any():
            masked[self.rng.integers(max(real, 1))] = True
        return masked

    def _view(self, masked: Bools, wrong: Bools, real: int) -> tuple[Bytes, NDArray[np.float32]]:
        """Return state and loss weight of a region's slots."""
        is_word = np.arange(len(masked)) < real
        state = np.where(masked, MASK, np.where(is_word, TOKEN, PAD))
        weight = np.where(masked, min(1.0 / masked.mean(), 3.0), 0.0)
        # Visible slots are scored too, right and wrong ones alike, so that the probability of
        # a visible token means something.
        is_checked = wrong | (self.rng.random(len(masked)) < 0.15)
        weight = np.where(~masked & is_checked, 1.0, weight)
        weight[real:] *= 0.5  # PAD is easy once found; it must not crowd out words
        return state.astype(np.uint8), weight.astype(np.float32)

    def finish(self) -> Sample:
        context = np.concatenate(self.context)
        positions = np.concatenate(self.context_positions)
        return Sample(
            context,
            positions,
            self.tokens,
            self.state,
            self.positions,
            self.targets,
            self.weight,
            self.other_state,
            self.other_weight,
        )


def _close_tail(masked: Bools, real: int, rng: np.random.Generator) -> None:
    """Make visible PAD a tail, as sampling commits it: nothing masked right of a visible one."""
    pad = len(masked) - real
    if pad:
        hidden = int(rng.integers(0, pad + 1)) if not masked[real:].all() else pad
        masked[real : real + hidden] = True
        masked[real + hidden :] = False


def stack_samples(samples: list[Sample]) -> dict[str, NDArray[np.generic]]:
    """Stack samples into arrays with a leading batch axis, by field name."""
    return {
        name: np.stack([getattr(sample, name) for sample in samples]) for name in Sample.__slots__
    }
