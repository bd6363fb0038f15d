import hashlib

import pytest

from engine.sampling.drafts import MASK_GLYPH

TEXT = "Dear [___],\nGive 5 mg daily. Thank you for ___ today.\n"


def decide(server, suggestion, verdict, **body):
    return server.call("POST", f"/api/suggestions/{suggestion['id']}/{verdict}", json=body)


def test_a_run_ends_in_suggestions_and_changes_no_text(server):
    made = server.create(TEXT)

    run = server.refine(made["id"], base_version=0, regions="all", settings={"seed": 3})

    assert run["state"] == "finished"
    assert run["passes"] >= 1
    assert run["stop_reason"] in ("settled", "early_answer", "pass_budget")
    assert [s["span_id"] for s in run["suggestions"]] == [s["id"] for s in made["spans"]]
    for suggestion in run["suggestions"]:
        assert suggestion["state"] == "open"
        assert suggestion["alternatives"]
        assert set(suggestion["alternatives"][0]) == {"text", "score", "flags"}
    assert run["run_card"]["seed"] == 3
    assert run["run_card"]["text_sha256"] == hashlib.sha256(TEXT.encode()).hexdigest()
    assert len(run["telemetry"]["passes"]) >= 1
    assert server.call("GET", f"/api/documents/{made['id']}") == made


def test_accepting_puts_the_chosen_alternative_in_as_one_edit_and_one_revision(server):
    made = server.create(TEXT)
    first, second = server.refine(made["id"])["suggestions"]
    chosen = first["alternatives"][-1]["text"]

    verdict = decide(server, first, "accept", alternative=len(first["alternatives"]) - 1)
    decide(server, second, "reject")

    shown = server.call("GET", f"/api/documents/{made['id']}")
    assert shown["text"] == TEXT.replace("[___]", chosen)
    assert (verdict["state"], verdict["version"], shown["version"]) == ("accepted", 1, 1)
    revisions = server.call("GET", f"/api/documents/{made['id']}/revisions")["revisions"]
    assert [r["author_kind"] for r in revisions] == ["person", "model"]


def test_accept_takes_no_body_or_an_edited_text(server):
    made = server.create(TEXT)
    first, second = server.refine(made["id"])["suggestions"]

    answer = server.request("POST", f"/api/suggestions/{first['id']}/accept")
    decide(server, second, "accept", text="your own words")

    assert answer.status_code == 200
    assert server.call("GET", f"/api/documents/{made['id']}")["text"] == TEXT.replace(
        "[___]", first["alternatives"][0]["text"]
    ).replace("___", "your own words")


@pytest.mark.parametrize(("first", "second"), [("accept", "accept"), ("reject", "accept")])
def test_a_suggestion_is_decided_once(server, first, second):
    made = server.create("Fill ___ in")
    (suggestion,) = server.refine(made["id"])["suggestions"]
    decide(server, suggestion, first)

    again = server.request("POST", f"/api/suggestions/{suggestion['id']}/{second}")

    assert again.status_code == 409
    assert again.json()["code"] == "already_decided"


def test_the_same_accept_sent_again_applies_once(server):
    made = server.create("Fill ___ in")
    (suggestion,) = server.refine(made["id"])["suggestions"]

    answers = [decide(server, suggestion, "accept", op_id="once") for _ in range(3)]

    assert answers == [answers[0]] * 3
    assert answers[0]["version"] == 1


def test_an_alternative_that_does_not_exist_is_refused(server):
    made = server.create("Fill ___ in")
    (suggestion,) = server.refine(made["id"])["suggestions"]

    answer = server.request(
        "POST", f"/api/suggestions/{suggestion['id']}/accept", json={"alternative": 99}
    )

    assert answer.status_code == 422
    assert server.call("GET", f"/api/documents/{made['id']}")["text"] == "Fill ___ in"


def test_ranges_become_regions_of_the_run(server):
    made = server.create("One two three four")
    asked = {"regions": [{"from": 4, "to": 7}, {"from": 8, "to": 13}]}

    run = server.refine(made["id"], **asked)

    spans = server.call("GET", f"/api/documents/{made['id']}")["spans"]
    assert [(s["kind"], s["from"], s["to"]) for s in spans] == [
        ("region", 4, 7),
        ("region", 8, 13),
    ]
    assert run["span_ids"] == [s["id"] for s in spans]


