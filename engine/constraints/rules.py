"""Constraints of a region as one automaton; whether anything can satisfy them.

Pure and torch-free, so that a job that cannot be met is refused where it comes in.
Constraints guarantee form, not truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Literal, assert_never

from engine.constraints.automata import (
    Automaton,
    Casing,
    Choices,
    Contains,
    Excludes,
    TooComplex,
    WordCount,
    accepts,
    every,
    shortest_fills,
)
from engine.constraints.numbers import Number
from engine.constraints.patterns import Pattern, UnsupportedPattern
from engine.contract import Constraint, RefineJob
from engine.errors import UnsatisfiableConstraint

__all__ = ["automaton_of", "check_constraints", "is_satisfied", "shortest_region", "wished_for"]

CASINGS = ("lower", "upper", "sentence")
# Fills never spell a blank (BEHAVIOURS H3) and never break a line, unless a rule demands it.
BLANK_MARKS = ("__", "**", "{{", "}}")
# Months by the days they may have, as numbers and as names; years of 366 days are not told apart.
_DAYS = {
    "(0?[1-9]|[12][0-9]|3[01])": (
        "(0?[13578]|1[02])",
        "(January|March|May|July|August|October|December|Jan|Mar|Jul|Aug|Oct|Dec)",
    ),
    "(0?[1-9]|[12][0-9]|30)": ("(0?[469]|11)", "(April|June|September|November|Apr|Jun|Sep|Nov)"),
    "(0?[1-9]|[12][0-9])": ("0?2", "(February|Feb)"),
}
_YEAR = "([0-9]{4}|[0-9]{2})"
DATE = "|".join(
    rf"[0-9]{{4}}-{month.replace('?', '')}-{day.replace('?', '')}"
    rf"|{day}\.{month}\.{_YEAR}|({day}/{month}|{month}/{day})/{_YEAR}"
    rf"|{day} {name}( [0-9]{{4}})?|{name} {day}(, [0-9]{{4}})?"
    for day, (month, name) in _DAYS.items()
)


def check_constraints(job: RefineJob) -> None:
    """Refuse constraints that nothing can satisfy. Raises: UnsatisfiableConstraint.

    Locked and other fixed text inside a region is not known to be so here; the worker checks
    again with it.
    """
    for region in job.regions:
        if region.constraints:
            shortest_region(region.constraints, ("", ""), ((False, False),), region.region_id)


def is_satisfied(constraint: Constraint, text: str) -> bool:
    """Return whether a region's finished text satisfies the constraint."""
    return accepts(_compiled(constraint), text)


@lru_cache(maxsize=256)
def automaton_of(constraints: tuple[Constraint, ...]) -> Automaton:
    """Return the automaton of all constraints together.

    Raises: UnsatisfiableConstraint when one of them is no usable rule.
    """
    return every(_compiled(constraint) for constraint in constraints)


def wished_for(*, is_inline: bool, needs_words: bool) -> list[Automaton]:
    """Return what a fill has to keep to as well, if the constraints leave room for it."""
    wishes: list[Automaton] = [Excludes(mark) for mark in BLANK_MARKS]
    if is_inline:
        wishes.append(Excludes("\n"))
    if needs_words:
        wishes.append(WordCount(1))
    return wishes


def shortest_region(
    constraints: tuple[Constraint, ...],
    fixed: Sequence[str],
    guards: Sequence[tuple[bool, bool]],
    region_id: str,
    *,
    wishes: Iterable[Automaton] = (),
) -> tuple[Automaton, tuple[str, ...]]:
    """Return the region's automaton and the shortest fills between its fixed texts.

    A wish that cannot be met beside the constraints is dropped. Raises:
    UnsatisfiableConstraint when the constraints cannot be met.
    """
    try:
        rule = automaton_of(constraints)
    except UnsatisfiableConstraint as error:
        raise UnsatisfiableConstraint(f"region {region_id}: {error}") from error
    try:
        fills = shortest_fills(rule, fixed, guards)
        if fills is None:
            raise UnsatisfiableConstraint(
                f"region {region_id}: no text satisfies its {len(constraints)} constraint(s) "
                "together with what is locked in it"
            )
        return _granted([rule], list(wishes), fills, lambda a: shortest_fills(a, fixed, guards))
    except TooComplex as error:
        raise UnsatisfiableConstraint(
            f"region {region_id}: its constraints are too complex together: {error}"
        ) from error


def _granted(
    kept: list[Automaton],
    wishes: list[Automaton],
    fills: tuple[str, ...],
    search: Callable[[Automaton], tuple[str, ...] | None],
) -> tuple[Automaton, tuple[str, ...]]:
    """Add all wishes at once where that can be met, else those that can, one by one."""
    if wishes and (found := search(every([*kept, *wishes]))) is not None:
        return every([*kept, *wishes]), found
    for wish in wishes:
        if (found := search(every([*kept, wish]))) is not None:
            kept, fills = [*kept, wish], found
    return every(kept), fills


@lru_cache(maxsize=256)
def _compiled(constraint: Constraint) -> Automaton:
    low, high = constraint.minimum, constraint.maximum
    if low is not None and high is not None and low > high:
        raise UnsatisfiableConstraint(f"minimum {low} is above maximum {high}")
    match constraint.kind:
        case "number":
            return Number(low, high)
        case "unit":
            return Number(low, high, _units(constraint))
        case "length":
            return WordCount(low or 0, high)
        case "regex":
            return _pattern(constraint.pattern)
        case "date":
            return _pattern(DATE)
        case _:
            return _of_values(constraint, constraint.kind)


def _of_values(
    constraint: Constraint,
    kind: Literal["choices", "must_contain", "must_not_contain", "casing"],
) -> Automaton:
    match kind:
        case "choices":
            return Choices(_values(constraint))
        case "must_contain":
            return every(Contains(value) for value in _values(constraint))
        case "must_not_contain":
            return every(Excludes(value) for value in _values(constraint))
        case "casing":
            return Casing(_casing(constraint))
        case _:
            assert_never(kind)


def _values(constraint: Constraint) -> tuple[str, ...]:
    if not constraint.values or not all(constraint.values):
        raise UnsatisfiableConstraint(f"{constraint.kind} needs values, none of them empty")
    return constraint.values


def _units(constraint: Constraint) -> tuple[str, ...]:
    units = _values(constraint)
    if any(unit[0] in ".,+- " or unit[0].isdigit() or unit[0].isspace() for unit in units):
        raise UnsatisfiableConstraint(
            "a unit begins with a digit, sign or space; allowed: mg, %, °C and the like"
        )
    return units


def _casing(constraint: Constraint) -> str:
    if len(constraint.values) != 1 or constraint.values[0] not in CASINGS:
        raise UnsatisfiableConstraint(f"casing is one of {', '.join(CASINGS)}")
    return constraint.values[0]


def _pattern(pattern: str | None) -> Automaton:
    if not pattern:
        raise UnsatisfiableConstraint("regex needs a pattern")
    try:
        return Pattern(pattern)
    except UnsupportedPattern as error:
        raise UnsatisfiableConstraint(str(error)) from error
