import pytest

from engine.denoisers.registry import open_denoiser
from engine.denoisers.scripted import Answer, ScriptedDenoiser, Slot
from engine.settings import EngineSettings
from tests.engine.builders import a_job, a_workshop, run_job
from tests.engine.denoisers.contract import EXACT, check_denoiser


def test_the_scripted_denoiser_keeps_the_contract():
    check_denoiser(ScriptedDenoiser(), EXACT)


@pytest.mark.model
def test_the_neural_denoiser_keeps_the_contract():
    # bfloat16 keeps 8 bits: probabilities move by less than two hundredths with batch shape.
    check_denoiser(open_denoiser(EngineSettings()), tolerance=0.02)


def test_a_script_sees_the_region_as_it_stands():
    seen: list[Slot] = []

    def script(slot: Slot) -> Answer:
        seen.append(slot)
        return Answer(" plan", 0.3)

    run_job(a_job("we [___] today and [___] again", length=1), a_workshop(ScriptedDenoiser(script)))

    assert {slot.region for slot in seen} == {0, 1}
    assert {slot.num_slots for slot in seen} == {1}
    assert all(slot.visible == (None,) for slot in seen)


def test_the_registry_opens_the_scripted_denoiser_with_its_pause():
    settings = EngineSettings(denoiser="scripted", scripted_pass_ms=1)

    assert open_denoiser(settings).name == "scripted"
