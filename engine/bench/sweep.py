"""`bench quality --sweep`: quality against passes for every rule, on the same held-out gaps.

Each policy fills every gap once, from one canvas of the reference's length, so that nothing but
the rules differs. Compared with one token a pass from the left, gap by gap. Owns which policies
are swept. The join is the judge's where there is one, else the model's own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from engine.bench.judge import Judge
from engine.bench.plots import Line, plot_lines
from engine.bench.report import mean_with_interval
from engine.bench.running import blank_out, passages
from engine.bench.scoring import is_exact, overlap
from engine.bench.tasks import Gap, choose_gaps, read_documents
from engine.canvas.length import LengthPrior
from engine.contract import JobFinished, RefineJob, RegionSpec, SamplerConfig
from engine.sampling.commitment import (
    CommitmentRule,
    EntropyBounded,
    Factor,
    Klass,
    LeftToRight,
    Margin,
    Random,
    Threshold,
    TopK,
)
from engine.sampling.guidance import Guidance
from engine.sampling.job import JobRun, Workshop
from engine.sampling.policies import REMASKINGS, Sampler, resolve_sampler
from engine.sampling.schedules import Cosine, Linear

__all__ = ["BASELINE", "POLICIES", "SweepRequest", "bench_sweep", "frontier", "spearman"]

BASELINE = "from the left, one a pass"
EXACT = LengthPrior(spread=0.01)  # the canvas has the length it was told
Row = dict[str, float]


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """Which gaps to fill, and where to draw. `plot` None draws nothing."""

    folder: Path
    lengths: Sequence[int] = (4, 8, 16, 32)
    per_cell: int = 1  # gaps for each (domain, length)
    seed: int = 0
    plot: Path | None = None
    policies: Sequence[str] = ()  # empty: all


def _paced(rule: CommitmentRule, ratio: float, **changes: Any) -> Callable[[Sampler], Sampler]:
    """Return how a policy departs from one canvas without pace; `ratio` is passes a slot."""
    return lambda plain: replace(plain, commitment=rule, whole_slots=0, pass_ratio=ratio, **changes)


GUIDED = Guidance(0.25)

POLICIES: Mapping[str, Callable[[Sampler], Sampler]] = {
    BASELINE: _paced(LeftToRight(), 1.0),
    "from the left, guided": _paced(LeftToRight(), 1.0, guidance=GUIDED),
    "from the left 0.1": _paced(LeftToRight(0.1), 1.0),
    "from the left 0.25": _paced(LeftToRight(0.25), 1.0),
    "from the left 0.5": _paced(LeftToRight(0.5), 1.0),
    "from the left 0.5, guided": _paced(LeftToRight(0.5), 1.0, guidance=GUIDED),
    "from the left 1": _paced(LeftToRight(1.0), 1.0),
    "from the left, pace 0.5": _paced(LeftToRight(), 0.5),
    "from the left, pace 0.35": _paced(LeftToRight(), 0.35),
    "top-k, one a pass": _paced(TopK(), 1.0),
    "top-k linear 0.5": _paced(TopK(), 0.5),
    "top-k linear 0.25": _paced(TopK(), 0.25),
    "top-k cosine 0.5": _paced(TopK(), 0.5, schedule=Cosine()),
    "random 0.5": _paced(Random(), 0.5),
    "threshold 0.9": _paced(Threshold(0.9), 1.0),
    "threshold 0.5": _paced(Threshold(0.5), 1.0),
    "factor 1": _paced(Factor(1.0), 1.0),
    "klass": _paced(Klass(), 1.0),
    "margin 2": _paced(Margin(2.0), 1.0),
    "entropy 0.4": _paced(EntropyBounded(0.4), 1.0),
    "entropy 0.4, pace 0.5": _paced(EntropyBounded(0.4), 0.5),
    "entropy 0.4, pace 0.35": _paced(EntropyBounded(0.4), 0.35),
    "from the left, leave one out": _paced(
        LeftToRight(0.25), 1.0, remasking=REMASKINGS["leave_one_out"]
    ),
    "from the left, ReMDM cap": _paced(LeftToRight(0.25), 1.0, remasking=REMASKINGS["remdm_cap"]),
    "from the left, token edits": _paced(
        LeftToRight(0.25), 1.0, remasking=REMASKINGS["token_edits"]
    ),
}


def bench_sweep(
    workshop: Workshop, request: SweepRequest, judge: Judge | None = None
) -> dict[str, Any]:
    """Fill every gap by every policy; return means, differences, frontier and correlation.

    Raises: FileNotFoundError without held-out text, InvalidJob where a plot needs the extra.
    """
    started = time.perf_counter()
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
    names = [name for name in POLICIES if not request.policies or name in request.policies]
    rows: dict[str, list[Row]] = {name: [] for name in names}
    for gap in gaps:  # gap by gap, so that its context is encoded once
        for name in names:
            rows[name].append(_fill(workshop, gap, POLICIES[name], request.seed, judge))
    difficulty = [_perplexity(workshop, gap) for gap in gaps]
    report = _report(rows, difficulty, [(gap.domain, gap.document) for gap in gaps])
    if request.plot is not None:
        _draw(request.plot, _points(report["policies"]))
    return {
        "adapter_sha256": workshop.identity.adapter_sha256,
        "judge": judge.name if judge else None,
        "gaps": len(gaps),
        "lengths": list(request.lengths),
        "seed": request.seed,
        "seconds": round(time.perf_counter() - started, 1),
    } | report


def _report(
    rows: Mapping[str, Sequence[Row]], difficulty: Sequence[float], groups: Sequence[object]
) -> dict[str, Any]:
    table = {name: _summarise(own, rows.get(BASELINE), groups) for name, own in rows.items()}
    return {
        "policies": table,
        "frontier": frontier(_points(table)),
        "passes_against_perplexity": {
            name: spearman([row["passes_a_token"] for row in own], difficulty)
            for name, own in rows.items()
        },
        "easy_and_hard": {name: _halves(own, difficulty) for name, own in rows.items()},
    }


def _points(table: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return (forwards, join score) of each policy, means."""
    return {name: (row["nfe"]["mean"], row["join"]["mean"]) for name, row in table.items()}


