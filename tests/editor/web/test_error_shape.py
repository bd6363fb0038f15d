"""Whoever refuses, the answer has one shape; a browser that asks for a page gets a page."""

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.testclient import TestClient

from editor.web.error_shape import ErrorShape
from editor.web.errors import install_error_shape

KEYS = {"code", "message", "retryable"}


@pytest.fixture
def client():
    app = FastAPI()
    install_error_shape(app)

    @app.get("/ours/{number}")
    async def ours(number: int) -> int:
        return number

    other = Starlette()
    other.add_route("/take", lambda _: PlainTextResponse("taken"), methods=["GET"])
    other.add_route("/fault", lambda _: PlainTextResponse("secret trace", status_code=500))
    other.add_route("/form", lambda _: JSONResponse({"detail": ["your words"]}, 422))
    other.add_route("/big", lambda _: PlainTextResponse("no", status_code=413))
    other.add_route("/page", lambda _: HTMLResponse("<p>mine</p>", status_code=404))
    app.mount("/", other)
    return TestClient(ErrorShape(app))


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("POST", "/take", 405, "method_not_allowed"),
        ("GET", "/big", 413, "too_large"),
        ("GET", "/form", 422, "invalid_input"),
        ("GET", "/fault", 500, "internal_error"),
        ("GET", "/ours/x", 422, "invalid_input"),
    ],
)
def test_every_refusal_has_the_one_shape(client, method, path, status, code):
    answer = client.request(method, path)

    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == KEYS
    assert answer.json()["code"] == code
    assert "words" not in answer.text
    assert "trace" not in answer.text


def test_only_a_fault_may_be_tried_again(client):
    assert client.get("/fault").json()["retryable"] is True
    assert client.get("/nothing").json()["retryable"] is False


def test_allowed_methods_are_kept(client):
    answer = client.post("/take")

    assert "GET" in answer.headers["allow"]
    assert "GET" in answer.json()["message"]


def test_a_browser_that_asks_for_a_page_gets_one(client):
    answer = client.get("/nothing", headers={"accept": "text/html,*/*"})

    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "nothing at this address" in answer.text


def test_pages_and_what_is_no_error_pass_through(client):
    assert client.get("/page").text == "<p>mine</p>"
    assert client.get("/take").text == "taken"
    assert client.get("/ours/5").json() == 5
