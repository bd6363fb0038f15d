import json
import socket

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.editor.serving import HEADERS

TEXT = "Give 5 mg 😀 of [___] daily."


def test_hello_is_answered_with_a_snapshot_in_utf16(server):
    made = server.create(TEXT, title="T")

    with server.browser(made["id"]) as browser:
        welcome = browser.welcome

    assert (welcome["text"], welcome["version"], welcome["title"]) == (TEXT, 0, "T")
    assert (welcome["hash"], welcome["resumed"]) == (made["hash"], False)
    assert [(s["from"], s["to"]) for s in welcome["spans"]] == [(16, 21)]  # 15 in code points
    assert [r["n"] for r in welcome["revisions"]] == [0]


def test_two_browsers_converge_and_the_author_is_told_too(server):
    made = server.create("Shared. ")
    with (
        server.browser(made["id"], client_id="a") as a,
        server.browser(made["id"], client_id="b") as b,
    ):
        for number in range(20):
            writer, reader = (a, b) if number % 2 else (b, a)
            op_id = writer.insert(f"{number} 😀\n", at=number % 8)
            frames = [writer.take("edited"), reader.take("edited")]
            assert frames[0] == frames[1]
            assert frames[0]["op_id"] == op_id
            assert frames[0]["updates"][0]["clientID"] == writer.client_id

        shown = server.call("GET", f"/api/documents/{made['id']}")
        assert a.text == b.text == shown["text"]
        assert a.version == b.version == shown["version"] == 20


def test_an_edit_made_for_an_older_version_is_refused_and_nothing_is_lost(server):
    made = server.create("Shared.")
    with (
        server.browser(made["id"], client_id="a") as a,
        server.browser(made["id"], client_id="b") as b,
    ):
        a.insert(" From a.")
        op_id = b.insert(" From b.")  # before b has seen a's
        problem = b.take("problem")
        assert (problem["op_id"], problem["code"]) == (op_id, "stale_version")
        assert problem["retryable"] is True

        b.insert(" From b.")  # rebased
        b.take("edited")
        assert b.text == "Shared. From a. From b."


def test_S5_the_same_edit_sent_three_times_applies_once(server):
    made = server.create("Once")
    with server.browser(made["id"]) as browser:
        update = {"clientID": "test", "changes": [4, [0, " more"]]}
        message = {"type": "edit", "op_id": "same", "version": 0, "updates": [update]}
        for _ in range(3):
            browser.send(message)
        answers = [json.loads(browser.socket.recv(timeout=20)) for _ in range(3)]

    assert [(one["type"], one["version"], one["op_id"]) for one in answers] == [
        ("edited", 1, "same")
    ] * 3
    assert server.call("GET", f"/api/documents/{made['id']}")["text"] == "Once more"


def test_locked_text_cannot_be_edited_by_a_browser_that_tries(server):
    made = server.create(TEXT, spans=[{"kind": "locked", "from": 5, "to": 9}])
    with server.browser(made["id"]) as browser:
        for changes in ([6, [1, "x"], 21], [5, [0, "1"], 23], [[28, "all new"]]):
            browser.edit(changes)
            assert browser.take("problem")["code"] == "lock_violation"

    assert server.call("GET", f"/api/documents/{made['id']}")["text"] == TEXT


def test_spans_are_added_and_removed_in_utf16(server):
    made = server.create(TEXT)
    with server.browser(made["id"]) as browser:
        lock = {"id": "mine", "kind": "locked", "from": 13, "to": 15}
        remove = [made["spans"][0]["id"]]
        browser.send(
            {"type": "spans", "op_id": "s1", "version": 0, "add": [lock], "remove": remove}
        )
        changed = browser.take("spans_changed")

    assert changed["spans"] == [{**lock, "settings": {}}]
    (stored,) = server.call("GET", f"/api/documents/{made['id']}")["spans"]
    assert (stored["from"], stored["to"]) == (12, 14)


def test_a_run_is_shown_pass_by_pass_and_its_suggestion_accepted(server):
    """One websocket, one real worker process."""
    made = server.create(TEXT)
    with server.browser(made["id"]) as browser:
        browser.send({"type": "refine", "op_id": "r1", "version": 0, "regions": "all"})
        accepted = browser.take("run_accepted", op_id="r1")
        seen = []
        while not seen or seen[-1]["type"] != "run_ended":
            seen.append(browser.receive())
        kinds = [frame["type"] for frame in seen]
        passes = [frame for frame in seen if frame["type"] == "pass_frame"]
        suggestion = next(f for f in seen if f["type"] == "suggestion_added")["suggestion"]

        assert accepted["run"]["span_ids"] == [made["spans"][0]["id"]]
        assert passes
        assert all(frame["run_id"] == accepted["run"]["run_id"] for frame in passes)
        assert "seq" not in passes[0]
        assert "stable_prefix" in kinds
        assert browser.text == TEXT  # provisional text is never document text

        browser.send({"type": "accept", "op_id": "a1", "suggestion_ids": [suggestion["id"]]})
        edited = browser.take("edited", op_id="a1")
        best = suggestion["alternatives"][0]["text"]
        assert edited["cause"] == "accept"
        assert browser.text == TEXT.replace("[___]", best)
        assert browser.take("revision_added")["revision"]["author_kind"] == "model"

        browser.send({"type": "restore", "op_id": "b1", "revision": 0})
        browser.take("edited", op_id="b1")
        assert browser.text == TEXT