def frontier(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the names that no other beats: as cheap and better, or cheaper and as good."""
    return [
        name
        for name, (cost, worth) in points.items()
        if not any(
            other_cost <= cost
            and other_worth >= worth
            and (other_cost, other_worth) != (cost, worth)
            for other_cost, other_worth in points.values()
        )
    ]


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the rank correlation, ties at their mean rank; None where one side is constant."""
    ranks = [torch.tensor(_ranks(values)) for values in (first, second)]
    centred = [values - values.mean() for values in ranks]
    norm = float(centred[0].norm() * centred[1].norm())
    return None if norm == 0 else float((centred[0] * centred[1]).sum()) / norm


def _ranks(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]


def _fill(
    workshop: Workshop,
    gap: Gap,
    policy: Callable[[Sampler], Sampler],
    seed: int,
    judge: Judge | None,
) -> Row:
    config = SamplerConfig(route="diffusion", alternatives=1, seed=seed)
    plain = replace(
        resolve_sampler(config),
        length_prior=EXACT,
        schedule=Linear(),
        max_passes=10_000,
        num_lengths=1,
        num_samples=0,
        leader_ratio=1.0,
    )
    text, ranges = blank_out(gap)
    regions = tuple(
        RegionSpec(str(number), start, end, is_blank=True, length=gap.num_tokens)
        for number, (start, end) in enumerate(ranges)
    )
    job = RefineJob("sweep", text, regions, config=config)
    *_, last = JobRun(workshop, job, sampler=policy(plain)).events()
    assert isinstance(last, JobFinished), "a job without failure ends finished"
    firsts = [region.alternatives[0] for region in last.regions]
    texts = tuple(item.text for item in firsts)
    joins = (
        [score.join for score in judge.score(passages(gap, texts))]
        if judge
        else [item.score for item in firsts]
    )
    probes = len(last.run_card.canvas["lengths_tried"][0]) - 1  # of lengths that were not kept
    return {
        "passes": last.passes,
        "nfe": last.run_card.sampler["nfe"] - probes,
        "passes_a_token": last.passes / gap.num_tokens,
        "tokens_per_pass": gap.num_tokens / last.passes,
        "join": sum(joins) / len(joins),
        "word_f1": sum(
            overlap(text, reference) for text, reference in zip(texts, gap.references, strict=True)
        )
        / len(texts),
        "exact": sum(map(is_exact, texts, gap.references)) / len(texts),
        "num_tokens": gap.num_tokens,
    }


def _summarise(
    rows: Sequence[Row], baseline: Sequence[Row] | None, groups: Sequence[object]
) -> dict[str, Any]:
    names = ("passes", "nfe", "join", "word_f1", "exact")
    table: dict[str, Any] = {
        name: mean_with_interval([row[name] for row in rows], groups) for name in names
    }
    table["tokens_per_pass"] = _share(rows, lambda _: True)
    table["tokens_per_pass_16_to_32"] = _share(rows, lambda row: 16 <= row["num_tokens"] <= 32)
    if baseline is not None:
        pairs = list(zip(rows, baseline, strict=True))
        for name in ("join", "word_f1", "exact"):
            lost = [own[name] - base[name] for own, base in pairs]
            table[f"{name}_against_baseline"] = mean_with_interval(lost, groups)
        table["passes_ratio"] = sum(r["passes"] for r in rows) / sum(r["passes"] for r in baseline)
    return table


def _share(rows: Iterable[Row], wanted: Callable[[Row], bool]) -> float | None:
    chosen = [row for row in rows if wanted(row)]
    passes = sum(row["passes"] for row in chosen)
    return sum(row["num_tokens"] for row in chosen) / passes if passes else None


def _halves(rows: Sequence[Row], difficulty: Sequence[float]) -> dict[str, float] | None:
    """Median passes a token of the easier and of the harder half."""
    order = sorted(range(len(rows)), key=lambda index: difficulty[index])
    half = len(order) // 2
    if not half:
        return None
    easy, hard = (
        torch.tensor([rows[index]["passes_a_token"] for index in part]).median()
        for part in (order[:half], order[-half:])
    )
    return {"easy": float(easy), "hard": float(hard)}


def _perplexity(workshop: Workshop, gap: Gap) -> float:
    """Mean negative log-probability of the references under the base, nats per token."""
    codec, denoiser = workshop.words.codec, workshop.denoiser
    losses = []
    for (start, _), reference in zip(gap.ranges, gap.references, strict=True):
        left = codec.encode(gap.text[:start].rstrip(" "))[-workshop.context_tokens :]
        tokens = torch.tensor([codec.encode(f" {reference}")], device=denoiser.device)
        context = denoiser.encode_context(
            torch.tensor(left, device=denoiser.device),
            torch.arange(len(left), device=denoiser.device),
        )
        state = denoiser.causal_prefix(context, len(left))
        present = torch.ones_like(tokens, dtype=torch.bool)
        losses.append(-float(denoiser.causal_logprobs(state, tokens, present).mean()))
    return sum(losses) / len(losses)


def _draw(path: Path, points: Mapping[str, tuple[float, float]]) -> None:
    best = sorted(frontier(points), key=lambda name: points[name])
    lines = {"frontier": Line([points[name] for name in best], marker="")}
    markers = "osD^v<>pPX*"
    for number, (name, point) in enumerate(points.items()):
        lines[name] = Line([point], marker=markers[number % len(markers)])
    plot_lines(
        path,
        lines,
        x_label="forwards of one canvas a gap (mean)",
        y_label="join score of the fill, nats (mean)",
        title="Quality against passes, held-out gaps",
    )
