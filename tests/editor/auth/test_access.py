import stat
from pathlib import Path

import pytest

from editor.auth.access import AccessGuard, is_known_origin, stored_access_token

GUARD = AccessGuard("correct-token")


def cookie(guard: AccessGuard, value: str | None = None) -> str:
    return f"other=1; {guard.cookie_name}={value or guard.make_cookie()}; more=2"


def test_bearer_token_opens_the_door():
    assert GUARD.admits(authorization="Bearer correct-token", cookies=None)
    assert GUARD.admits(authorization="bearer correct-token", cookies=None)


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", "Basic correct-token", "correct-token", "Bearer \ud800"],
)
def test_other_authorization_does_not(authorization):
    assert not GUARD.admits(authorization=authorization, cookies=None)


def test_signed_cookie_opens_the_door():
    assert GUARD.admits(authorization=None, cookies=cookie(GUARD))


def test_wrong_bearer_is_refused_even_beside_a_good_cookie():
    assert not GUARD.admits(authorization="Bearer wrong", cookies=cookie(GUARD))


def test_cookie_of_another_token_is_refused():
    other = AccessGuard("another-token")

    assert not GUARD.admits(authorization=None, cookies=cookie(GUARD, other.make_cookie()))


def test_changed_or_unsigned_cookie_is_refused():
    value = GUARD.make_cookie()

    assert not GUARD.admits(authorization=None, cookies=cookie(GUARD, value[:-2] + "xx"))
    assert not GUARD.admits(authorization=None, cookies=cookie(GUARD, "admitted"))
    assert not GUARD.admits(authorization=None, cookies="\x00=;;; =")


def test_cookies_of_two_servers_have_two_names():
    assert AccessGuard("one").cookie_name != AccessGuard("two").cookie_name


@pytest.mark.parametrize(
    ("origin", "is_known"),
    [
        (None, True),
        ("http://127.0.0.1:7860", True),
        ("https://127.0.0.1:7860", True),
        ("http://127.0.0.1:7861", False),
        ("http://evil.example", False),
        ("null", False),
        ("http://127.0.0.1:7860.evil.example", False),
        ("https://notes.example", True),
        ("https://notes.example/", True),
        ("http://notes.example", False),
    ],
)
def test_origin_must_be_the_server_or_allowed(origin, is_known):
    known = is_known_origin(origin, host="127.0.0.1:7860", allowed=["https://notes.example"])

    assert known is is_known


def test_access_token_is_made_once_and_private(tmp_path: Path):
    data_dir = tmp_path / "new" / "place"

    first = stored_access_token(data_dir)

    assert len(first) >= 32
    assert stored_access_token(data_dir) == first
    assert stat.S_IMODE((data_dir / "access-token").stat().st_mode) == 0o600
