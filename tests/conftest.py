"""Test-wide settings: property tests draw the same examples every time, without a clock."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from engine.spawn import worker_environment

# Before any test imports torch.
os.environ.update(worker_environment(os.environ))

settings.register_profile("tideline", derandomize=True, deadline=None)
settings.load_profile("tideline")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Golden files change on purpose only, in a commit of their own that says why."""
    parser.addoption("--update-golden", action="store_true", help="write golden files anew")
