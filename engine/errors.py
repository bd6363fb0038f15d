"""Every error the engine raises on purpose.

    EngineError
    +-- InvalidJob            the job's text, regions or settings are unusable
    |   +-- RegionTooLong     a region does not fit one canvas
    |   +-- TooManyRegions
    |   `-- UnsatisfiableConstraint
    +-- ModelError
    |   +-- ModelMissing      weights are not in the cache and could not be fetched
    |   +-- ChecksumMismatch  a file is not the file it should be
    |   +-- DiskFull
    |   `-- UnknownModel
    +-- WorkerError
    |   +-- WorkerDied        the worker process ended while a job ran
    |   +-- WorkerUnavailable no worker can be reached
    |   `-- WorkerRefused     bad token, wrong contract version
    `-- EngineBusy            admission refused; a wait is stated

Each class carries a stable `code` and says whether the same call may succeed later
(`retryable`). Messages say what was given and what is allowed, never the user's words.
"""

from __future__ import annotations

from typing import ClassVar


class EngineError(Exception):
    """Root of the engine's errors."""

    code: ClassVar[str] = "engine_error"
    retryable: ClassVar[bool] = False


class InvalidJob(EngineError):
    code = "invalid_job"


class RegionTooLong(InvalidJob):
    code = "region_too_long"


class TooManyRegions(InvalidJob):
    code = "too_many_regions"


class UnsatisfiableConstraint(InvalidJob):
    code = "unsatisfiable_constraint"


class ModelError(EngineError):
    code = "model_error"


class ModelMissing(ModelError):
    code = "model_missing"
    retryable = True


class ChecksumMismatch(ModelError):
    code = "checksum_mismatch"


class DiskFull(ModelError):
    code = "disk_full"


class UnknownModel(ModelError):
    code = "unknown_model"


class WorkerError(EngineError):
    code = "worker_error"
    retryable = True


class WorkerDied(WorkerError):
    code = "worker_died"


class WorkerUnavailable(WorkerError):
    code = "worker_unavailable"


class WorkerRefused(WorkerError):
    code = "worker_refused"
    retryable = False


class EngineBusy(EngineError):
    code = "engine_busy"
    retryable = True
