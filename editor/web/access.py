"""The access check in front of everything: REST, websocket, static files and the shell.

A link with `?token=` or the form of the page below trades the token for a signed cookie and
leads to the clean address. A page from a foreign origin may not change anything, and may not
open a websocket: both are refused before the application sees them.
"""

from __future__ import annotations

from urllib.parse import parse_qs, parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from editor.auth.access import COOKIE_MAX_AGE_S, AccessGuard, is_known_origin
from editor.errors import AccessDenied, ForeignOrigin
from editor.web.access_page import ENTRY_PATH, access_page
from editor.web.errors import error_response

__all__ = ["AccessGate"]

# The page links its manifest, which browsers fetch without the cookie; it holds a title only.
_OPEN_PATHS = frozenset({"/healthz", "/manifest.json"})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_MAX_FORM_BYTES = 4096


class AccessGate:
    """ASGI middleware that lets through only what `AccessGuard` admits."""

    def __init__(
        self, app: ASGIApp, *, guard: AccessGuard, allowed_origins: tuple[str, ...] = ()
    ) -> None:
        self._app = app
        self._guard = guard
        self._allowed_origins = allowed_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = await self._http_refusal(scope, receive)
        elif scope["type"] == "websocket":
            answer = self._websocket_refusal(scope)
        else:
            answer = None
        if answer is not None:
            await _send_refusal(answer, scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _http_refusal(self, scope: Scope, receive: Receive) -> Response | None:
        headers = Headers(scope=scope)
        if scope["path"] in _OPEN_PATHS:
            return None
        is_safe = scope["method"] in _SAFE_METHODS
        if not is_safe and not self._is_known_origin(headers):
            return _foreign_origin()
        if is_safe and "token=" in scope["query_string"].decode("latin-1"):
            query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            offered = [value for name, value in query if name == "token"]
            rest = [pair for pair in query if pair[0] != "token"]
            if offered:
                return self._enter(scope, offered[-1], scope["path"], urlencode(rest))
        if scope["path"] == ENTRY_PATH and scope["method"] == "POST":
            return self._enter(scope, await _token_of_form(receive), "/", "")
        if self._admits(headers):
            return None
        return self._denial(headers, scope["path"], was_offered=False)

    def _websocket_refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._is_known_origin(headers):
            return _foreign_origin()
        if not self._admits(headers):
            return error_response(AccessDenied(_HOW_TO_ENTER))
        return None

    def _enter(self, scope: Scope, offered: str, path: str, query: str) -> Response:
        if not self._guard.is_token(offered.strip()):
            return self._denial(Headers(scope=scope), path, was_offered=True)
        clean = "/" + path.lstrip("/") + (f"?{query}" if query else "")
        response = RedirectResponse(clean, status_code=303)
        response.set_cookie(
            self._guard.cookie_name,
            self._guard.make_cookie(),
            max_age=COOKIE_MAX_AGE_S,
            httponly=True,
            samesite="lax",
            secure=scope.get("scheme") == "https",
        )
        return response

    def _denial(self, headers: Headers, path: str, *, was_offered: bool) -> Response:
        is_page = "text/html" in headers.get("accept", "") and not path.startswith("/api/")
        if is_page:
            return HTMLResponse(access_page(was_offered=was_offered), status_code=401)
        response = error_response(AccessDenied(_HOW_TO_ENTER))
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def _admits(self, headers: Headers) -> bool:
        return self._guard.admits(
            authorization=headers.get("authorization"), cookies=headers.get("cookie")
        )

    def _is_known_origin(self, headers: Headers) -> bool:
        return is_known_origin(
            headers.get("origin"), host=headers.get("host"), allowed=self._allowed_origins
        )


_HOW_TO_ENTER = (
    "this needs the access token: open the link that the server printed, or send "
    "'Authorization: Bearer TOKEN'"
)


def _foreign_origin() -> JSONResponse:
    return error_response(
        ForeignOrigin(
            "pages of another origin may not act here; TIDELINE_ALLOWED_ORIGINS lists exceptions"
        )
    )


async def _token_of_form(receive: Receive) -> str:
    body = b""
    while len(body) <= _MAX_FORM_BYTES:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body", False):
            break
    return parse_qs(body.decode("latin-1")).get("token", [""])[0]


async def _send_refusal(answer: Response, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await answer(scope, receive, send)
        return
    await receive()  # websocket.connect
    if "websocket.http.response" in scope.get("extensions", {}):
        await answer(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008})
