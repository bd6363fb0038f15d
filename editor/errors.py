"""Every error the application raises on purpose.

    EditorError
    +-- InvalidInput            the request's shape or values are unusable (HTTP 422)
    |   +-- InvalidText         unpaired surrogates, NUL, or too long
    |   +-- InvalidOffset       outside the text, or splits a grapheme
    |   +-- InvalidChange       a change set does not fit the text it was made for
    |   `-- UnsupportedFormat
    +-- Conflict                the state has moved on (HTTP 409)
    |   +-- StaleVersion        made for a version that is no longer the head
    |   +-- SpanConflict        lock and region overlap, or two regions do
    |   +-- RegionBusy          a run already works on the region
    |   +-- AlreadyDecided      the suggestion was accepted or rejected before
    |   `-- Unfinished          a final file was asked for, but places are not filled
    +-- LockViolation           an edit would touch locked text or its guarded edge (HTTP 409)
    +-- NotFound                no such document, span, run, suggestion or revision (HTTP 404)
    +-- AccessDenied            no or wrong access token, or foreign origin (HTTP 401/403)
    +-- TooLarge                above a stated limit (HTTP 413)
    `-- Unavailable             the worker or the store cannot serve now (HTTP 503)
        +-- StoreBusy           another instance holds the database
        `-- DiskFull

Each class has a stable `code`, an HTTP `status` and says whether the same call may succeed
later. Messages say what was given and what is allowed, never the user's words.
"""

from __future__ import annotations

from typing import ClassVar


class EditorError(Exception):
    """Root of the application's errors."""

    code: ClassVar[str] = "editor_error"
    status: ClassVar[int] = 400
    retryable: ClassVar[bool] = False


class InvalidInput(EditorError):
    code = "invalid_input"
    status = 422


class InvalidText(InvalidInput):
    code = "invalid_text"


class InvalidOffset(InvalidInput):
    code = "invalid_offset"


class InvalidChange(InvalidInput):
    code = "invalid_change"


class UnsupportedFormat(InvalidInput):
    code = "unsupported_format"


class Conflict(EditorError):
    code = "conflict"
    status = 409


class StaleVersion(Conflict):
    """Carries both versions, so that the caller can be sent what it has not seen."""

    code = "stale_version"
    retryable = True

    def __init__(self, message: str, *, base_version: int, head_version: int) -> None:
        super().__init__(message)
        self.base_version = base_version
        self.head_version = head_version


class SpanConflict(Conflict):
    code = "span_conflict"


class RegionBusy(Conflict):
    code = "region_busy"
    retryable = True


class AlreadyDecided(Conflict):
    code = "already_decided"


class Unfinished(Conflict):
    code = "unfinished"


class LockViolation(EditorError):
    code = "lock_violation"
    status = 409


class NotFound(EditorError):
    code = "not_found"
    status = 404


class AccessDenied(EditorError):
    code = "access_denied"
    status = 401


class ForeignOrigin(AccessDenied):
    code = "foreign_origin"
    status = 403


class TooLarge(EditorError):
    code = "too_large"
    status = 413


class Unavailable(EditorError):
    code = "unavailable"
    status = 503
    retryable = True


class StoreBusy(Unavailable):
    code = "store_busy"


class DiskFull(Unavailable):
    code = "disk_full"
