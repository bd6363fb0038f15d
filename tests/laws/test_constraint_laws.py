"""Law: constraints hold whatever the model says, or the job is refused.

`holds` says what a rule means in words of its own: it shares no code with the automata.
"""

import re
from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.constraints.rules import is_satisfied
from engine.contract import Constraint, JobFinished, LockSpec, RefineJob, RegionSpec, SamplerConfig
from engine.denoisers.scripted import Answer, ScriptedCodec, ScriptedDenoiser, Slot
from engine.errors import RegionTooLong, UnsatisfiableConstraint
from engine.sampling.job import JobRun, Workshop
from engine.sampling.policies import COMMITMENTS, PRESETS, REMASKINGS
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
BOUNDS = st.tuples(st.integers(-20, 300), st.integers(0, 90)).map(lambda b: (b[0], b[0] + b[1]))
NUMBERS = st.builds(
    lambda kind, bounds: Constraint(
        kind, ("mg", "ml") if kind == "unit" else (), minimum=bounds[0], maximum=bounds[1]
    ),
    st.sampled_from(["number", "unit"]),
    BOUNDS,
)
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


ANY_RULE = st.one_of(CHOICES, REGEXES, CHOICES, REGEXES, NUMBERS, OTHERS)


def holds(rule: Constraint, text: str) -> bool:
    """Whether a text keeps to a rule."""
    match rule.kind:
        case "choices":
            return text in rule.values
        case "regex":
            return re.fullmatch(rule.pattern, text) is not None
        case "number" | "unit":
            return is_number_within(rule, text)
        case "date":
            return is_date(text)
        case "must_contain":
            return all(value in text for value in rule.values)
        case "must_not_contain":
            return not any(value.lower() in text.lower() for value in rule.values)
        case "length":
            return rule.minimum <= len(text.split()) <= rule.maximum
        case "casing":
            wanted = {"upper": text.upper(), "lower": text.lower()}
            return text == wanted.get(rule.values[0], text[:1].upper() + text[1:])


def is_number_within(rule: Constraint, text: str) -> bool:
    if rule.kind == "unit":
        unit = next((unit for unit in rule.values if text.endswith(unit)), None)
        if unit is None:
            return False
        text = text[: len(text) - len(unit)].removesuffix(" ")
    if not re.fullmatch(r"[+-]?(0|[1-9][0-9]*)([.,][0-9]+)?", text, re.ASCII):
        return False
    value = Decimal(text.replace(",", "."))
    low, high = (None if b is None else Decimal(str(b)) for b in (rule.minimum, rule.maximum))
    return (low is None or value >= low) and (high is None or value <= high)


def is_date(text: str) -> bool:
    """Whether the text is a day of a leap year: a form cannot know which years have 366 days."""
    leap = re.sub(r"^\d{4}(?=-)|(?<=[./ ])\d{4}$", "2024", text)
    leap = re.sub(r"(?<=[./])\d\d$", "24", leap)
    formats = ["%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y"]
    formats += ["%d/%m/%Y", "%d/%m/%y", "%m/%d/%Y", "%m/%d/%y"]
    formats += ["%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y"]
    return any(
        is_in_format(f"{leap}{year}", f) for year in ("", " 2024", ", 2024") for f in formats
    )


def is_in_format(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True


CONFIGS = st.builds(
    SamplerConfig,
    preset=st.sampled_from(list(PRESETS)),
    route=st.sampled_from(["auto", "auto", "autoregressive"]),
    strength=st.sampled_from([1.0, 0.4]),
    steps=st.sampled_from([None, 3, 6]),
    temperature=st.sampled_from([None, 1.0]),
    alternatives=st.sampled_from([1, 3]),
    commitment=st.sampled_from([None, None, *COMMITMENTS]),
    remasking=st.sampled_from([None, None, *REMASKINGS]),
)


@st.composite
def constrained_jobs(draw: st.DrawFn) -> RefineJob:
    """A blank, or existing text with or without a lock in it, under one or two rules."""
    rules = draw(st.lists(ANY_RULE, min_size=1, max_size=2))
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
    return RefineJob("job", before + inside + after, (region,), locks, draw(CONFIGS))


@st.composite
def joint_jobs(draw: st.DrawFn) -> RefineJob:
    """Two or three blanks of one window, each under rules of its own or none."""
    text, regions = "", list[RegionSpec]()
    for index in range(draw(st.integers(2, 3))):
        text += draw(st.sampled_from(["we saw ", " and then ", ", of ", "\nlast: "]))
        rules = draw(st.lists(ANY_RULE, max_size=2))
        at = len(text)
        regions.append(RegionSpec(f"r{index}", at, at + 5, True, constraints=tuple(rules)))
        text += "[___]"
    text += draw(st.sampled_from(["", ".", " today"]))
    return RefineJob("job", text, tuple(regions), config=draw(CONFIGS))


def babbling(noise: int) -> Workshop:
    def babble(slot: Slot) -> Answer:
        seed = hash((noise, slot.call, slot.index, slot.num_slots)) % CODEC.vocab_size
        return Answer(CODEC.decode([seed]) or " and", 0.05 + (seed % 19) / 20)

    return a_workshop(ScriptedDenoiser(babble))


def check_held(job: RefineJob, noise: int) -> None:
    try:
        run = JobRun(babbling(noise), job)
    except (UnsatisfiableConstraint, RegionTooLong):
        return  # refused before the first pass
    finished = [*run.events()][-1]

    assert isinstance(finished, JobFinished)
    for region, result in zip(job.regions, finished.regions, strict=True):
        assert result.alternatives
        for one in result.alternatives:
            broken = [rule for rule in region.constraints if not holds(rule, one.text)]
            assert not broken
    assert not finished.run_card.fact_checked
    assert not finished.run_card.notes


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(constrained_jobs(), st.integers(0, 2**32))
def test_constraints_hold_for_any_model_or_the_job_is_refused(job, noise):
    check_held(job, noise)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(joint_jobs(), st.integers(0, 2**32))
def test_regions_filled_jointly_keep_each_its_own_rules(job, noise):
    check_held(job, noise)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(constrained_jobs(), joint_jobs()), st.integers(0, 2**32))
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


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (Constraint("date"), ["29 February", "2024-04-30", "31/12/99"], ["31 June", "30.02.2024"]),
        (Constraint("number", minimum=1, maximum=2), ["1", "1,5", "2.0"], ["0.99", "02", "2.01"]),
        (Constraint("unit", ("mg",), minimum=1), ["1 mg", "20mg"], ["mg", "0 mg", "1  mg"]),
        (Constraint("casing", ("sentence",)), ["The", "5 mg"], ["the"]),
    ],
)
def test_the_oracle_and_the_engine_mean_the_same(rule, good, bad):
    for text in (*good, *bad):
        assert holds(rule, text) == is_satisfied(rule, text) == (text in good)
