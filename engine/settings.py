"""Settings of the engine, read once by `app.py` or the worker's entry.

Every field is an environment variable `TIDELINE_<NAME>` and is listed in the README.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


def _default_cache_dir() -> Path:
    return Path.home() / ".cache" / "tideline"


class EngineSettings(BaseSettings):
    """Where the model is, what it runs on, and how many jobs may wait."""

    model_config = SettingsConfigDict(env_prefix="TIDELINE_", extra="ignore")

    cache_dir: Path = Field(
        default_factory=_default_cache_dir, description="Model files, fetched and dequantised."
    )
    model: str = Field(default="smollm2-135m", description="Which base model to load.")
    adapter: Path | None = Field(
        default=None, description="Infill adapter; default: the one in the repository."
    )
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="Where to compute.")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        default="auto", description="Number format of the weights."
    )
    threads: int | None = Field(
        default=None, ge=1, description="CPU threads; default: the cores this process may use."
    )
    context_tokens: int | None = Field(
        default=None, ge=16, description="Context per side; default: 256 on CPU, 2,048 on CUDA."
    )
    max_waiting_jobs: int = Field(default=64, ge=1, description="Jobs that may queue.")
    worker_url: str | None = Field(
        default=None, description="A worker already running, ws://host:port; default: start one."
    )
    worker_token: str | None = Field(
        default=None, description="Bearer token of that worker; a started one gets a random one."
    )
    denoiser: Literal["neural", "scripted"] = Field(
        default="neural", description="`scripted` needs no weights; for tests and demonstrations."
    )
    scripted_pass_ms: int = Field(
        default=0, ge=0, description="How long a pass of the scripted denoiser lasts."
    )
