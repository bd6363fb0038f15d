"""Turns what a caller names as regions into span ids, and into spans that must be made first.

Pure. A caller of REST may name regions by id or by a range of code points; a range that is a
region or field already is that one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from editor.document.spans import Span
from editor.errors import InvalidInput

__all__ = ["RegionPlan", "plan_regions"]


@dataclass(frozen=True, slots=True)
class RegionPlan:
    """`span_ids` None means all regions; `new_spans` must exist before the run is asked for."""

    span_ids: tuple[str, ...] | None
    new_spans: tuple[Span, ...] = ()


def plan_regions(
    asked: Sequence[str | tuple[int, int]] | None,
    spans: Sequence[Span],
    *,
    new_id: Callable[[], str],
) -> RegionPlan:
    """Return the spans that `asked` means (None: all). Raises: InvalidInput when it is empty."""
    if asked is None:
        return RegionPlan(None)
    if not asked:
        raise InvalidInput('no regions were given; allowed: "all", span ids, or ranges')
    known = {(span.start, span.end): span.id for span in spans if span.kind != "locked"}
    span_ids: list[str] = []
    new_spans: list[Span] = []
    for one in asked:
        if isinstance(one, str):
            span_ids.append(one)
            continue
        if one not in known:
            known[one] = new_id()
            new_spans.append(Span(known[one], "region", *one))
        span_ids.append(known[one])
    return RegionPlan(tuple(dict.fromkeys(span_ids)), tuple(new_spans))
