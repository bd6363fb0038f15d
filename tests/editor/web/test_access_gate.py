"""The door itself, before any route."""

import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from editor.auth.access import AccessGuard
from editor.web.access import AccessGate
from editor.web.middleware import BodyLimit, ErrorBoundary, RequestLog, SecurityHeaders

GUARD = AccessGuard("the-token")
HOST = "http://127.0.0.1:7860"
PAGE = {"accept": "text/html,*/*"}


async def show(request):
    return JSONResponse({"query": dict(request.query_params)})


async def show_page(_request):
    return HTMLResponse("<script>one</script><script type=module src=/x></script>")


async def fail(_request):
    raise RuntimeError("canary: these are the user's words")


@pytest.fixture
def observed():
    return []


@pytest.fixture
def client(observed):
    routes = [
        Route("/", show),
        Route("/page", show_page),
        Route("/api/things/{name}", show, methods=["GET", "POST"]),
        Route("/api/fail", fail),
        Route("/healthz", show),
    ]
    middleware = [
        Middleware(SecurityHeaders),
        Middleware(RequestLog, observe=lambda *figures: observed.append(figures)),
        Middleware(ErrorBoundary),
        Middleware(BodyLimit, max_bytes=2_000),
        Middleware(AccessGate, guard=GUARD, allowed_origins=("https://notes.example",)),
    ]
    return TestClient(Starlette(routes=routes, middleware=middleware), base_url=HOST)


def test_the_printed_link_sets_a_cookie_and_leads_to_the_clean_address(client):
    answer = client.get("/?token=the-token&tab=2", headers=PAGE, follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (303, "/?tab=2")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "the-token" not in cookie
    assert client.get("/").status_code == 200  # with the cookie


def test_the_link_cannot_lead_to_another_host(client):
    answer = client.get("//evil.example/?token=the-token", follow_redirects=False)

    assert re.match(r"^/(?!/)", answer.headers["location"])


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/docs"])
def test_a_browser_without_access_gets_a_page_that_explains(client, path):
    answer = client.get(path, headers=PAGE)

    assert answer.status_code == 401
    assert "access token" in answer.text
    assert not re.search(r"(src|href)=", answer.text)  # nothing else is fetched
    assert ("not this server" in answer.text) == ("wrong" in path)


def test_a_pasted_token_opens_the_door(client):
    own = {"origin": HOST}

    wrong = client.post("/access", data={"token": "wrong"}, headers=PAGE | own)
    right = client.post("/access", data={"token": " the-token "}, headers=own)

    assert wrong.status_code == 401
    assert right.history[0].status_code == 303
    assert right.status_code == 200


def test_scripts_send_the_token_and_get_json_without_it(client):
    bearer = {"authorization": "Bearer the-token"}

    assert client.get("/api/things/a", headers=bearer).status_code == 200
    answer = client.get("/api/things/a", headers=PAGE)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert set(answer.json()) == {"code", "message", "retryable"}


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (HOST, 200),
        ("https://notes.example", 200),
        ("http://127.0.0.1:9999", 403),
        ("https://evil.example", 403),
        ("null", 403),
    ],
)
def test_a_foreign_page_may_change_nothing_even_with_the_cookie(client, origin, status):
    client.get("/?token=the-token")

    answer = client.post("/api/things/a", headers={"origin": origin})

    assert answer.status_code == status


def test_only_liveness_is_open(client):
    assert client.get("/healthz").status_code == 200
    assert client.get("/healthz/x").status_code == 401


def test_every_answer_has_a_content_policy_and_pages_their_nonce(client):
    client.get("/?token=the-token")

    first, second = client.get("/page"), client.get("/page")

    nonces = [re.findall(r'nonce="([^"]+)"', page.text) for page in (first, second)]
    assert len(nonces[0]) == 2
    assert len({*nonces[0]}) == 1
    assert nonces[0] != nonces[1]
    policy = first.headers["content-security-policy"]
    assert f"'nonce-{nonces[0][0]}'" in policy
    assert "script-src 'self'" in policy
    assert int(first.headers["content-length"]) == len(first.content)
    assert client.get("/api/things/a").headers["x-content-type-options"] == "nosniff"
    assert client.get("/api/things/a").headers["cache-control"] == "no-store"


def test_an_unexpected_fault_is_answered_without_internals(client, capsys):
    client.get("/?token=the-token")

    answer = client.get("/api/fail")

    assert answer.status_code == 500
    assert answer.json()["code"] == "internal_error"
    assert re.search(r"\b[0-9a-f]{12}\b", answer.json()["message"])
    assert "canary" not in answer.text
    assert "Runtime" not in answer.text


def test_I2_figures_hold_route_templates_only(client, observed):
    client.get("/?token=the-token")
    client.get("/api/things/secret-title?search=secret")
    client.get("/secret/path")

    assert [(route, method, status) for route, method, status, _ in observed][-2:] == [
        ("/api/things/{name}", "GET", 200),
        ("other", "GET", 404),
    ]


def test_a_body_above_the_limit_is_refused(client):
    bearer = {"authorization": "Bearer the-token"}

    answer = client.post("/api/things/a", content=b"x" * 2_001, headers=bearer)

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
