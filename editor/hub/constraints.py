"""Reads the constraints of a region or of a run, and refuses those that say nothing usable.

Owns which constraints may be asked for and what each needs. Whether several can be met together
is the engine's to find out. Pure; no message repeats a pattern or a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields

from pydantic import TypeAdapter, ValidationError

from editor.errors import InvalidInput
from engine.contract import Constraint

__all__ = ["read_constraints"]

MAX_CONSTRAINTS = 16
MAX_PATTERN_CODE_POINTS = 1_000
CASINGS = ("lower", "upper", "sentence")
_NEED_VALUES = frozenset(("choices", "unit", "must_contain", "must_not_contain"))
_FIELDS = tuple(field.name for field in fields(Constraint))

_CONSTRAINT: TypeAdapter[Constraint] = TypeAdapter(Constraint)


def read_constraints(raw: object) -> tuple[Constraint, ...]:
    """Read a list of {"kind", "values"?, "pattern"?, "minimum"?, "maximum"?}.

    Raises: InvalidInput naming the constraint and what cannot be used in it.
    """
    if not isinstance(raw, Sequence) or isinstance(raw, str | bytes):
        raise InvalidInput("constraints are a list of objects with a kind")
    if len(raw) > MAX_CONSTRAINTS:
        raise InvalidInput(f"there are {len(raw)} constraints; the limit is {MAX_CONSTRAINTS}")
    constraints: list[Constraint] = []
    for index, item in enumerate(raw):
        if not isinstance(item, Mapping) or not set(item) <= set(_FIELDS):
            raise InvalidInput(f"constraint {index} must be an object of {', '.join(_FIELDS)}")
        try:
            constraint = _CONSTRAINT.validate_python(dict(item))
        except ValidationError as error:
            names = ", ".join(str(detail["loc"][0]) for detail in error.errors())
            raise InvalidInput(f"constraint {index} has an unusable {names}") from error
        problem = _problem(constraint)
        if problem is not None:
            raise InvalidInput(f"constraint {index} ({constraint.kind}): {problem}")
        constraints.append(constraint)
    return tuple(constraints)


def _problem(constraint: Constraint) -> str | None:
    low, high = constraint.minimum, constraint.maximum
    if any(bound is not None and not math.isfinite(bound) for bound in (low, high)):
        return "minimum and maximum must be finite numbers"
    if low is not None and high is not None and low > high:
        return f"minimum {low} is above maximum {high}"
    if constraint.kind == "length" and any(one is not None and one < 0 for one in (low, high)):
        return "a number of words is not below 0"
    if constraint.kind in _NEED_VALUES and not (constraint.values and all(constraint.values)):
        return "it needs values, none of them empty"
    if constraint.kind == "casing" and constraint.values not in [(one,) for one in CASINGS]:
        return f"values must be one of {', '.join(CASINGS)}"
    return _pattern_problem(constraint.pattern) if constraint.kind == "regex" else None


def _pattern_problem(pattern: str | None) -> str | None:
    if not pattern:
        return "it needs a pattern"
    if len(pattern) > MAX_PATTERN_CODE_POINTS:
        return f"the pattern has {len(pattern):,} characters; the limit is 1,000"
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        # Where, not what: the reason would quote the pattern.
        position = getattr(error, "pos", None)
        where = "" if position is None else f": look at character {position}"
        return f"the pattern is no regular expression{where}"
    return None
