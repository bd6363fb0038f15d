"""The only door: decides from headers whether a request may pass.

One access token per server. Scripts send it as `Authorization: Bearer`; a browser trades it
once, through the printed link, for a signed cookie. The module knows headers, not HTTP
frameworks, so that REST, websocket, static files and the shell ask the same functions.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

from itsdangerous import BadSignature, TimestampSigner

from editor.errors import Unavailable

__all__ = ["AccessGuard", "is_known_origin", "stored_access_token"]

COOKIE_MAX_AGE_S = 30 * 24 * 3600
_SIGNED_VALUE = "admitted"


@dataclass(frozen=True, slots=True)
class AccessGuard:
    """Checks the access token in its two forms. Changing the token ends every cookie."""

    access_token: str

    @property
    def cookie_name(self) -> str:
        """Differs per token: cookies of two servers on one host do not replace each other."""
        return f"tideline_{hashlib.sha256(self.access_token.encode()).hexdigest()[:12]}"

    def make_cookie(self) -> str:
        """Return the signed value that `admits` accepts for 30 days."""
        return self._signer().sign(_SIGNED_VALUE).decode()

    def is_token(self, candidate: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(
            candidate.encode("utf-8", "surrogatepass"), self.access_token.encode()
        )

    def admits(self, *, authorization: str | None, cookies: str | None) -> bool:
        """Whether the `Authorization` or `Cookie` header value opens the door."""
        scheme, _, candidate = (authorization or "").partition(" ")
        if scheme.lower() == "bearer":
            return self.is_token(candidate.strip())
        return self._has_signed_cookie(cookies or "")

    def _has_signed_cookie(self, cookies: str) -> bool:
        try:
            morsel = SimpleCookie(cookies).get(self.cookie_name)
        except CookieError:
            return False
        if morsel is None:
            return False
        try:
            value = self._signer().unsign(morsel.value, max_age=COOKIE_MAX_AGE_S)
        except BadSignature:
            return False
        return value == _SIGNED_VALUE.encode()

    def _signer(self) -> TimestampSigner:
        return TimestampSigner(self.access_token, salt="tideline.access-cookie")


def is_known_origin(origin: str | None, *, host: str | None, allowed: Iterable[str]) -> bool:
    """Whether a page at `origin` may act: the server's own address, or one that was allowed.

    No origin means no browser page sent it; such callers hold the token itself.
    """
    if origin is None:
        return True
    if origin.rstrip("/") in {known.rstrip("/") for known in allowed}:
        return True
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc == host


def stored_access_token(data_dir: Path) -> str:
    """Return the token kept in `data_dir`, made at the first call and readable by the owner only.

    Raises: Unavailable when the directory cannot be written.
    """
    path = data_dir / "access-token"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if kept := (path.read_text().strip() if path.exists() else ""):
            return kept
        access_token = secrets.token_urlsafe(32)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(access_token + "\n")
    except OSError as error:
        raise Unavailable(f"the access token cannot be kept in {path}: {error.strerror}") from error
    return access_token