def test_the_stable_prefix_never_retracts(server):
    made = server.create("A ___ b ___ c")
    known: dict[str, str] = {}
    with server.browser(made["id"]) as browser:
        browser.send({"type": "refine", "op_id": "r1", "version": 0})
        while (frame := browser.receive())["type"] != "run_ended":
            if frame["type"] == "stable_prefix":
                assert frame["text"].startswith(known.get(frame["span_id"], ""))
                known[frame["span_id"]] = frame["text"]
            if frame["type"] == "suggestion_added":
                suggestion = frame["suggestion"]
                best = suggestion["alternatives"][0]["text"]
                assert best.startswith(known.get(suggestion["span_id"], ""))

    assert known


def test_a_refused_run_says_why(server):
    made = server.create(TEXT)
    with server.browser(made["id"]) as browser:
        browser.send({"type": "refine", "op_id": "r1", "version": 0, "regions": ["nope"]})
        refused = browser.take("run_refused")

    assert (refused["op_id"], refused["code"]) == ("r1", "not_found")


def test_a_browser_resumes_by_seq_and_gets_exactly_what_it_missed(server):
    made = server.create("Start.")
    with server.browser(made["id"], client_id="a") as a:
        with server.browser(made["id"], client_id="b") as b:
            a.insert(" One.")
            a.take("edited")
            b.take("edited")
            seq, epoch, text = b.seq, b.welcome["epoch"], b.text
        a.insert(" Two.")
        a.take("edited")
        server.call("PATCH", f"/api/documents/{made['id']}", json={"title": "T"})
        a.take("renamed")

        query = f"?since={seq}&epoch={epoch}"
        with server.browser(made["id"], query, client_id="b") as again:
            assert (again.welcome["resumed"], again.welcome["text"]) == (True, None)
            again.text = text
            missed = [again.take("edited"), again.take("renamed")]

        assert [frame["seq"] for frame in missed] == [seq + 1, seq + 2]
        assert again.text == a.text == "Start. One. Two."
        assert again.seq == a.seq


@pytest.mark.parametrize("query", ["?since=0&epoch=other", "?since=99999", "?since=x", "?since=-1"])
def test_what_cannot_be_resumed_gets_a_fresh_snapshot(server, query):
    made = server.create("Start.")
    with server.browser(made["id"], query) as browser:
        assert (browser.welcome["resumed"], browser.text) == (False, "Start.")


def test_a_browser_that_holds_a_version_gets_the_updates_after_it(server):
    made = server.create("Start 😀.")
    with server.browser(made["id"], client_id="a") as a:
        for words in (" One.", " Two 😀.", " Three."):
            a.insert(words)
            a.take("edited")

        with server.browser(made["id"], client_id="b", version=1) as b:
            welcome = b.welcome

    assert (welcome["resumed"], welcome["text"], welcome["version"]) == (True, None, 3)
    assert [update["clientID"] for update in welcome["updates"]] == ["a", "a"]
    assert welcome["updates"][0]["changes"] == [14, [0, " Two 😀."]]


def test_a_version_ahead_of_the_document_gets_a_fresh_snapshot(server):
    made = server.create("Start.")
    with server.browser(made["id"], version=7) as browser:
        assert (browser.welcome["resumed"], browser.text) == (False, "Start.")


@pytest.mark.parametrize(
    "raw",
    [
        "{",
        "",
        "null",
        "[]",
        '"text"',
        "{}",
        '{"type": "nope"}',
        '{"type": "edit"}',
        '{"type": "edit", "op_id": "x", "version": -1, "updates": []}',
        '{"type": "edit", "op_id": "x", "version": 0, "updates": '
        '[{"clientID": "t", "changes": [0]}]}',
        '{"type": "edit", "op_id": "x", "version": 0, "updates": '
        '[{"clientID": "t", "changes": [[0, "\\ud800"], 6]}]}',
        '{"type": "edit", "op_id": "x", "version": 0, "updates": '
        '[{"clientID": "t", "changes": [1e999, {"a": []}]}]}',
        '{"type": "cancel", "run_id": "nope"}',
        '{"type": "accept", "op_id": "x", "suggestion_ids": ["nope"]}',
        '{"type": "restore", "op_id": "x", "revision": 5}',
        '{"type": "hello", "client_id": "again"}',
        "[" * 100_000,
        b"\x00\x01binary",
    ],
)
def test_a_malformed_frame_is_a_problem_and_never_the_end(server, raw):
    made = server.create("Start.")
    with server.browser(made["id"]) as browser:
        browser.socket.send(raw)

        problem = browser.receive()

        assert problem["type"] == "problem"
        assert set(problem) == {"type", "op_id", "code", "message", "retryable"}
        browser.send({"type": "ping"})
        assert browser.receive()["type"] == "pong"
    assert server.call("GET", f"/api/documents/{made['id']}")["text"] == "Start."


