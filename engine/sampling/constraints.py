"""What a user demands of a region's text, checked when it is complete.

Constraints guarantee form, not truth. Enforcing them during passes is a later step; here a
finished text either satisfies one or does not.
"""

from __future__ import annotations

import re
from typing import assert_never

from engine.contract import Constraint, RefineJob
from engine.errors import UnsatisfiableConstraint

__all__ = ["check_constraints", "is_satisfied"]

NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2} [A-Z][a-z]+(?: \d{4})?")


def check_constraints(job: RefineJob) -> None:
    """Refuse constraints that nothing can satisfy. Raises: UnsatisfiableConstraint."""
    for region in job.regions:
        for constraint in region.constraints:
            problem = _problem(constraint)
            if problem is not None:
                raise UnsatisfiableConstraint(f"region {region.region_id}: {problem}")


def is_satisfied(constraint: Constraint, text: str) -> bool:
    """Return whether a region's finished text satisfies the constraint."""
    match constraint.kind:
        case "choices":
            return text in constraint.values
        case "regex":
            return re.fullmatch(constraint.pattern or "", text) is not None
        case "number":
            found = NUMBER.fullmatch(text)
            return found is not None and _in_range(constraint, float(text.replace(",", ".")))
        case "date":
            return DATE.fullmatch(text) is not None
        case "must_contain":
            return all(value in text for value in constraint.values)
        case "must_not_contain":
            return not any(value.lower() in text.lower() for value in constraint.values)
        case "length":
            return _in_range(constraint, len(text.split()))
        case "casing":
            wanted = constraint.values[0]
            changed = {"lower": text.lower(), "upper": text.upper()}.get(wanted)
            return text == (text[:1].upper() + text[1:] if changed is None else changed)
        case _:
            assert_never(constraint.kind)


def _in_range(constraint: Constraint, value: float) -> bool:
    low, high = constraint.minimum, constraint.maximum
    return (low is None or value >= low) and (high is None or value <= high)


def _problem(constraint: Constraint) -> str | None:
    low, high = constraint.minimum, constraint.maximum
    if low is not None and high is not None and low > high:
        return f"minimum {low} is above maximum {high}"
    match constraint.kind:
        case "choices" | "must_contain" | "must_not_contain":
            return None if any(constraint.values) else f"{constraint.kind} needs values"
        case "casing":
            known = ("lower", "upper", "sentence")
            return (
                None
                if constraint.values[:1] and constraint.values[0] in known
                else (f"casing is one of {', '.join(known)}")
            )
        case "regex":
            try:
                re.compile(constraint.pattern or "")
            except re.error as error:
                return f"the pattern is no regular expression: {error}"
            return None if constraint.pattern else "regex needs a pattern"
        case "number" | "date" | "length":
            return None
        case _:
            assert_never(constraint.kind)
