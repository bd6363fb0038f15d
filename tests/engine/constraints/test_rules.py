from dataclasses import replace

import pytest

from engine.constraints.rules import (
    check_constraints,
    is_satisfied,
    shortest_region,
    wished_for,
)
from engine.contract import Constraint
from engine.errors import UnsatisfiableConstraint
from tests.engine.builders import a_job


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        (Constraint("unit", ("mg",), minimum=5), "7.5 mg", "4 mg"),
        (Constraint("date"), "29 February 2024", "32 February"),
        (Constraint("date"), "12/31/24", "13/32/24"),
        (Constraint("choices", ("left", "right")), "left", "middle"),
        (Constraint("regex", pattern=r"[a-z]+"), "abc", "abc1"),
        (Constraint("number", minimum=1, maximum=5), "4.5", "6"),
        (Constraint("number"), "-3", "three"),
        (Constraint("date"), "2024-03-01", "soon"),
        (Constraint("must_contain", ("left",)), "the left knee", "the knee"),
        (Constraint("must_not_contain", ("left",)), "the knee", "Left knee"),
        (Constraint("length", minimum=2, maximum=3), "two words", "one"),
        (Constraint("casing", ("upper",)), "ABC", "Abc"),
        (Constraint("casing", ("sentence",)), "The knee", "the knee"),
    ],
)
def test_constraints_accept_what_fits_and_nothing_else(constraint, good, bad):
    assert is_satisfied(constraint, good)
    assert not is_satisfied(constraint, bad)


@pytest.mark.parametrize(
    "constraint",
    [
        Constraint("choices"),
        Constraint("regex", pattern="("),
        Constraint("regex"),
        Constraint("number", minimum=2, maximum=1),
        Constraint("casing", ("title",)),
        Constraint("must_contain", ("",)),
        Constraint("unit", ("5mg",)),
        Constraint("regex", pattern=r"(?=a)b"),
        Constraint("regex", pattern="[^\\s\\S]"),
    ],
)
def test_impossible_constraints_are_refused_before_the_first_pass(constraint):
    job = a_job("a [___] b")
    region = type(job.regions[0])("r0", 2, 7, is_blank=True, constraints=(constraint,))

    with pytest.raises(UnsatisfiableConstraint):
        check_constraints(type(job)("j", job.text, (region,)))


def test_rules_that_exclude_each_other_are_refused_with_the_region_named():
    rules = (Constraint("choices", ("left", "right")), Constraint("must_not_contain", ("t",)))
    job = a_job("a [___] b")
    job = replace(job, regions=(replace(job.regions[0], constraints=rules),))

    with pytest.raises(UnsatisfiableConstraint, match="region r0"):
        check_constraints(job)


def test_a_wish_gives_way_to_a_rule_and_to_it_alone():
    rules = (Constraint("regex", pattern="_+"),)
    wishes = wished_for(is_inline=True, needs_words=True)

    _, (fill,) = shortest_region(rules, ("", ""), ((False, False),), "r", wishes=wishes)

    assert fill == "_", "one is no blank mark, and blanks are not left empty"
    with_break = (Constraint("must_contain", ("\n",)),)
    assert shortest_region(with_break, ("", ""), ((False, False),), "r", wishes=wishes)


def test_a_refusal_does_not_quote_what_the_user_wrote():
    rule = Constraint("regex", pattern="(canary")
    job = a_job("a [___] b")

    with pytest.raises(UnsatisfiableConstraint) as refused:
        check_constraints(replace(job, regions=(replace(job.regions[0], constraints=(rule,)),)))

    assert "canary" not in str(refused.value)