def test_an_oversized_frame_closes_with_1009(server):
    made = server.create("Start.")
    with server.browser(made["id"]) as browser:
        # in two fragments: what the server leaves unread would reset the connection
        browser.socket.send(["x" * 16_194_000, "x" * 1_000])

        with pytest.raises(ConnectionClosed) as caught:
            browser.socket.recv(timeout=20)

    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009


def test_the_first_message_must_be_hello(server):
    made = server.create("Start.")
    with server.connect(made["id"]) as raw_socket:
        raw_socket.send('{"type": "ping"}')
        problem = json.loads(raw_socket.recv(timeout=20))

        with pytest.raises(ConnectionClosed) as caught:
            raw_socket.recv(timeout=20)

    assert problem["type"] == "problem"
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1008


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "access_denied"),
        ({"Authorization": "Bearer wrong"}, 401, "access_denied"),
        ({**HEADERS, "Origin": "http://evil.example"}, 403, "foreign_origin"),
        ({**HEADERS, "Origin": "null"}, 403, "foreign_origin"),
    ],
)
def test_access_and_origin_are_checked_before_the_socket_opens(server, headers, status, code):
    made = server.create("Start.")

    with pytest.raises(InvalidStatus) as caught, server.connect(made["id"], headers=headers):
        pass

    assert caught.value.response.status_code == status
    assert json.loads(caught.value.response.body)["code"] == code


def test_the_servers_own_origin_may_connect(server):
    made = server.create("Start.")

    with server.connect(made["id"], headers={**HEADERS, "Origin": server.base}) as raw_socket:
        assert raw_socket.state.name == "OPEN"


def test_a_document_that_does_not_exist_is_not_opened(server):
    with pytest.raises(InvalidStatus) as caught, server.connect("nope"):
        pass

    assert caught.value.response.status_code == 404
    assert json.loads(caught.value.response.body)["code"] == "not_found"


def test_a_browser_that_does_not_read_delays_nobody_and_is_let_go(server):
    made = server.create("")
    narrow = socket.create_connection(server.base.removeprefix("http://").split(":"))
    with (
        server.browser(made["id"], client_id="quick") as quick,
        server.connect(made["id"], sock=narrow, max_queue=1, close_timeout=0.1) as stalled,
    ):
        stalled.send('{"type": "hello", "client_id": "stalled"}')
        page = "x" * 900_000
        for number in range(60):  # 27 MB; at most 16 wait for one browser, the system takes some
            quick.insert(page) if number % 2 == 0 else quick.edit([[len(quick.text)]])
            quick.take("edited")
        figures = server.request("GET", "/metrics").text

    assert quick.version == 60
    assert "tideline_dropped_connections_total 1.0" in figures


def test_browsers_that_come_during_a_run_see_it(server):
    made = server.create("Long ___ text " * 2)
    with server.browser(made["id"]) as first:
        first.send({"type": "refine", "op_id": "r", "version": 0, "settings": {"steps": 40}})
        run_id = first.take("run_accepted")["run"]["run_id"]
        first.take("pass_frame")
        with server.browser(made["id"], client_id="late") as late:
            runs = late.welcome["runs"]
            assert [run["run_id"] for run in runs] in ([run_id], [])  # or it has just ended
            if runs:
                late.take("run_ended", run_id=run_id)
        first.send({"type": "cancel", "run_id": run_id})


def test_a_stopped_run_offers_its_draft_before_its_end_is_told(server):
    made = server.create("We ___ today.")
    (span,) = server.call("GET", f"/api/documents/{made['id']}")["spans"]
    with server.browser(made["id"]) as browser:
        settings = {"length": 100, "preset": "careful", "alternatives": 1}
        browser.send({"type": "refine", "op_id": "r", "version": 0, "settings": settings})
        run_id = browser.take("run_accepted")["run"]["run_id"]
        browser.take("pass_frame")

        browser.send({"type": "cancel", "run_id": run_id})

        suggestion = browser.take("suggestion_added")["suggestion"]
        ended = browser.take("run_ended", run_id=run_id)
    assert (ended["state"], ended["stop_reason"]) == ("cancelled", "cancelled")
    assert suggestion["span_id"] == span["id"]
    assert suggestion["alternatives"][0]["text"].strip()
    assert "\u2591" not in suggestion["alternatives"][0]["text"]
    (kept,) = server.call("GET", f"/api/runs/{run_id}")["suggestions"]
    assert kept["alternatives"][0]["text"] == suggestion["alternatives"][0]["text"]
