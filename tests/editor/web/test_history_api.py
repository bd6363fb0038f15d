"""Names of versions, where characters came from, and what a revision holds beside its text."""

import json

import pytest

TEXT = "Dear [___], hello."


def accepted(server, text=TEXT):
    """Return a document with its blank filled, the filling and the run's id."""
    made = server.create(text)
    run = server.refine(made["id"])
    (suggestion,) = run["suggestions"]
    server.call("POST", f"/api/suggestions/{suggestion['id']}/accept")
    return made["id"], suggestion["alternatives"][0]["text"], run["id"]


def test_a_version_is_named_and_listed(server):
    made = server.create(TEXT)

    named = server.request(
        "POST", f"/api/documents/{made['id']}/revisions", json={"name": "  before  the visit "}
    )

    assert named.status_code == 201
    assert (named.json()["n"], named.json()["name"]) == (1, "before the visit")
    listed = server.call("GET", f"/api/documents/{made['id']}/revisions")["revisions"]
    assert [revision["name"] for revision in listed] == [None, "before the visit"]
    assert listed[1] == named.json()


@pytest.mark.parametrize("name", ["", "  \n ", "x" * 121, None, 5])
def test_an_unusable_name_is_refused(server, name):
    made = server.create(TEXT)

    refused = server.request("POST", f"/api/documents/{made['id']}/revisions", json={"name": name})

    assert refused.status_code == 422
    assert refused.json()["code"] == "invalid_input"
    assert len(server.call("GET", f"/api/documents/{made['id']}/revisions")["revisions"]) == 1


def test_the_same_naming_twice_writes_one_revision(server):
    path = f"/api/documents/{server.create(TEXT)['id']}/revisions"

    first = server.call("POST", path, json={"name": "one", "op_id": "op"})
    second = server.call("POST", path, json={"name": "one", "op_id": "op"})

    assert first == second
    assert len(server.call("GET", path)["revisions"]) == 2


def test_a_version_named_in_the_page_is_answered_with_its_op(server):
    made = server.create(TEXT)
    with server.browser(made["id"]) as browser:
        browser.send({"type": "name_version", "op_id": "op", "name": "one"})

        frame = browser.take("revision_added")

    assert (frame["op_id"], frame["revision"]["name"]) == ("op", "one")
    assert frame["revision"]["author_kind"] == "person"


def test_D6_every_character_has_an_origin(server):
    document_id, filling, run_id = accepted(server)
    with server.browser(document_id) as browser:
        browser.insert("Oh. ", at=0)
        browser.take("edited")

    shown = server.call("GET", f"/api/documents/{document_id}/provenance")

    size = len(filling)
    assert shown == {
        "version": 2,
        "runs": [
            {"from": 0, "to": 4, "origin": "typed", "run_id": None},
            {"from": 4, "to": 9, "origin": "template", "run_id": None},
            {"from": 9, "to": 9 + size, "origin": "model", "run_id": run_id},
            {"from": 9 + size, "to": 17 + size, "origin": "template", "run_id": None},
        ],
    }


def test_D6_pasted_text_is_what_the_browser_says_is_pasted(server):
    made = server.create("a b")
    with server.browser(made["id"]) as browser:
        update = {"clientID": "test", "changes": [1, [0, "XY"], 2]}
        browser.send(
            {
                "type": "edit",
                "op_id": "paste",
                "version": 0,
                "updates": [update],
                "origin": "pasted",
            }
        )
        browser.take("edited")

    runs = server.call("GET", f"/api/documents/{made['id']}/provenance")["runs"]

    assert [(run["from"], run["to"], run["origin"]) for run in runs] == [
        (0, 1, "typed"),
        (1, 3, "pasted"),
        (3, 5, "typed"),
    ]


def test_D6_origins_survive_restore(server):
    document_id, _, _ = accepted(server)
    before = server.call("GET", f"/api/documents/{document_id}/provenance")["runs"]
    with server.browser(document_id) as browser:
        size = len(browser.text)
        browser.edit([[size, "gone"]])
        browser.take("edited")

    server.call("POST", f"/api/documents/{document_id}/restore", json={"revision": 1})

    after = server.call("GET", f"/api/documents/{document_id}/provenance")["runs"]
    assert after == before


def test_D6_origins_go_with_the_file_and_come_back(server):
    document_id, _, run_id = accepted(server)
    shown = server.call("GET", f"/api/documents/{document_id}/provenance")["runs"]

    exported = server.request("GET", f"/api/documents/{document_id}/export?format=json")
    imported = server.call("POST", "/api/import?format=json", content=exported.content)

    again = server.call("GET", f"/api/documents/{imported['id']}/provenance")
    assert again == {"version": 0, "runs": shown}
    assert run_id in {run["run_id"] for run in shown}


