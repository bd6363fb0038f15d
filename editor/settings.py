"""Settings of the application, read once by `app.py`.

Every field is an environment variable `TIDELINE_<NAME>` and is listed in the README.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

ESCAPED_BYTES = 12  # of a character above U+FFFF in JSON: two \\uXXXX
SPANS_BYTES = 4 * 1024 * 1024  # settings of spans, names of fields, a whole change set's numbers


def _default_data_dir() -> Path:
    return Path.home() / ".local" / "share" / "tideline"


class EditorSettings(BaseSettings):
    """Where to listen, where to keep documents, and what to refuse."""

    model_config = SettingsConfigDict(env_prefix="TIDELINE_", extra="ignore")

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=7860, ge=0, le=65535, description="Port; 0 picks a free one.")
    data_dir: Path = Field(
        default_factory=_default_data_dir, description="Database and access token."
    )
    database_url: str | None = Field(
        default=None, description="SQLAlchemy URL; default: SQLite in the data directory."
    )
    access_token: str | None = Field(
        default=None, description="Access token; default: made once and kept in the data directory."
    )
    allowed_origins: list[str] = Field(
        default_factory=list, description="Further web origins that may connect, as JSON list."
    )
    max_document_code_points: int = Field(
        default=1_000_000, ge=1, description="Longest document, in code points."
    )
    max_frame_bytes: int | None = Field(
        default=None,
        ge=1024,
        description="Largest websocket frame and request body; default: room for the longest "
        "document, escaped.",
    )
    log_format: Literal["console", "json"] = Field(
        default="console", description="How log lines are written."
    )

    @property
    def frame_limit_bytes(self) -> int:
        """What `max_frame_bytes` says, or what the longest document needs with its spans."""
        if self.max_frame_bytes is not None:
            return self.max_frame_bytes
        return self.max_document_code_points * ESCAPED_BYTES + SPANS_BYTES
