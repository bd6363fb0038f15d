import hashlib
import io
import json

import docx
import pytest

TEXT = "Dear [___],\nthank you 😀 for {{item}}.\n"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_document_is_created_and_shown_in_the_stated_form(server):
    made = server.create("Hello [___] 👩‍⚕️ and ___.", title="Letter")

    shown = server.call("GET", f"/api/documents/{made['id']}")

    assert shown == made
    assert set(shown) == {"id", "title", "text", "version", "hash", "spans"}
    assert (shown["title"], shown["text"], shown["version"]) == (
        "Letter",
        "Hello [___] 👩‍⚕️ and ___.",
        0,
    )
    assert shown["hash"] == sha256(shown["text"])
    assert [(s["kind"], s["from"], s["to"]) for s in shown["spans"]] == [
        ("region", 6, 11),
        ("region", 21, 24),
    ]


def test_line_ends_of_every_kind_become_one(server):
    assert server.create("a\r\nb\rc\n")["text"] == "a\nb\nc\n"


@pytest.mark.parametrize("text", ["", "[MASK]", "<|endoftext|> <|im_start|> [MASK] </s>", "\u2591"])
def test_text_that_spells_special_tokens_stays_text(server, text):
    assert server.create(text)["text"] == text


def test_a_document_of_200_000_characters_is_kept_whole(server):
    text = "All is well 😀. " * 12_500
    assert len(text) >= 200_000 - 12_500

    made = server.create(text * 2)

    assert server.call("GET", f"/api/documents/{made['id']}")["hash"] == sha256(text * 2)


def test_given_spans_are_kept_and_blanks_are_not_searched_then(server):
    spans = [
        {"id": "dose", "kind": "locked", "from": 5, "to": 9},
        {"kind": "field", "from": 13, "to": 18, "label": "drug", "settings": {"required": True}},
    ]

    made = server.create("Give 5 mg of [___] now", spans=spans)

    lock, field = made["spans"]
    assert (lock["id"], lock["from"], lock["to"]) == ("dose", 5, 9)
    assert field["settings"] == {"required": True, "label": "drug"}


def test_documents_are_listed_with_title_version_and_times(server):
    made = server.create("listed", title="In the list")

    listed = server.call("GET", "/api/documents")["documents"]

    (found,) = (one for one in listed if one["id"] == made["id"])
    assert (found["title"], found["version"], found["hash"]) == ("In the list", 0, made["hash"])
    assert 0 < found["created_s"] <= found["updated_s"]
    assert "text" not in found


def test_a_title_is_changed_and_browsers_are_told(server):
    made = server.create("x", title="Old")

    with server.browser(made["id"]) as browser:
        server.call("PATCH", f"/api/documents/{made['id']}", json={"title": "New"})
        assert browser.take("renamed")["title"] == "New"
    assert server.call("GET", f"/api/documents/{made['id']}")["title"] == "New"


def test_a_deleted_document_is_gone_for_everybody(server):
    made = server.create("soon gone")

    with server.browser(made["id"]) as browser:
        assert server.request("DELETE", f"/api/documents/{made['id']}").status_code == 204
        assert server.request("GET", f"/api/documents/{made['id']}").status_code == 404
        with pytest.raises(Exception, match="1012"):
            browser.receive()
    ids = [one["id"] for one in server.call("GET", "/api/documents")["documents"]]
    assert made["id"] not in ids


@pytest.mark.parametrize("is_bare", [True, False])
def test_spans_are_replaced_as_a_whole(server, is_bare):
    made = server.create("One two ___ four")
    wanted = [{"id": "l", "kind": "locked", "from": 0, "to": 3}]

    body = wanted if is_bare else {"spans": wanted, "base_version": 0}
    answer = server.call("PUT", f"/api/documents/{made['id']}/spans", json=body)

    assert answer == {"version": 0, "spans": [{**wanted[0], "settings": {}}]}
    shown = server.call("GET", f"/api/documents/{made['id']}")
    assert shown["spans"] == answer["spans"]


