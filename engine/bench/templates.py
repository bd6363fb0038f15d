"""Fill-in templates with reference answers: exact match and word overlap, blank by blank."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.bench.report import mean_with_interval
from engine.bench.running import run_job
from engine.bench.scoring import is_exact, overlap
from engine.contract import Preset, RefineJob, RegionSpec, SamplerConfig
from engine.sampling.job import Workshop

__all__ = ["Template", "bench_templates", "read_templates"]

MARKERS = {"[___]": r"\[___\]", "***": r"\*\*\*", "{{}}": r"\{\{[^{}]*\}\}"}


@dataclass(frozen=True, slots=True)
class Template:
    """A text with blanks at `ranges` (code points) and what stood there."""

    template_id: str
    group: str
    text: str
    ranges: tuple[tuple[int, int], ...]
    references: tuple[str, ...]


def read_templates(path: Path) -> list[Template]:
    """Read one JSON object a line: id, group, marker, template, references.

    Raises: FileNotFoundError; ValueError for an unknown marker or a wrong number of references.
    """
    found = []
    for line in path.read_text("utf-8").splitlines():
        item = json.loads(line)
        if item["marker"] not in MARKERS:
            raise ValueError(f"{item['id']}: marker not among {', '.join(MARKERS)}")
        blanks = re.finditer(MARKERS[item["marker"]], item["template"])
        ranges = tuple(match.span() for match in blanks)
        if len(ranges) != len(item["references"]):
            raise ValueError(
                f"{item['id']}: {len(ranges)} blanks, {len(item['references'])} references"
            )
        references = tuple(item["references"])
        found.append(Template(item["id"], item["group"], item["template"], ranges, references))
    return found


def bench_templates(
    workshop: Workshop, path: Path, *, preset: Preset = "balanced", limit: int | None = None
) -> dict[str, Any]:
    """Fill every template's blanks jointly by both routes, lengths not told."""
    templates = read_templates(path)[:limit]
    routes: dict[str, Any] = {}
    for route in ("diffusion", "autoregressive"):
        config = SamplerConfig(route=route, preset=preset)
        routes[route] = _fill_all(workshop, templates, config)
    return {
        "templates": len(templates),
        "blanks": sum(len(template.ranges) for template in templates),
        "routes": routes,
    }


def _fill_all(
    workshop: Workshop, templates: list[Template], config: SamplerConfig
) -> dict[str, Any]:
    exact: dict[str, list[float]] = defaultdict(list)
    shared: dict[str, list[float]] = defaultdict(list)
    groups: dict[str, list[str]] = defaultdict(list)
    changed, total_ms = 0, 0.0
    for template in templates:
        regions = tuple(
            RegionSpec(str(index), start, end, is_blank=True)
            for index, (start, end) in enumerate(template.ranges)
        )
        answer = run_job(workshop, RefineJob("bench", template.text, regions, config=config))
        changed += answer.outside_changed
        total_ms += answer.complete_ms
        for text, reference in zip(answer.texts, template.references, strict=True):
            for name in (template.group, "all"):
                exact[name].append(float(is_exact(text, reference)))
                shared[name].append(overlap(text, reference))
                groups[name].append(template.template_id)
    return {
        "groups": {
            name: {
                "exact": mean_with_interval(exact[name], groups[name]),
                "word_f1": mean_with_interval(shared[name], groups[name]),
            }
            for name in sorted(exact)
        },
        "outside_changed": changed,
        "seconds_per_blank": round(total_ms / 1e3 / max(1, len(exact["all"])), 3),
    }
