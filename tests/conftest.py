"""Test-wide settings: property tests draw the same examples every time, without a clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("tideline", derandomize=True, deadline=None)
settings.load_profile("tideline")
