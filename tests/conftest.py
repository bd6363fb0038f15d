"""Test-wide settings: property tests draw the same examples every time, without a clock."""

from __future__ import annotations

import os

from hypothesis import settings

from engine.spawn import worker_environment

# Before any test imports torch.
os.environ.update(worker_environment(os.environ))

settings.register_profile("tideline", derandomize=True, deadline=None)
settings.load_profile("tideline")