def test_a_refused_run_leaves_no_new_regions(server):
    made = server.create("One two ___ four")
    asked = {"regions": [{"from": 4, "to": 7}, "nope"]}

    answer = server.request("POST", f"/api/documents/{made['id']}/refine", json=asked)

    assert answer.status_code == 404
    assert server.call("GET", f"/api/documents/{made['id']}")["spans"] == made["spans"]


def test_only_the_regions_asked_for_are_refined(server):
    made = server.create(TEXT)
    wanted = made["spans"][1]["id"]

    run = server.refine(made["id"], regions=[wanted])

    assert [s["span_id"] for s in run["suggestions"]] == [wanted]


def test_the_same_request_gives_the_same_result(server):
    cards = []
    for _ in range(2):
        made = server.create(TEXT)
        run = server.refine(made["id"], settings={"seed": 11, "preset": "fast"})
        cards.append(run["run_card"]["result_sha256"])

    assert cards[0] == cards[1]


def test_cancelling_ends_the_run_and_is_idempotent(server):
    made = server.create("Long ___ text " * 20)
    with server.browser(made["id"]) as browser:
        settings = {"preset": "careful", "alternatives": 8}
        asked = server.call(
            "POST", f"/api/documents/{made['id']}/refine", json={"settings": settings}
        )
        path = f"/api/runs/{asked['run_id']}"
        server.call("POST", path + "/cancel")
        ended = browser.take("run_ended", run_id=asked["run_id"])

    run = server.call("POST", path + "/cancel")
    assert ended["state"] == run["state"] == "cancelled"
    assert server.call("POST", path + "/cancel") == run
    # What had settled may be offered; nothing of it is in the text.
    assert all(MASK_GLYPH not in a["text"] for s in run["suggestions"] for a in s["alternatives"])
    assert server.call("GET", f"/api/documents/{made['id']}") == made


def test_a_lock_inside_the_text_survives_refining_and_accepting(server):
    spans = [
        {"id": "dose", "kind": "locked", "from": 9, "to": 13},
        {"id": "rest", "kind": "region", "from": 4, "to": 20},
    ]
    made = server.create("The dose 5 mg daily of it.", spans=spans)
    (suggestion,) = server.refine(made["id"])["suggestions"]

    answer = server.request("POST", f"/api/suggestions/{suggestion['id']}/accept")

    shown = server.call("GET", f"/api/documents/{made['id']}")
    lock = next(s for s in shown["spans"] if s["id"] == "dose")
    assert answer.status_code == 200
    assert shown["text"][lock["from"] : lock["to"]] == "5 mg"


def test_B5_links_code_and_headings_in_a_region_survive_a_run(server):
    text = "# A heading here\nSee [the old page](http://a.example/x) and `code` for more of it.\n"
    made = server.create(text, spans=[{"kind": "region", "from": 0, "to": len(text) - 1}])

    run = server.refine(made["id"], settings={"seed": 1})
    (suggestion,) = run["suggestions"]
    for alternative in suggestion["alternatives"]:
        assert alternative["text"].startswith("# ")
        for kept in ("[", "](http://a.example/x)", "`code`"):
            assert alternative["text"].count(kept) == 1
    server.call("POST", f"/api/suggestions/{suggestion['id']}/accept")

    shown = server.call("GET", f"/api/documents/{made['id']}")["text"]
    assert shown == suggestion["alternatives"][0]["text"] + "\n"


def test_B5_a_filling_without_the_link_is_refused_and_stays_open(server):
    text = "See [the page](http://a.example) now."
    made = server.create(text, spans=[{"kind": "region", "from": 0, "to": len(text)}])
    (suggestion,) = server.refine(made["id"])["suggestions"]
    path = f"/api/suggestions/{suggestion['id']}/accept"

    refused = server.request("POST", path, json={"text": "See the page now."})

    assert (refused.status_code, refused.json()["code"]) == (409, "lock_violation")
    assert server.call("GET", f"/api/documents/{made['id']}")["text"] == text


def test_settings_of_a_region_are_checked_when_they_are_set(server):
    made = server.create("Take some now.")
    span = {"kind": "region", "from": 5, "to": 9}
    span["settings"] = {"constraints": [{"kind": "regex", "pattern": "(["}]}

    refused = server.request("PUT", f"/api/documents/{made['id']}/spans", json=[span])

    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert "constraint 0 (regex)" in refused.json()["message"]
    body = {"text": "Take some now.", "spans": [span]}
    assert server.request("POST", "/api/documents", json=body).status_code == 422
