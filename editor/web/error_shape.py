"""Gives every refusal the one shape, also those of the shell and of mounted files.

A browser that asks for a page gets a page. What others wrote about the error is dropped: it may
hold what the caller sent. Answers below 400 pass through as they come.
"""

from __future__ import annotations

import json
from html import escape

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from editor.web.errors import ErrorBody, error_response

__all__ = ["ErrorShape"]

# Its 503 is the answer that was asked for.
_NO_REFUSAL = frozenset({"/readyz"})
_MESSAGES = {
    400: "the request cannot be read",
    413: "the request is too large",
    422: "the request does not have the form that this address takes",
}
_FAULT = "the server met an unexpected fault; nothing was changed"
_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Tideline: {status}</title></head>
<body><h1>{status}</h1><p>{message}</p><p><a href="/">Back to Tideline</a></p></body>
</html>
"""


class ErrorShape:
    """ASGI middleware; put it outside of everything that may answer in a shape of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _NO_REFUSAL:
            await self._app(scope, receive, send)
            return
        sender = _Sender(send)
        await self._app(scope, receive, sender)
        if sender.start is not None:
            answer = _reshaped(scope, sender.start, bytes(sender.body))
            await answer(scope, receive, send)


class _Sender:
    """Passes an answer on, but keeps a refusal to itself: `start` and `body` hold it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.start: Message | None = None
        self.body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 400:
            self.start = message
        elif self.start is None:
            await self._send(message)
        else:
            self.body += message.get("body", b"")


def _reshaped(scope: Scope, start: Message, body: bytes) -> Response:
    status, headers = start["status"], Headers(raw=start["headers"])
    kind = headers.get("content-type", "")
    if kind.startswith("text/html") or _has_shape(body):
        response = Response(body, status_code=status)
        response.raw_headers = [(name, value) for name, value in start["headers"]]
        return response
    answer = _answer(status, headers)
    if "text/html" in Headers(scope=scope).get("accept", ""):
        message = json.loads(bytes(answer.body))["message"]
        page = _PAGE.format(status=status, message=escape(message))
        return HTMLResponse(page, status_code=status)
    return answer


def _has_shape(body: bytes) -> bool:
    try:
        given = json.loads(body)
    except ValueError:
        return False
    return isinstance(given, dict) and set(given) == set(ErrorBody.model_fields)


def _answer(status: int, headers: Headers) -> JSONResponse:
    if status >= 500:
        fault = ErrorBody(code="internal_error", message=_FAULT, retryable=True)
        return JSONResponse(fault.model_dump(), status_code=status)
    kept = {name: headers[name] for name in ("allow", "retry-after") if name in headers}
    kept = {name.title(): value for name, value in kept.items()}
    return error_response(HTTPException(status, _MESSAGES.get(status), headers=kept))
