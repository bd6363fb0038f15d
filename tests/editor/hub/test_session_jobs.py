"""Settings become the engine's in one place, and unusable ones are named."""

from __future__ import annotations

from dataclasses import fields

import pytest

from editor.document.spans import Span
from editor.errors import InvalidInput
from editor.hub.jobs import check_settings, read_constraints, sampler_config
from editor.protocol.messages import RefineSettings
from engine.contract import Constraint, SamplerConfig


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
