"""Each bad input gets one clear error, and nothing is lost."""

import json

import httpx
import pytest

ERROR_KEYS = {"code", "message", "retryable"}
TEXT = "Give 5 mg of [___] daily, then rest."


@pytest.fixture
def document(server):
    spans = [
        {"id": "lock", "kind": "locked", "from": 5, "to": 9},
        {"id": "region", "kind": "region", "from": 13, "to": 18},
    ]
    return server.create(TEXT, spans=spans)


def refused(server, method, path, status, code, **body):
    """The call is refused in the one shape; return the message."""
    response = server.request(method, path, **body)
    assert response.status_code == status, response.text
    answer = response.json()
    assert set(answer) == ERROR_KEYS
    assert answer["code"] == code
    return answer["message"]


def test_unknown_region(server, document):
    path = f"/api/documents/{document['id']}/refine"

    refused(server, "POST", path, 404, "not_found", json={"regions": ["nope"]})


def test_stale_version(server, document):
    with server.browser(document["id"]) as browser:
        browser.insert(" More.")
        browser.take("edited")
    path = f"/api/documents/{document['id']}"
    spans = {"base_version": 0, "spans": [{"kind": "region", "from": 0, "to": 4}]}

    message = refused(server, "PUT", path + "/spans", 409, "stale_version", json=spans)
    ahead = {"base_version": 7, "regions": "all"}
    refused(server, "POST", path + "/refine", 409, "stale_version", json=ahead)

    assert "0" in message
    assert "1" in message


@pytest.mark.parametrize(
    "span",
    [
        {"kind": "region", "from": 7, "to": 12},  # over the lock's edge
        {"kind": "locked", "from": 11, "to": 15},  # over the region's edge
        {"kind": "region", "from": 15, "to": 25},  # over the other region
    ],
)
def test_overlaps_are_refused_and_the_old_spans_stay(server, document, span):
    path = f"/api/documents/{document['id']}"
    body = {"spans": [*document["spans"], span]}

    refused(server, "PUT", path + "/spans", 409, "span_conflict", json=body)

    assert server.call("GET", path)["spans"] == document["spans"]


@pytest.mark.parametrize(("start", "end"), [(3, 3), (9, 4), (0, 37), (36, 37), (400, 500)])
def test_empty_inverted_and_outside_ranges(server, document, start, end):
    path = f"/api/documents/{document['id']}"
    span = {"kind": "region", "from": start, "to": end}

    refused(server, "PUT", path + "/spans", 422, "invalid_offset", json=[span])
    asked = {"regions": [{"from": start, "to": end}]}
    refused(server, "POST", path + "/refine", 422, "invalid_offset", json=asked)

    assert server.call("GET", path)["spans"] == document["spans"]


def test_an_offset_inside_a_character_is_refused(server):
    made = server.create("a👩‍⚕️b")
    span = {"kind": "region", "from": 0, "to": 2}

    path = f"/api/documents/{made['id']}/spans"
    message = refused(server, "PUT", path, 422, "invalid_offset", json=[span])

    assert "grapheme" in message


def test_a_region_above_the_limit(server):
    made = server.create("word " * 2_000)
    path = f"/api/documents/{made['id']}"
    span = {"kind": "region", "from": 0, "to": 9_999}

    message = refused(server, "PUT", path + "/spans", 413, "too_large", json=[span])

    assert "9,999" in message
    assert "4,000" in message


def test_a_document_without_regions_has_nothing_to_refine(server):
    made = server.create("no blanks here")

    response = server.request("POST", f"/api/documents/{made['id']}/refine", json={})

    assert response.status_code in (409, 422)
    assert set(response.json()) == ERROR_KEYS


def test_an_empty_list_of_regions(server, document):
    path = f"/api/documents/{document['id']}/refine"

    refused(server, "POST", path, 422, "invalid_input", json={"regions": []})


