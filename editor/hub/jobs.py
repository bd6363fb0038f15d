"""Makes a job for the engine out of a document's state.

Owns the one place where refine settings become the engine's `SamplerConfig` and a span's
settings a `RegionSpec`, and what is locked for a run: the locks, and the Markdown structure
inside its regions. Pure; raises before anything is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from editor.document.blanks import is_blank_marker
from editor.document.facts import read_protected
from editor.document.markup import markup_in
from editor.document.spans import MAX_REGION_CODE_POINTS, Span, locked_ranges
from editor.errors import InvalidInput, SpanConflict, TooLarge
from editor.hub.constraints import read_constraints
from editor.protocol.messages import RefineSettings
from engine.contract import (
    MAX_REGIONS,
    Constraint,
    LockSpec,
    RefineJob,
    RegionSpec,
    SamplerConfig,
)

__all__ = ["check_settings", "plan_job", "sampler_config"]

MAX_LENGTH_TOKENS = 256
MAX_LABEL_CODE_POINTS = 200


def sampler_config(settings: RefineSettings) -> SamplerConfig:
    """Return the engine's form of what a user set; constraints go by `read_constraints`."""
    return SamplerConfig(
        route=settings.route,
        preset=settings.preset,
        mode=settings.mode,
        steps=settings.steps,
        time_budget_s=settings.time_budget_s,
        seed=settings.seed,
        temperature=settings.temperature,
        strength=settings.strength,
        length=settings.length,
        alternatives=settings.alternatives,
        brief=settings.brief,
        commitment=settings.commitment,
        schedule=settings.schedule,
        remasking=settings.remasking,
        drawing=settings.drawing,
        stop_when=settings.stop_when,
        top_p=settings.top_p,
        early_answer=settings.early_answer,
        guidance=settings.guidance,
    )


def check_settings(span: Span) -> None:
    """Accept a region's or field's settings. Raises: InvalidInput naming the setting."""
    if span.kind == "locked":
        return
    settings = span.settings
    _region_spec(span, is_blank=False, constraints=())
    read_protected(settings.get("protected", ()))
    for name in ("label", "name"):
        value = settings.get(name, "")
        if not isinstance(value, str) or len(value) > MAX_LABEL_CODE_POINTS:
            raise InvalidInput(f"{name} must be a text of at most {MAX_LABEL_CODE_POINTS}")
    for name in ("lock_markup", "required"):
        if not isinstance(settings.get(name, False), bool):
            raise InvalidInput(f"{name} must be true or false")


def plan_job(
    job_id: str,
    text: str,
    spans: Sequence[Span],
    *,
    regions: Sequence[Span],
    asked: tuple[SamplerConfig, tuple[Constraint, ...]],
) -> RefineJob:
    """Return the job that refines `regions`, some of the document's `spans`.

    Raises: InvalidInput for no region or unusable settings, TooLarge for too many or too long
    regions, SpanConflict when locks leave nothing of a region free.
    """
    config, constraints = asked
    if not regions:
        raise InvalidInput("nothing to refine: mark a region or leave a blank such as [___]")
    if len(regions) > MAX_REGIONS:
        raise TooLarge(f"{len(regions)} regions in one run; the limit is {MAX_REGIONS}")
    locks = locked_ranges(spans)
    kept = locked_ranges(
        [
            *(Span("", "locked", start, end) for start, end in locks),
            *(
                Span("", "locked", start, end)
                for region in regions
                for start, end in markup_in(text, region)
            ),
        ]
    )
    for region in regions:
        _check_region(region, locks)
        _check_markup(region, kept, text)
    return RefineJob(
        job_id=job_id,
        text=text,
        regions=tuple(
            _region_spec(
                region,
                is_blank=is_blank_marker(text[region.start : region.end]),
                constraints=constraints,
            )
            for region in sorted(regions, key=lambda span: span.start)
        ),
        locks=tuple(LockSpec(start, end) for start, end in kept),
        config=config,
    )


def _check_region(region: Span, locks: Sequence[tuple[int, int]]) -> None:
    size = region.end - region.start
    if size > MAX_REGION_CODE_POINTS:
        raise TooLarge(
            f"the region at {region.start} to {region.end} has {size:,} code points; "
            f"the limit is {MAX_REGION_CODE_POINTS:,}"
        )
    if not _free(region, locks):
        raise SpanConflict(
            f"the region at {region.start} to {region.end} is locked as a whole; unlock some of it"
        )


def _check_markup(region: Span, kept: Sequence[tuple[int, int]], text: str) -> None:
    free = _free(region, kept)
    if free == [(region.start, region.end)] or any(text[low:high].strip() for low, high in free):
        return
    raise SpanConflict(
        f"the region at {region.start} to {region.end} holds nothing to rewrite beside locked "
        "text and Markdown structure; set its lock_markup to false to rewrite that too"
    )


def _free(region: Span, kept: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the stretches of a region outside `kept`, ranges in order and apart."""
    free: list[tuple[int, int]] = []
    position = region.start
    for start, end in kept:
        if position < min(start, region.end):
            free.append((position, min(start, region.end)))
        position = max(position, end)
    return [*free, (position, region.end)] if position < region.end else free


def _region_spec(span: Span, *, is_blank: bool, constraints: tuple[Constraint, ...]) -> RegionSpec:
    settings = span.settings
    own = read_constraints(settings.get("constraints", ()))
    if settings.get("choices"):
        own = (*own, *read_constraints([{"kind": "choices", "values": settings["choices"]}]))
    return RegionSpec(
        region_id=span.id,
        start=span.start,
        end=span.end,
        is_blank=is_blank,
        length=_length(settings),
        strength=_strength(settings),
        constraints=(*constraints, *own),
    )


def _length(settings: Mapping[str, Any]) -> int | None:
    length = settings.get("length")
    is_whole = isinstance(length, int) and not isinstance(length, bool)
    if length is not None and not (is_whole and 1 <= length <= MAX_LENGTH_TOKENS):
        raise InvalidInput(f"length must be a whole number of 1 to {MAX_LENGTH_TOKENS} tokens")
    return length


def _strength(settings: Mapping[str, Any]) -> float | None:
    strength = settings.get("strength")
    is_number = isinstance(strength, int | float) and not isinstance(strength, bool)
    if strength is not None and not (is_number and 0 <= strength <= 1):
        raise InvalidInput("strength must be a number of 0 to 1")
    return None if strength is None else float(strength)
