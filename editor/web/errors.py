"""One error shape for every answer that is not a success: {"code", "message", "retryable"}.

The message says what was given and what is allowed. Input values are never repeated: a log or
a proxy might keep them.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from editor.errors import EditorError, InvalidInput, InvalidText
from engine.errors import EngineError

__all__ = ["ErrorBody", "error_response", "from_validation", "install_error_shape"]

_CODES = {
    400: "bad_request",
    401: "access_denied",
    403: "foreign_origin",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_format",
    422: "invalid_input",
    503: "unavailable",
}


class ErrorBody(BaseModel):
    """Why a call was not carried out; nothing was changed."""

    code: str = Field(description="Stable name of the reason.", examples=["stale_version"])
    message: str = Field(description="What was given and what is allowed.")
    retryable: bool = Field(description="Whether the same call may succeed later.")


def error_response(error: Exception) -> JSONResponse:
    """Return the answer for an error of ours, of validation or of the framework."""
    if isinstance(error, RequestValidationError | ValidationError):
        error = from_validation(error)
    if isinstance(error, EditorError):
        return _response(error.status, error.code, str(error), retryable=error.retryable)
    if isinstance(error, EngineError):
        status = 503 if error.retryable else 422
        return _response(status, error.code, str(error), retryable=error.retryable)
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "request_refused")
    response = _response(error.status_code, code, _http_message(error), retryable=False)
    response.headers.update(error.headers or {})
    return response


def from_validation(error: RequestValidationError | ValidationError) -> InvalidInput:
    """Name the first fields that do not fit, without their values."""
    faults = error.errors()
    kinds = {str(fault["type"]) for fault in faults}
    reasons = "; ".join(_fault(fault) for fault in faults[:3])
    more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
    if "string_unicode" in kinds or "surrogate" in reasons:
        return InvalidText("text holds an unpaired surrogate; only well-formed Unicode is allowed")
    return InvalidInput(f"{reasons}{more}")


def install_error_shape(app: FastAPI) -> None:
    """Answer every refused request of `app` in the one shape."""

    async def answer(_request: Request, error: Exception) -> JSONResponse:
        return error_response(error)

    for kind in (EditorError, EngineError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, answer)


def _fault(fault: Any) -> str:
    place = ".".join(str(part) for part in fault["loc"] if part not in ("body", "query", "path"))
    if fault["type"] == "model_attributes_type" and not place:
        return "the body must be a JSON object, sent with Content-Type: application/json"
    reason, detail = str(fault["msg"]), str((fault.get("ctx") or {}).get("error", ""))
    if fault["type"] == "json_invalid" and detail not in reason:
        reason = f"{reason}: {detail}"
    return f"{place}: {reason}" if place else reason


def _http_message(error: HTTPException) -> str:
    if error.status_code == 404:
        return "there is nothing at this address"
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        return f"this address does not take that method; allowed: {allowed}"
    return str(error.detail or HTTPStatus(error.status_code).phrase)


def _response(status: int, code: str, message: str, *, retryable: bool) -> JSONResponse:
    body = ErrorBody(code=code, message=message, retryable=retryable)
    return JSONResponse(body.model_dump(), status_code=status)
