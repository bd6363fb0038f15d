"""ASGI layers around every request: log line, error boundary, body limit, security headers.

They see paths and headers, never bodies. Log lines and metrics carry route templates such as
/api/documents/{document_id}, so that no id, title, search word or token is written down.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from editor.errors import TooLarge
from editor.logging import get_logger
from editor.web.errors import error_response

__all__ = ["BodyLimit", "ErrorBoundary", "RequestLog", "SecurityHeaders", "route_template"]

log = get_logger(__name__)

Observe = Callable[[str, str, int, float], None]


def route_template(scope: MutableMapping[str, Any]) -> str:
    """Return the matched route's template, or a fixed word: never the path itself."""
    route = scope.get("route")
    template = getattr(route, "path_format", None) or getattr(route, "path", None)
    if template:
        return str(template)
    path = str(scope.get("path", ""))
    return next((f"{prefix}/*" for prefix in ("/gradio_api", "/static") if path.startswith(prefix)),
                "/" if path == "/" else "other")  # fmt: skip


class RequestLog:
    """One line and one measurement per HTTP request."""

    def __init__(self, app: ASGIApp, *, observe: Observe) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_s = time.perf_counter()
        status = 500

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            total_s = time.perf_counter() - started_s
            route, method = route_template(scope), scope["method"]
            self._observe(route, method, status, total_s)
            if route.startswith("/api"):
                total_ms = round(total_s * 1000, 1)
                log.info(
                    "web.answered", route=route, method=method, status=status, total_ms=total_ms
                )


class ErrorBoundary:
    """An unexpected exception becomes a 500 with an id that the log repeats, and no internals."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_started = False

        async def watch(message: Message) -> None:
            nonlocal has_started
            has_started = has_started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception:
            error_id = secrets.token_hex(6)
            route = route_template(scope)
            log.error("web.failed", error_id=error_id, route=route, exc_info=True)
            if not has_started:
                await _internal_error(error_id)(scope, receive, send)


class BodyLimit:
    """Refuse a request body above `max_bytes`, announced or not."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and int(announced) > self._max_bytes:
            reason = f"the request body has {announced} bytes; the limit is {self._max_bytes}"
            await error_response(TooLarge(reason))(scope, receive, send)
            return
        num_bytes = 0

        async def count() -> Message:
            nonlocal num_bytes
            message = await receive()
            num_bytes += len(message.get("body", b""))
            if num_bytes > self._max_bytes:
                # FastAPI turns any other exception of a body into a 400
                reason = f"the request body is longer than the limit of {self._max_bytes} bytes"
                raise HTTPException(413, reason)
            return message

        await self._app(scope, count, send)


class SecurityHeaders:
    """Content-Security-Policy with a nonce per page, and the usual fixed headers.

    Gradio's HTML component needs 'unsafe-eval' and its styles 'unsafe-inline'; scripts that did
    not come with the page are refused all the same. The nonce is written into the page's script
    tags; no page of ours holds the user's text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sender = _PageSender(send, secrets.token_urlsafe(16), scope["path"])
        await self._app(scope, receive, sender)


class _PageSender:
    """Holds an HTML answer back until its scripts carry the nonce; passes the rest through."""

    def __init__(self, send: Send, nonce: str, path: str) -> None:
        self._send = send
        self._nonce = nonce
        self._path = path
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            _add_headers(headers, self._nonce, self._path)
            if headers.get("content-type", "").startswith("text/html") and not (
                headers.get("content-encoding") or headers.get("content-disposition")
            ):
                self._start = message
                return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._send_page(self._start)

    async def _send_page(self, start: Message) -> None:
        page = bytes(self._body).replace(b"<script", f'<script nonce="{self._nonce}"'.encode())
        headers = MutableHeaders(raw=start["headers"])
        if "content-length" in headers and self._body:
            headers["content-length"] = str(len(page))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": page})


def _add_headers(headers: MutableHeaders, nonce: str, path: str) -> None:
    headers["Content-Security-Policy"] = (
        "default-src 'self'; "
        f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; "
        "style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; "
        "connect-src 'self' ws: wss:; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
    )
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "SAMEORIGIN"
    # not "no-referrer": browsers then send the access page's form with `Origin: null`
    headers["Referrer-Policy"] = "same-origin"
    headers["Permissions-Policy"] = "camera=(), microphone=(), geolocation=()"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    # what holds the user's text is kept by no cache; the rest is asked for again and compared
    headers.setdefault("Cache-Control", "no-store" if path.startswith("/api/") else "no-cache")


def _internal_error(error_id: str) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    body = {
        "code": "internal_error",
        "message": f"the server met an unexpected fault; its log names it {error_id}",
        "retryable": True,
    }
    return JSONResponse(body, status_code=500)