def test_a_file_whose_origins_do_not_cover_its_text_is_refused(server):
    made = server.create(TEXT)
    exported = server.call("GET", f"/api/documents/{made['id']}/export?format=json")
    exported["provenance"] = [{"from": 0, "to": 3, "origin": "typed"}]

    refused = server.request("POST", "/api/import?format=json", content=json.dumps(exported))

    assert refused.status_code == 422
    assert "origins cover 3" in refused.json()["message"]


def test_an_imported_text_is_imported(server):
    made = server.call("POST", "/api/import?filename=a.txt", content=b"some text")

    runs = server.call("GET", f"/api/documents/{made['id']}/provenance")["runs"]

    assert [run["origin"] for run in runs] == ["import"]


def test_S9_a_revision_holds_its_spans_and_restore_brings_them_back(server):
    made = server.create("one two three")
    path = f"/api/documents/{made['id']}"
    spans = [{"id": "lock", "kind": "locked", "from": 4, "to": 7},
             {"id": "mark", "kind": "region", "from": 8, "to": 13, "label": "third"}]  # fmt: skip
    server.call("PUT", f"{path}/spans", json={"spans": spans})
    server.call("POST", f"{path}/revisions", json={"name": "marked"})
    server.call("PUT", f"{path}/spans", json={"spans": []})

    held = server.call("GET", f"{path}/revisions/1")["spans"]
    restored = server.call("POST", f"{path}/restore", json={"revision": 1})

    assert [(span["id"], span["from"], span["to"]) for span in held] == [
        ("lock", 4, 7),
        ("mark", 8, 13),
    ]
    assert restored["spans"] == held
    assert held[1]["settings"] == {"label": "third"}


def test_D5_a_revision_says_which_suggestions_were_open(server):
    made = server.create(TEXT)
    (suggestion,) = server.refine(made["id"])["suggestions"]

    server.call("POST", f"/api/documents/{made['id']}/revisions", json={"name": "under review"})

    shown = server.call("GET", f"/api/documents/{made['id']}/revisions/1")
    assert (shown["text"], shown["open_suggestions"]) == (TEXT, [suggestion["id"]])


def test_C7_any_two_revisions_are_compared_word_by_word(server):
    made = server.create("one two three")
    path = f"/api/documents/{made['id']}"
    with server.browser(made["id"]) as browser:
        browser.edit([4, [3, "2"], 6])
        browser.take("edited")
    server.call("POST", f"{path}/revisions", json={"name": "second"})

    there = server.call("GET", f"{path}/compare?from=0&to=1")
    back = server.call("GET", f"{path}/compare?from=1&to=0")

    assert (there["from"], there["to"]) == (0, 1)
    assert [(part["kind"], part["text"]) for part in there["parts"]] == [
        ("kept", "one "),
        ("removed", "two"),
        ("added", "2"),
        ("kept", " three"),
    ]
    assert [part["text"] for part in back["parts"]] == ["one ", "2", "two", " three"]
    assert server.request("GET", f"{path}/compare?from=0&to=9").status_code == 404
    assert server.request("GET", f"{path}/compare?from=0").status_code == 422


@pytest.mark.parametrize("form", ["txt", "md", "html", "docx", "json"])
def test_H1_a_final_file_lists_what_is_not_filled_and_a_draft_is_free(server, form):
    made = server.create("Dear [___],\nsee {{what}}.")
    path = f"/api/documents/{made['id']}/export?format={form}"

    refused = server.request("GET", f"{path}&final=true")

    assert (refused.status_code, refused.json()["code"]) == (409, "unfinished")
    message = refused.json()["message"]
    assert "2 places" in message
    assert "blank at 5 to 10 (line 1)" in message
    assert "(line 2)" in message
    assert "what" not in message
    assert server.request("GET", path).status_code == 200


def test_H1_a_filled_document_is_final(server):
    made = server.create("Dear [___], hello.")
    path = f"/api/documents/{made['id']}"
    assert server.call("GET", f"{path}/unfilled")["unfilled"] == [
        {"from": 5, "to": 10, "reason": "blank", "span_id": made["spans"][0]["id"]}
    ]

    with server.browser(made["id"]) as browser:
        browser.edit([5, [5, "Ann"], 8])
        browser.take("edited")

    assert server.call("GET", f"{path}/unfilled") == {"version": 1, "unfilled": []}
    final = server.request("GET", f"{path}/export?format=txt&final=true")
    assert final.text == "Dear Ann, hello."


def test_H3_a_placeholder_in_the_title_keeps_a_file_from_being_final(server):
    made = server.create("Dear Ann.", title="Letter to {{name}}")

    refused = server.request("GET", f"/api/documents/{made['id']}/export?final=true")

    assert refused.status_code == 409
    assert "title" in refused.json()["message"]