@pytest.mark.parametrize(
    "settings",
    [{"steps": 0}, {"seed": -1}, {"preset": "wild"}, {"alternatives": 99}, {"nonsense": 1}],
)
def test_settings_outside_their_range(server, document, settings):
    path = f"/api/documents/{document['id']}/refine"

    refused(server, "POST", path, 422, "invalid_input", json={"settings": settings})


@pytest.mark.parametrize("escaped", [r'"\ud800"', r'"a\udc00b"', r'"\ud83d x"'])
def test_unpaired_surrogates(server, escaped):
    body = f'{{"text": {escaped}}}'.encode()

    refused(
        server,
        "POST",
        "/api/documents",
        422,
        "invalid_text",
        content=body,
        headers={"content-type": "application/json"},
    )


def test_nul_in_the_text(server):
    refused(server, "POST", "/api/documents", 422, "invalid_text", json={"text": "a\x00b"})


def test_spans_counted_in_a_text_with_other_line_ends(server):
    body = {"text": "a\r\nb ___", "spans": [{"kind": "region", "from": 5, "to": 8}]}

    refused(server, "POST", "/api/documents", 422, "invalid_offset", json=body)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{", "application/json"),
        (b"", "application/json"),
        (b"[]", "application/json"),
        (b'{"title": "x"}', "application/json"),
        (b'{"text": 5}', "application/json"),
        (b'{"text": "a", "more": 1}', "application/json"),
        (b'{"text": "\xff"}', "application/json"),
        (b'{"text": "a"}', "text/plain"),
    ],
)
def test_bodies_of_another_form(server, content, kind):
    response = server.request(
        "POST", "/api/documents", content=content, headers={"content-type": kind}
    )

    assert response.status_code in (400, 422)
    assert set(response.json()) == ERROR_KEYS


def test_values_are_never_repeated(server):
    body = {"text": 5, "title": "canary " * 100}

    message = refused(server, "POST", "/api/documents", 422, "invalid_input", json=body)

    assert "canary" not in message


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/documents/nope", 404, "not_found"),
        ("DELETE", "/api/documents/nope", 404, "not_found"),
        ("GET", "/api/documents/nope/revisions", 404, "not_found"),
        ("GET", "/api/documents/nope/export", 404, "not_found"),
        ("GET", "/api/runs/nope", 404, "not_found"),
        ("POST", "/api/runs/nope/cancel", 404, "not_found"),
        ("POST", "/api/suggestions/nope/accept", 404, "not_found"),
        ("GET", "/api/nothing", 404, "not_found"),
        ("GET", f"/api/documents/{'x' * 200}", 422, "invalid_input"),
        ("PUT", "/api/documents", 405, "method_not_allowed"),
        ("GET", "/api/import", 405, "method_not_allowed"),
    ],
)
def test_what_does_not_exist(server, method, path, status, code):
    refused(server, method, path, status, code)


@pytest.mark.parametrize(
    "path", ["revisions/99", "revisions/-1", "revisions/x", "export?format=pdf"]
)
def test_revisions_and_formats_that_do_not_exist(server, document, path):
    response = server.request("GET", f"/api/documents/{document['id']}/{path}")

    assert response.status_code in (404, 422)
    assert set(response.json()) == ERROR_KEYS


