import pytest

from engine.contract import SamplerConfig
from engine.errors import InvalidJob
from engine.router import choose_route


@pytest.mark.parametrize(
    ("asked", "taken"),
    [("auto", "diffusion"), ("diffusion", "diffusion"), ("autoregressive", "autoregressive")],
)
def test_a_route_is_taken_as_asked_and_diffusion_by_default(asked, taken):
    assert choose_route(SamplerConfig(route=asked), has_causal=True).route == taken


def test_a_model_without_causal_mode_refuses_the_autoregressive_route():
    with pytest.raises(InvalidJob, match="allowed: auto, diffusion"):
        choose_route(SamplerConfig(route="autoregressive"), has_causal=False)
