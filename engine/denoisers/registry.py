"""Which denoiser a worker runs, by name."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.denoisers.base import Denoiser
from engine.settings import EngineSettings

__all__ = ["Progress", "open_denoiser"]

Progress = Callable[[str, int, int], None]  # what is done, bytes so far, bytes in all


def open_denoiser(settings: EngineSettings, progress: Progress | None = None) -> Denoiser:
    """Return the denoiser that `settings.denoiser` names, loaded.

    Raises: UnknownModel, ModelMissing, ChecksumMismatch, DiskFull.
    """
    if settings.denoiser == "scripted":
        from engine.denoisers.scripted import ScriptedDenoiser

        pass_s = settings.scripted_pass_ms / 1000
        return ScriptedDenoiser(pause=(lambda: time.sleep(pass_s)) if pass_s else None)
    # Here, so that a scripted worker does not load what only the neural one needs.
    from engine.denoisers.loading import load_denoiser

    return load_denoiser(settings, progress)