def test_the_longest_document_fits_in_its_longest_form(server):
    """A million characters above U+FFFF, all escaped: twelve bytes each."""
    body = b'{"text": "' + b"\\ud83d\\ude00" * 1_000_000 + b'"}'

    made = server.request(
        "POST", "/api/documents", content=body, headers={"content-type": "application/json"}
    )

    assert made.status_code == 201
    assert len(made.json()["text"]) == 1_000_000


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize(
    "settings",
    [
        '{"temperature": %s}',
        '{"strength": %s}',
        '{"time_budget_s": %s}',
        '{"constraints": [{"kind": "number", "minimum": %s}]}',
    ],
)
def test_numbers_that_are_none_are_refused_in_settings(server, document, settings, number):
    body = '{"settings": ' + settings % number + "}"
    kind = {"content-type": "application/json"}
    path = f"/api/documents/{document['id']}/refine"

    refused(server, "POST", path, 422, "invalid_input", content=body, headers=kind)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_refused_in_spans(server, document, number):
    settings = f'{{"any": [{number}]}}'
    span = f'{{"kind": "region", "from": 13, "to": 18, "settings": {settings}}}'
    kind = {"content-type": "application/json"}
    path = f"/api/documents/{document['id']}/spans"

    refused(server, "PUT", path, 422, "invalid_input", content=f"[{span}]", headers=kind)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_refused_on_the_websocket(server, document, number):
    with server.browser(document["id"]) as browser:
        browser.socket.send(
            '{"type": "refine", "op_id": "op", "version": 0, "settings": {"constraints": '
            f'[{{"kind": "number", "minimum": {number}}}]}}}}'
        )
        frame = browser.receive()
        assert (frame["type"], frame["op_id"], frame["code"]) == (
            "run_refused",
            "op",
            "invalid_input",
        )


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/readyz"])
def test_other_methods_of_fixed_addresses_are_told_what_is_allowed(server, path):
    message = refused(server, "POST", path, 405, "method_not_allowed")

    assert "GET" in message


def test_bodies_above_the_limit_announced_or_not(server):
    def stream():
        for _ in range(17):
            yield b'"' + b"x" * 1_000_000

    body = b'{"text": "' + b"x" * 17_000_000 + b'"}'

    refused(server, "POST", "/api/documents", 413, "too_large", content=body)
    kind = {"content-type": "application/json"}
    refused(server, "POST", "/api/documents", 413, "too_large", content=stream(), headers=kind)


@pytest.mark.parametrize(
    ("name", "raw", "code"),
    [
        ("a.docx", b"no word file", "invalid_text"),
        ("a.pdf", b"%PDF", "unsupported_format"),
        ("a.txt", b"\xff\xff", "invalid_text"),
        ("a.json", b"{}", "invalid_input"),
    ],
)
def test_files_that_cannot_be_read(server, name, raw, code):
    refused(server, "POST", "/api/import", 422, code, files={"file": (name, raw)})


def test_a_form_without_a_file(server):
    refused(server, "POST", "/api/import", 422, "invalid_input", files={"other": ("a.txt", b"x")})


@pytest.mark.parametrize(
    "path", ["/api/documents", "/docs", "/openapi.json", "/readyz", "/metrics", "/"]
)
def test_without_the_token_nothing_is_shown(server, path):
    for headers in ({}, {"authorization": "Bearer wrong"}):
        response = httpx.get(server.base + path, headers=headers)

        assert response.status_code == 401
        assert response.json()["code"] == "access_denied"


def test_liveness_needs_no_token(server):
    assert httpx.get(server.base + "/healthz").json() == {"status": "alive"}


@pytest.mark.parametrize("settings", [{"a": json.loads("[" * 60 + "]" * 60)}, {"label": "\ud800"}])
def test_span_settings_that_cannot_be_kept_store_nothing(server, settings):
    """A document that is refused is not there, and none becomes unreadable."""
    before = server.request("GET", "/api/documents").json()
    span = {"kind": "region", "from": 0, "to": 4, "settings": settings}
    body = json.dumps({"text": TEXT, "spans": [span]})

    refused(
        server,
        "POST",
        "/api/documents",
        422,
        "invalid_input",
        content=body,
        headers={"content-type": "application/json"},
    )

    assert server.request("GET", "/api/documents").json() == before


@pytest.mark.parametrize("body", ["{}", "[1]", "{bad", '{"content": 5}', '{"content": "\\ud800"}'])
def test_an_import_body_that_is_no_import(server, body):
    response = server.request(
        "POST", "/api/import", content=body, headers={"content-type": "application/json"}
    )

    assert response.status_code == 422
    assert set(response.json()) == ERROR_KEYS
    assert response.json()["retryable"] is False


def test_a_revision_number_beyond_what_is_stored(server, document):
    path = f"/api/documents/{document['id']}/restore"

    refused(server, "POST", path, 422, "invalid_input", json={"revision": 2**63})
