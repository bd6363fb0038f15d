"""Makes a job for the engine out of a document's state.

Owns the one place where refine settings become the engine's `SamplerConfig`, where a span's
settings become a `RegionSpec`, and which constraints exist. Pure; raises before anything is
stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from editor.document.blanks import is_blank_marker
from editor.document.spans import MAX_REGION_CODE_POINTS, Span, locked_ranges
from editor.errors import InvalidInput, SpanConflict, TooLarge
from editor.protocol.messages import RefineSettings
from engine.contract import (
    MAX_REGIONS,
    Constraint,
    LockSpec,
    RefineJob,
    RegionSpec,
    SamplerConfig,
)

__all__ = ["check_settings", "plan_job", "read_constraints", "sampler_config"]

MAX_CONSTRAINTS = 16
MAX_LENGTH_TOKENS = 256

_CONSTRAINT: TypeAdapter[Constraint] = TypeAdapter(Constraint)


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
    )


def read_constraints(raw: object) -> tuple[Constraint, ...]:
    """Read a list of {"kind", "values"?, "pattern"?, "minimum"?, "maximum"?}.

    Raises: InvalidInput naming the constraint and the field that cannot be read.
    """
    if not isinstance(raw, Sequence) or isinstance(raw, str | bytes):
        raise InvalidInput("constraints are a list of objects with a kind")
    if len(raw) > MAX_CONSTRAINTS:
        raise InvalidInput(f"there are {len(raw)} constraints; the limit is {MAX_CONSTRAINTS}")
    constraints: list[Constraint] = []
    for index, item in enumerate(raw):
        if not isinstance(item, Mapping) or not set(item) <= set(Constraint.__slots__):
            raise InvalidInput(
                f"constraint {index} must be an object of {', '.join(Constraint.__slots__)}"
            )
        try:
            constraints.append(_CONSTRAINT.validate_python(dict(item)))
        except ValidationError as error:
            fields = ", ".join(str(detail["loc"][0]) for detail in error.errors())
            raise InvalidInput(f"constraint {index} has an unusable {fields}") from error
    return tuple(constraints)


def check_settings(span: Span) -> None:
    """Accept a region's or field's settings. Raises: InvalidInput naming the setting."""
    if span.kind != "locked":
        _region_spec(span, is_blank=False, constraints=())


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
    for region in regions:
        _check_region(region, locks)
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
        locks=tuple(LockSpec(start, end) for start, end in locks),
        config=config,
    )


def _check_region(region: Span, locks: Sequence[tuple[int, int]]) -> None:
    size = region.end - region.start
    if size > MAX_REGION_CODE_POINTS:
        raise TooLarge(
            f"the region at {region.start} to {region.end} has {size:,} code points; "
            f"the limit is {MAX_REGION_CODE_POINTS:,}"
        )
    locked = sum(max(0, min(end, region.end) - max(start, region.start)) for start, end in locks)
    if locked >= size:
        raise SpanConflict(
            f"the region at {region.start} to {region.end} is locked as a whole; unlock some of it"
        )


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
