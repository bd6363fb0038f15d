"""Settings become the engine's in one place, and unusable ones are named."""

from __future__ import annotations

from dataclasses import fields

import pytest

from editor.document.spans import Span
from editor.errors import InvalidInput, SpanConflict
from editor.hub.constraints import read_constraints
from editor.hub.jobs import check_settings, plan_job, sampler_config
from editor.protocol.messages import RefineSettings
from engine.contract import Constraint, SamplerConfig

ASKED = (SamplerConfig(), ())


def test_defaults_are_the_engines_defaults() -> None:
    """Rule 11: one default; the wire repeats it, so the two are held together here."""
    assert sampler_config(RefineSettings()) == SamplerConfig()


def test_every_engine_setting_can_be_set() -> None:
    wire = set(RefineSettings.model_fields) - {"constraints"}

    assert wire == {field.name for field in fields(SamplerConfig)}


def test_every_setting_is_carried_over() -> None:
    given = {
        "route": "autoregressive",
        "preset": "careful",
        "mode": "revise",
        "steps": 5,
        "time_budget_s": 1.5,
        "seed": 9,
        "temperature": 0.5,
        "strength": 0.25,
        "length": 12,
        "alternatives": 2,
        "brief": "context",
        "commitment": "one_rule",
        "schedule": "another",
        "remasking": "third",
        "drawing": "fourth",
        "stop_when": "fifth",
        "top_p": 0.5,
        "early_answer": 2.5,
        "guidance": 0.25,
    }

    config = sampler_config(RefineSettings.model_validate(given))

    assert {field.name: getattr(config, field.name) for field in fields(config)} == given


def test_constraints_are_read() -> None:
    raw = [{"kind": "choices", "values": ["a", "b"]}, {"kind": "number", "minimum": 1}]

    assert read_constraints(raw) == (
        Constraint("choices", ("a", "b")),
        Constraint("number", minimum=1),
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("choices", "list of objects"),
        (5, "list of objects"),
        (["x"], "constraint 0 must be an object"),
        ([{}], "constraint 0 has an unusable kind"),
        ([{"kind": "magic"}], "constraint 0 has an unusable kind"),
        ([{"kind": "regex", "patern": "x"}], "constraint 0 must be an object of"),
        ([{"kind": "number"}, {"kind": "number", "minimum": "x"}], "constraint 1 .* minimum"),
        ([{"kind": "number"}] * 17, "17 constraints; the limit is 16"),
    ],
)
def test_unusable_constraints_are_named(raw: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_constraints(raw)


@pytest.mark.parametrize(
    "settings",
    [
        {"strength": True},
        {"strength": -0.1},
        {"strength": "1"},
        {"length": 1.5},
        {"length": True},
        {"length": 257},
        {"choices": "yes"},
        {"choices": [1]},
    ],
)
def test_unusable_region_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        check_settings(Span("r", "region", 0, 1, settings))


def test_a_locks_settings_are_its_own() -> None:
    check_settings(Span("l", "locked", 0, 1, {"strength": "n/a"}))


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        ({"kind": "regex", "pattern": "(open"}, "look at character 0"),
        ({"kind": "regex"}, "needs a pattern"),
        ({"kind": "choices", "values": []}, "needs values"),
        ({"kind": "must_contain", "values": [""]}, "none of them empty"),
        ({"kind": "number", "minimum": 2, "maximum": 1}, "minimum 2.0 is above maximum 1.0"),
        ({"kind": "number", "minimum": float("nan")}, "finite"),
        ({"kind": "number", "maximum": float("inf")}, "finite"),
        ({"kind": "length", "minimum": -1}, "not below 0"),
        ({"kind": "casing", "values": ["title"]}, "lower, upper, sentence"),
    ],
)
def test_constraint_that_says_nothing_usable_is_refused(
    constraint: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_settings(Span("a", "region", 0, 1, {"constraints": [constraint]}))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"label": 5}, "label"),
        ({"label": "x" * 201}, "label"),
        ({"lock_markup": "no"}, "lock_markup"),
        ({"required": 1}, "required"),
        ({"protected": "words"}, "protected"),
    ],
)
def test_unusable_setting_of_a_region_is_named(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_settings(Span("a", "region", 0, 1, settings))


def test_settings_of_a_region_reach_its_job() -> None:
    settings = {
        "strength": 0.5,
        "length": 7,
        "label": "Dose",
        "constraints": [{"kind": "number", "minimum": 1, "maximum": 9}],
    }
    region = Span("a", "region", 0, 4, settings)

    job = plan_job("job", "some text", [region], regions=[region], asked=ASKED)

    (spec,) = job.regions
    assert (spec.strength, spec.length) == (0.5, 7)
    assert spec.constraints == (Constraint("number", minimum=1, maximum=9),)


def test_B5_markup_inside_a_region_is_locked_for_the_run() -> None:
    text = "# See [it](url) now"
    region = Span("a", "region", 0, len(text))

    job = plan_job("job", text, [region], regions=[region], asked=ASKED)

    assert [text[lock.start : lock.end] for lock in job.locks] == ["# ", "[", "](url)"]


def test_B5_region_of_nothing_but_markup_is_refused_with_the_way_out() -> None:
    region = Span("a", "region", 0, 6)

    with pytest.raises(SpanConflict, match="lock_markup to false"):
        plan_job("job", "`code` and", [region], regions=[region], asked=ASKED)
