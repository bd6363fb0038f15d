"""Headless filling against a real worker process, with the scripted denoiser."""

import json

import pytest

from editor.errors import InvalidInput
from editor.headless import FillRequest, run_fill
from engine.errors import RegionTooLong
from engine.settings import EngineSettings

SETTINGS = EngineSettings(denoiser="scripted", threads=1)
TEXT = "Dear {{name}},\r\nwe [___] today. See *** too.\n"


def rebuilt(report: dict, text: str) -> str:
    pieces, position = [], 0
    for region in report["regions"]:
        pieces += [text[position : region["from"]], region["text"]]
        position = region["to"]
    return "".join([*pieces, text[position:]])


def test_every_blank_is_filled_and_the_rest_is_the_input():
    report = run_fill(FillRequest.from_options(TEXT), SETTINGS)

    assert [r["original"] for r in report["regions"]] == ["{{name}}", "[___]", "***"]
    assert report["text"] == rebuilt(report, TEXT)
    assert all(r["text"] == r["alternatives"][0]["text"] for r in report["regions"])


def test_the_report_has_exactly_the_agreed_shape_and_is_json():
    report = run_fill(
        FillRequest.from_options("we [___] today", compare="autoregressive"), SETTINGS
    )

    keys = {"text", "regions", "passes", "tokens_per_pass", "stop_reason", "timings", "run_card"}
    assert set(report) == keys | {"comparison"}
    assert set(report["comparison"]["autoregressive"]) == keys
    assert set(report["timings"]) == {"load_ms", "encode_ms", "first_stable_ms", "complete_ms"}
    assert set(report["regions"][0]) == {
        "from",
        "to",
        "original",
        "text",
        "alternatives",
        "confidence",
    }
    assert report["comparison"]["autoregressive"]["run_card"]["route"] == "autoregressive"
    json.dumps(report)


def test_regions_and_locks_are_given_in_code_points():
    text = "\U0001f600 we will wait here today"
    request = FillRequest.from_options(text, regions=["5:19"], locks=["10:14"])

    report = run_fill(request, SETTINGS)

    (region,) = report["regions"]
    assert region["original"] == "will wait here"
    assert "wait" in region["text"]
    assert report["text"].startswith("\U0001f600 we ")
    assert report["text"].endswith(" today")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "slow"}, "fast, balanced, careful"),
        ({"route": "guess"}, "auto, diffusion, autoregressive"),
        ({"compare": "luck"}, "autoregressive"),
        ({"regions": ["5-9"]}, "A:B"),
    ],
)
def test_options_that_are_not_allowed_name_what_is(options, message):
    with pytest.raises(InvalidInput, match=message):
        FillRequest.from_options("we [___] today", **options)


def test_a_text_without_blanks_is_refused_before_a_worker_starts():
    with pytest.raises(InvalidInput, match="no blank"):
        run_fill(FillRequest("we wait today"), SETTINGS)


@pytest.mark.parametrize(
    "options", [{"regions": ["3:99"]}, {"regions": ["5:5"]}, {"locks": ["9:90"]}]
)
def test_a_range_outside_the_text_is_refused_before_a_worker_starts(options):
    with pytest.raises(InvalidInput, match="14 code points"):
        FillRequest.from_options("we [___] today", **options).job()


def test_what_the_engine_refuses_is_raised_as_its_own_error():
    with pytest.raises(RegionTooLong):
        run_fill(FillRequest.from_options("we [___] today", length=999), SETTINGS)
