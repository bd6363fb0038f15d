"""`bench quality`: held-out gaps, diffusion beside its own base writing from left to right.

The same gaps for every route in the same run: exact match and word overlap with what stood
there, how the fill reads under a judge that is not the model, length error, repetition, passes
and seconds, each with a bootstrap interval over documents. One gap a text, and three jointly.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engine.bench.judge import Judge, JudgeScore
from engine.bench.report import machine, mean_with_interval
from engine.bench.running import Answer, fill_gap, passages
from engine.bench.scoring import is_exact, overlap, repetition
from engine.bench.tasks import Gap, choose_gaps, read_documents
from engine.contract import Preset, SamplerConfig
from engine.sampling.job import Workshop

__all__ = ["QualityRequest", "bench_quality"]

RouteName = Literal["diffusion", "greedy", "best_of_8"]
ROUTES: tuple[RouteName, ...] = ("diffusion", "greedy", "best_of_8")
JOINT_GAPS = 3
SHORT = 8  # gaps up to this are what the editor is for
NUM_SAMPLES = 20
BESIDE = 40  # code points of context shown with a sample


@dataclass(frozen=True, slots=True)
class QualityRequest:
    """Which gaps to fill, and how."""

    folder: Path
    lengths: Sequence[int] = (1, 2, 4, 8, 16, 32)
    joint_lengths: Sequence[int] = (4,)
    per_cell: int = 3  # tasks for each (domain, length)
    seed: int = 0
    preset: Preset = "balanced"
    alternatives: int = 3


@dataclass(frozen=True, slots=True)
class _Row:
    """One gap filled by one route."""

    route: RouteName
    told: bool
    gap: Gap
    place: int  # of the gap in its task
    answer: Answer
    judged: JudgeScore | None

    @property
    def group(self) -> tuple[str, int]:
        return self.gap.domain, self.gap.document

    @property
    def key(self) -> tuple[object, ...]:
        return self.gap.text, self.gap.ranges, self.place, self.told

    @property
    def text(self) -> str:
        return self.answer.texts[self.place]

    @property
    def reference(self) -> str:
        return self.gap.references[self.place]


def bench_quality(
    workshop: Workshop, request: QualityRequest, judge: Judge | None
) -> dict[str, Any]:
    """Fill every gap by every route, with the length told and not told."""
    started = time.perf_counter()
    rows = [
        row for gap in _choose(workshop, request) for row in _fill(workshop, gap, request, judge)
    ]
    identity = workshop.identity
    return {
        "adapter_sha256": identity.adapter_sha256,
        "model_sha256": identity.model_sha256,
        "judge": judge.name if judge else None,
        "seed": request.seed,
        "preset": request.preset,
        "gaps": len({row.key[:3] for row in rows}),
        "seconds": round(time.perf_counter() - started, 1),
        "cells": {name: _summarise(c, workshop) for name, c in sorted(_cells(rows).items())},
        "differences": _differences(rows),
        "samples": _samples(rows, request.seed),
        **machine(),
    }


def _choose(workshop: Workshop, request: QualityRequest) -> Iterable[Gap]:
    documents, codec = read_documents(request.folder), workshop.words.codec
    for lengths, count in ((request.lengths, 1), (request.joint_lengths, JOINT_GAPS)):
        yield from choose_gaps(
            documents,
            codec,
            lengths=lengths,
            per_cell=request.per_cell,
            seed=request.seed,
            count=count,
        )


def _config(request: QualityRequest, route: RouteName) -> SamplerConfig:
    alternatives = {"diffusion": request.alternatives, "greedy": 1, "best_of_8": 8}
    return SamplerConfig(
        route="diffusion" if route == "diffusion" else "autoregressive",
        preset=request.preset,
        alternatives=alternatives[route],
        seed=request.seed,
    )


def _fill(workshop: Workshop, gap: Gap, request: QualityRequest, judge: Judge | None) -> list[_Row]:
    rows = []
    for told in (True, False):
        for route in ROUTES:
            answer = fill_gap(workshop, gap, _config(request, route), knows_length=told)
            judged = judge.score(passages(gap, answer.texts)) if judge else [None] * len(gap.ranges)
            rows += [
                _Row(route, told, gap, place, answer, score) for place, score in enumerate(judged)
            ]
    return rows


def _cells(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    """Group rows by gaps in the task, route, whether the length was told, and length."""
    cells: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        count = len(row.gap.ranges)
        name = f"{'joint' if count > 1 else 'one'}/{row.route}/{'known' if row.told else 'unknown'}"
        cells[f"{name}/{row.gap.num_tokens}"].append(row)
        cells[f"{name}/all"].append(row)
        if row.gap.num_tokens <= SHORT:
            cells[f"{name}/1-{SHORT}"].append(row)
        if count == 1:
            cells[f"{name}/domain/{row.gap.domain}"].append(row)
    return cells


def _summarise(rows: Sequence[_Row], workshop: Workshop) -> dict[str, Any]:
    groups = [row.group for row in rows]

    def mean(values: Sequence[float]) -> dict[str, float | None]:
        return mean_with_interval(values, groups)

    def length_error(row: _Row) -> float:
        count = len(workshop.words.codec.encode(" " + row.text.strip()))
        return abs(count - row.gap.num_tokens) / row.gap.num_tokens

    judged = [(row.judged, row.group) for row in rows if row.judged is not None]
    return {
        "exact": mean([float(is_exact(row.text, row.reference)) for row in rows]),
        "word_f1": mean([overlap(row.text, row.reference) for row in rows]),
        "join": mean_with_interval([j.join for j, _ in judged], [g for _, g in judged]),
        "fit": mean_with_interval([j.fit for j, _ in judged], [g for _, g in judged]),
        "length_error": mean([length_error(row) for row in rows]),
        "repetition": mean([repetition(row.text) for row in rows]),
        "passes": mean([float(row.answer.passes) for row in rows]),
        "complete_ms": mean([row.answer.complete_ms for row in rows]),
        "outside_changed": sum(row.answer.outside_changed for row in rows),
    }


def _differences(rows: Sequence[_Row]) -> dict[str, Any]:
    """Return diffusion minus each other route on the same short gaps, paired."""
    by_route: dict[str, dict[tuple[object, ...], _Row]] = defaultdict(dict)
    for row in rows:
        if row.gap.num_tokens <= SHORT:
            by_route[row.route][row.key] = row
    found: dict[str, Any] = {}
    for other in ROUTES[1:]:
        for count, name in ((1, "one"), (JOINT_GAPS, "joint")):
            for told in (True, False):
                pairs = [
                    (mine, by_route[other][key])
                    for key, mine in by_route["diffusion"].items()
                    if mine.told == told and len(mine.gap.ranges) == count
                ]
                cell = f"{name}/{other}/{'known' if told else 'unknown'}/1-{SHORT}"
                found[cell] = _paired(pairs)
    return found


def _paired(pairs: Sequence[tuple[_Row, _Row]]) -> dict[str, Any]:
    groups = [mine.group for mine, _ in pairs]
    judged = [
        (mine.judged.join - theirs.judged.join, mine.judged.fit - theirs.judged.fit, mine.group)
        for mine, theirs in pairs
        if mine.judged is not None and theirs.judged is not None
    ]
    exact = [
        float(is_exact(a.text, a.reference)) - float(is_exact(b.text, b.reference))
        for a, b in pairs
    ]
    shared = [overlap(a.text, a.reference) - overlap(b.text, b.reference) for a, b in pairs]
    mine_ms = sum(mine.answer.complete_ms for mine, _ in pairs)
    their_ms = sum(theirs.answer.complete_ms for _, theirs in pairs)
    return {
        "exact": mean_with_interval(exact, groups),
        "word_f1": mean_with_interval(shared, groups),
        "join": mean_with_interval([j for j, _, _ in judged], [g for _, _, g in judged]),
        "fit": mean_with_interval([f for _, f, _ in judged], [g for _, _, g in judged]),
        "time_ratio": round(mine_ms / their_ms, 3) if their_ms else None,
    }


def _samples(rows: Sequence[_Row], seed: int) -> list[dict[str, Any]]:
    """Return gaps chosen by seed, not by hand, as every route filled them, length not told."""
    by_key: dict[tuple[object, ...], dict[str, _Row]] = defaultdict(dict)
    for row in rows:
        if not row.told and len(row.gap.ranges) == 1:
            by_key[row.key][row.route] = row
    found = list(by_key.values())
    chosen = random.Random(seed).sample(found, min(NUM_SAMPLES, len(found)))
    return [_sample(routes) for routes in chosen]


def _sample(routes: dict[str, _Row]) -> dict[str, Any]:
    row = routes["diffusion"]
    start, end = row.gap.ranges[0]
    return {
        "domain": row.gap.domain,
        "tokens": row.gap.num_tokens,
        "before": row.gap.text[max(0, start - BESIDE) : start],
        "after": row.gap.text[end : end + BESIDE],
        "reference": row.reference,
    } | {name: routes[name].text for name in ROUTES}
