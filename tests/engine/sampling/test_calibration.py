from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.sampling.calibration import Calibration
from tests.engine.builders import a_job, a_workshop, run_job

STEPS = Calibration(tuple(float(i + 1) for i in range(10)))


@pytest.mark.parametrize(
    ("num_masked", "num_slots", "temperature"),
    [(1, 10, 1.0), (3, 10, 3.0), (4, 10, 4.0), (10, 10, 10.0), (1, 3, 4.0), (1, 1, 10.0)],
)
def test_the_temperature_is_that_of_the_tenth_the_mask_ratio_falls_in(
    num_masked, num_slots, temperature
):
    assert STEPS.temperature(num_masked, num_slots) == temperature


@given(st.integers(0, 300), st.integers(0, 300))
def test_every_ratio_has_a_temperature(num_masked, more):
    assert STEPS.temperature(num_masked, max(1, num_masked + more)) in STEPS.temperatures


@pytest.mark.parametrize("numbers", [(1.0,) * 9, (1.0,) * 9 + (0.0,), (1.0,) * 9 + (-1.0,)])
def test_other_than_ten_positive_numbers_are_refused(numbers):
    with pytest.raises(ValueError, match="10 positive"):
        Calibration(numbers)


def test_a_higher_temperature_lowers_confidence_and_is_on_the_run_card():
    job = a_job("we [___] today", length=6, alternatives=1)
    plain = run_job(job)
    flat = replace(a_workshop(), calibration=Calibration((3.0,) * 10))

    cooled = run_job(job, flat)

    assert cooled.telemetry[0].mean_confidence < plain.telemetry[0].mean_confidence
    assert cooled.telemetry[0].mean_entropy > plain.telemetry[0].mean_entropy
    assert cooled.run_card.sampler["calibration"] == [3.0] * 10


def test_the_default_leaves_logits_bit_for_bit_alone():
    job = a_job("we [___] today", length=6)
    ones = replace(a_workshop(), calibration=Calibration((1.0,) * 10))

    assert run_job(job, ones).regions == run_job(job).regions
    assert torch.equal(torch.tensor(Calibration().temperatures), torch.ones(10))