def test_C7_restoring_writes_a_new_revision_and_forgets_none(server):
    made = server.create("first text")
    address = f"/api/documents/{made['id']}"
    with server.browser(made["id"]) as browser:
        browser.insert("\nsecond line")
        browser.take("edited")

    restored = server.call("POST", f"{address}/restore", json={"revision": 0})

    assert (restored["text"], restored["version"]) == ("first text", 2)
    revisions = server.call("GET", f"{address}/revisions")["revisions"]
    assert [(r["n"], r["parent"], r["author_kind"]) for r in revisions] == [
        (0, None, "person"),
        (1, 0, "person"),
        (2, 1, "restore"),
    ]
    assert server.call("GET", f"{address}/revisions/1")["text"] == "first text\nsecond line"
    assert len({r["hash"] for r in revisions}) == 3


@pytest.mark.parametrize(("form", "kind"), [("txt", "text/plain"), ("md", "text/markdown")])
def test_text_exports_are_the_text_as_an_attachment(server, form, kind):
    made = server.create(TEXT, title="Brief an Ärzte: 1/2")

    response = server.request("GET", f"/api/documents/{made['id']}/export?format={form}")

    assert response.content.decode() == TEXT
    assert response.headers["content-type"].startswith(kind)
    assert response.headers["content-disposition"] == (
        f'attachment; filename="Brief_an__rzte_1_2.{form}"; '
        f"filename*=UTF-8''Brief%20an%20%C3%84rzte%201%202.{form}"
    )


def test_html_and_docx_exports_hold_the_text(server):
    made = server.create(TEXT, title="T")
    address = f"/api/documents/{made['id']}/export?format="

    html = server.request("GET", address + "html").text
    word = docx.Document(io.BytesIO(server.request("GET", address + "docx").content))

    assert "thank you 😀 for {{item}}." in html
    assert [p.text for p in word.paragraphs] == ["Dear [___],", "thank you 😀 for {{item}}."]


def test_B4_export_as_json_and_import_give_the_same_document_back(server):
    spans = [{"id": "dose", "kind": "locked", "from": 5, "to": 9}]
    made = server.create("Give 5 mg [___]\n", title="Plan", spans=spans)
    exported = server.request("GET", f"/api/documents/{made['id']}/export?format=json")

    again = server.call(
        "POST",
        "/api/import",
        content=exported.content,
        headers={"content-type": "application/json"},
    )

    assert again["id"] != made["id"]
    for key in ("title", "text", "hash", "spans"):
        assert again[key] == made[key]
    written = exported.json()
    assert written["hash"] == made["hash"]
    assert [r["n"] for r in written["revisions"]] == [0]


def test_import_of_a_changed_json_export_is_refused(server):
    made = server.create("Give 5 mg")
    exported = server.request("GET", f"/api/documents/{made['id']}/export?format=json").json()
    exported["text"] = "Give 15 mg"

    response = server.request(
        "POST",
        "/api/import?format=json",
        content=json.dumps(exported),
        headers={"content-type": "application/json"},
    )

    assert response.status_code == 422
    assert "hash" in response.json()["message"]


@pytest.mark.parametrize(
    "request_body",
    [
        {"files": {"file": ("Näme.md", b"# Plan [___]\r\n")}},
        {"json": {"content": "# Plan [___]\n", "filename": "Näme.md"}},
        {
            "json": {
                "content": "IyBQbGFuIFtfX19dCg==",
                "filename": "Näme.md",
                "encoding": "base64",
            }
        },
    ],
)
def test_files_come_in_by_form_and_by_json(server, request_body):
    made = server.call("POST", "/api/import", **request_body)

    assert (made["title"], made["text"]) == ("Näme", "# Plan [___]\n")
    assert [(s["from"], s["to"]) for s in made["spans"]] == [(7, 12)]
    (first,) = server.call("GET", f"/api/documents/{made['id']}/revisions")["revisions"]
    assert first["author_kind"] == "import"


def test_a_raw_body_comes_in_with_its_name_or_format(server):
    html = b"<h1>Plan</h1><p onclick='x()'>rest<script>bad()</script></p>"

    by_name = server.call("POST", "/api/import?filename=a.html", content=html)
    by_format = server.call("POST", "/api/import?format=html", content=html)

    assert by_name["text"] == by_format["text"] == "# Plan\n\nrest\n"


def test_the_reference_lists_every_call(server):
    page = server.request("GET", "/docs").text
    paths = server.call("GET", "/openapi.json")["paths"]

    assert {"/api/documents/{document_id}/refine", "/api/suggestions/{suggestion_id}/accept"} <= {
        *paths
    }
    assert all(path in page for path in paths)
    assert "<script" not in page
