"""Law: constraints hold whatever the model says, or the job is refused."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.constraints.rules import is_satisfied
from engine.contract import Constraint, JobFinished, LockSpec, RefineJob, RegionSpec, SamplerConfig
from engine.denoisers.scripted import Answer, ScriptedCodec, ScriptedDenoiser, Slot
from engine.errors import RegionTooLong, UnsatisfiableConstraint
from engine.sampling.job import JobRun, Workshop
from tests.engine.builders import a_workshop

CODEC = ScriptedCodec()
WORDS = st.sampled_from(["plan", "the plan", "mild", "none known", "é", "5 mg", "a", "B-2", "week"])
PIECES = [
    "[a-z]+",
    r"\d{1,3}",
    " ",
    "plan",
    "(?:mild|severe)",
    "[A-Z]",
    "-",
    "é",
    r"\w",
    ".*",
    "mg",
]
PATTERNS = st.recursive(
    st.sampled_from(PIECES),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}"])),
    ),
    max_leaves=5,
)
CHOICES = st.builds(
    lambda v: Constraint("choices", tuple(v)), st.lists(WORDS, min_size=1, max_size=4)
)
REGEXES = st.builds(lambda p: Constraint("regex", pattern=p), PATTERNS)
OTHERS = st.sampled_from(
    [
        Constraint("number", minimum=3, maximum=250),
        Constraint("number", minimum=-1.5, maximum=0.25),
        Constraint("unit", ("mg", "ml"), minimum=1),
        Constraint("date"),
        Constraint("must_contain", ("plan",)),
        Constraint("must_not_contain", ("the", "5")),
        Constraint("length", minimum=2, maximum=3),
        Constraint("casing", ("upper",)),
        Constraint("casing", ("sentence",)),
    ]
)


@st.composite
def constrained_jobs(draw: st.DrawFn) -> RefineJob:
    """A blank, or existing text with or without a lock in it, under one or two rules."""
    rules = draw(
        st.lists(st.one_of(CHOICES, REGEXES, CHOICES, REGEXES, OTHERS), min_size=1, max_size=2)
    )
    before, after = (
        draw(st.sampled_from(["we ", "x", "", "so: "])),
        draw(st.sampled_from([" now.", "", "mg daily", "\nnext"])),
    )
    inside, is_blank = draw(
        st.sampled_from([("[___]", True), ("old plan", False), ("the plan at B-2", False)])
    )
    start = len(before)
    region = RegionSpec("r", start, start + len(inside), is_blank, constraints=tuple(rules))
    locks = ()
    if not is_blank and draw(st.booleans()):
        at = start + inside.index("plan")
        locks = (LockSpec(at, at + 4),)
    config = SamplerConfig(
        preset=draw(st.sampled_from(["fast", "careful"])),
        route=draw(st.sampled_from(["auto", "autoregressive"])),
        strength=draw(st.sampled_from([1.0, 0.4])),
        steps=draw(st.sampled_from([1, 3, 6])),
        temperature=draw(st.sampled_from([None, 1.0])),
        alternatives=draw(st.sampled_from([1, 3])),
    )
    return RefineJob("job", before + inside + after, (region,), locks, config)


def babbling(noise: int) -> Workshop:
    def babble(slot: Slot) -> Answer:
        seed = hash((noise, slot.call, slot.index, slot.num_slots)) % CODEC.vocab_size
        return Answer(CODEC.decode([seed]) or " and", 0.05 + (seed % 19) / 20)

    return a_workshop(ScriptedDenoiser(babble))


def check_held(job: RefineJob, noise: int) -> None:
    try:
        run = JobRun(babbling(noise), job)
    except (UnsatisfiableConstraint, RegionTooLong):
        return
    finished = [*run.events()][-1]

    assert isinstance(finished, JobFinished)
    assert finished.regions[0].alternatives
    for alternative in finished.regions[0].alternatives:
        for rule in job.regions[0].constraints:
            assert is_satisfied(rule, alternative.text)
            if rule.kind == "regex":
                assert re.fullmatch(rule.pattern, alternative.text)
    assert not finished.run_card.fact_checked


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(constrained_jobs(), st.integers(0, 2**32))
def test_constraints_hold_for_any_model_or_the_job_is_refused(job, noise):
    check_held(job, noise)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(constrained_jobs(), st.integers(0, 2**32))
def test_constraints_hold_in_a_thousand_cases(job, noise):
    check_held(job, noise)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHOICES, st.integers(0, 2**32))
def test_one_rule_by_itself_is_never_refused(rule, noise):
    region = RegionSpec("r", 3, 8, is_blank=True, constraints=(rule,))
    job = RefineJob("job", "we [___] now", (region,), config=SamplerConfig(steps=2))

    finished = [*JobRun(babbling(noise), job).events()][-1]

    assert isinstance(finished, JobFinished)
    assert finished.regions[0].alternatives[0].text in rule.values
