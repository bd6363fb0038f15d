from __future__ import annotations

import pytest

from engine.errors import ModelError
from engine.sampling.calibration import Calibration
from engine.worker.calibration_file import calibration_path, read_calibration, save_calibration

TEMPERATURES = tuple(0.8 + 0.05 * step for step in range(10))


def test_what_was_fitted_for_an_adapter_is_read_back(tmp_path):
    adapter = tmp_path / "a.safetensors"
    save_calibration(calibration_path(adapter), Calibration(TEMPERATURES), "f" * 64)

    assert read_calibration(adapter, "f" * 64).temperatures == pytest.approx(TEMPERATURES)
    assert read_calibration(adapter, "0" * 64).is_identity
    assert read_calibration(tmp_path / "b.safetensors", "f" * 64).is_identity


@pytest.mark.parametrize(
    "content", ["", "[]", '{"adapter_sha256": "f", "temperatures": [1, 2]}', '{"temperatures": 1}']
)
def test_a_file_that_is_no_calibration_is_named(tmp_path, content):
    adapter = tmp_path / "a.safetensors"
    calibration_path(adapter).write_text(content)

    with pytest.raises(ModelError, match=r"a\.calibration\.json"):
        read_calibration(adapter, "f" * 64)
