"""`bench quality`: held-out gaps by length, diffusion beside the base's own filling.

Exact match and token overlap against what stood there, length error, repetition, passes and
seconds, each with a bootstrap interval over documents, on the same gaps in the same run.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.bench.report import machine, mean_with_interval
from engine.bench.running import Answer, fill_gap
from engine.bench.tasks import Gap, choose_gaps, read_documents
from engine.contract import Preset, SamplerConfig
from engine.sampling.job import Workshop

__all__ = ["QualityRequest", "bench_quality", "overlap", "repetition"]


@dataclass(frozen=True, slots=True)
class QualityRequest:
    """Which gaps to fill, and how."""

    folder: Path
    lengths: Sequence[int] = (1, 2, 4, 8, 16, 32)
    per_cell: int = 5  # gaps for each (domain, length)
    seed: int = 0
    preset: Preset = "balanced"
    alternatives: int = 3


def overlap(answer: str, reference: str) -> float:
    """Return F1 of the two bags of words, in [0, 1]; case and edge punctuation do not count."""
    first, second = (
        Counter(w.strip(".,;:!?\"'()").lower() for w in t.split()) for t in (answer, reference)
    )
    shared = sum((first & second).values())
    total = sum(first.values()) + sum(second.values())
    return 2 * shared / total if total else 1.0


def repetition(answer: str) -> float:
    """Return the share of word trigrams that stood in the answer before."""
    words = answer.lower().split()
    grams = list(zip(words, words[1:], words[2:], strict=False))
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def bench_quality(workshop: Workshop, request: QualityRequest) -> dict[str, Any]:
    """Fill every gap by both routes, with the length told and not told."""
    codec = workshop.words.codec
    gaps = list(
        choose_gaps(
            read_documents(request.folder),
            codec,
            lengths=request.lengths,
            per_cell=request.per_cell,
            seed=request.seed,
        )
    )
    cells: dict[str, list[tuple[Gap, Answer]]] = defaultdict(list)
    started = time.perf_counter()
    for gap in gaps:
        for route in ("diffusion", "autoregressive"):
            for knows_length in (True, False):
                config = SamplerConfig(
                    route=route,
                    preset=request.preset,
                    alternatives=request.alternatives,
                    seed=request.seed,
                )
                answer = fill_gap(workshop, gap, config, knows_length=knows_length)
                told = "known" if knows_length else "unknown"
                cells[f"{route}/{told}/{gap.num_tokens}"].append((gap, answer))
                cells[f"{route}/{told}/all"].append((gap, answer))
    identity = workshop.identity
    return {
        "adapter_sha256": identity.adapter_sha256,
        "model_sha256": identity.model_sha256,
        "seed": request.seed,
        "preset": request.preset,
        "gaps": len(gaps),
        "seconds": round(time.perf_counter() - started, 1),
        "cells": {name: _summarise(pairs, workshop) for name, pairs in sorted(cells.items())},
        **machine(),
    }


def _summarise(pairs: list[tuple[Gap, Answer]], workshop: Workshop) -> dict[str, Any]:
    groups = [(gap.domain, gap.document) for gap, _ in pairs]

    def mean(values: list[float]) -> dict[str, float]:
        return mean_with_interval(values, groups)

    def num_tokens(text: str) -> int:
        return len(workshop.words.codec.encode(text))

    return {
        "exact": mean([float(a.text.strip() == g.reference.strip()) for g, a in pairs]),
        "word_f1": mean([overlap(a.text, g.reference) for g, a in pairs]),
        "length_error": mean(
            [abs(num_tokens(a.text) - g.num_tokens) / g.num_tokens for g, a in pairs]
        ),
        "repetition": mean([repetition(a.text) for _, a in pairs]),
        "passes": mean([float(a.passes) for _, a in pairs]),
        "complete_ms": mean([a.complete_ms for _, a in pairs]),
        "outside_changed": sum(a.outside_changed for _, a in pairs),
    }
