from dataclasses import replace

import torch

from engine.contract import StopReason
from engine.telemetry.card import replay, runtime_versions, text_digest
from engine.telemetry.trace import canvas_hash
from tests.engine.builders import a_job, run_job


def test_a_card_holds_every_threshold_and_the_hashes():
    job = a_job("we [___] today", seed=7)

    card = run_job(job).run_card

    assert card.seed == 7
    assert card.text_sha256 == text_digest(job.text)
    assert card.sampler["rules"]["LeftToRight"]["gamma"] > 0
    assert card.canvas["lengths_tried"]
    assert not card.fact_checked


def test_the_result_hash_is_that_of_the_spliced_text():
    job = a_job("we [___] today")

    finished = run_job(job)

    text = f"we {finished.regions[0].alternatives[0].text} today"
    assert finished.run_card.result_sha256 == text_digest(text)


def test_a_replay_gives_the_same_text():
    job = a_job("we [___] today", temperature=1.0)

    assert replay(run_job(job).run_card, job, run_job)


def test_a_run_that_the_clock_ended_replays_to_the_same_text():
    job = a_job("we [___] today", length=16, time_budget_s=0.02)
    finished = run_job(job)

    assert finished.stop_reason is StopReason.TIME_BUDGET
    assert replay(finished.run_card, job, run_job)


def test_another_text_or_another_result_is_no_match():
    job = a_job("we [___] today")
    card = run_job(job).run_card

    assert not replay(card, replace(job, text="we [___] tonite"), run_job)
    assert not replay(replace(card, result_sha256="0" * 64), job, run_job)


def test_versions_name_the_runtime():
    assert {"python", "torch"} <= set(runtime_versions())


def test_a_canvas_hash_depends_on_canvas_and_key():
    tokens, state = torch.arange(4), torch.zeros(4, dtype=torch.uint8)

    one = canvas_hash(tokens, state, b"key")

    assert one == canvas_hash(tokens.clone(), state, b"key")
    assert one != canvas_hash(tokens, state, b"other")
    assert one != canvas_hash(tokens + 1, state, b"key")
