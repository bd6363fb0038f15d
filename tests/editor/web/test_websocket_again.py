"""An operation sent again is answered again, on a new connection and after a restart (S5)."""

import pytest

from tests.editor.serving import ServerProcess

TEXT = "a [___] b [___] c"


@pytest.fixture(scope="module")
def restarted(tmp_path_factory, nursery):
    """A server that has done one operation of every kind and was started anew."""
    data_dir = tmp_path_factory.mktemp("again")
    with ServerProcess(nursery, data_dir, TIDELINE_WORKER_URL="") as server:
        made = server.create(TEXT)
        with server.browser(made["id"]) as browser:
            browser.send({"type": "refine", "op_id": "refine", "version": 0})
            run_id = browser.take("run_accepted", op_id="refine")["run"]["run_id"]
            added = [browser.take("suggestion_added")["suggestion"] for _ in range(2)]
            browser.take("run_ended")
            first, second = (suggestion["id"] for suggestion in added)
            browser.send({"type": "accept", "op_id": "accept", "suggestion_ids": [first]})
            browser.take("edited", op_id="accept")
            browser.send({"type": "reject", "op_id": "reject", "suggestion_ids": [second]})
            browser.take("suggestion_decided", op_id="reject")
            add = [{"kind": "locked", "from": 0, "to": 1}]
            browser.send({"type": "spans", "op_id": "spans", "version": 1, "add": add})
            browser.take("spans_changed", op_id="spans")
            browser.send({"type": "name_version", "op_id": "name", "name": "one"})
            browser.take("revision_added", op_id="name")
            browser.send({"type": "restore", "op_id": "restore", "revision": 1})
            browser.take("edited", op_id="restore")
        server.stop()
        server.start()
        yield server, made["id"], {"run": run_id, "accepted": first, "rejected": second}


def ask(restarted, message):
    server, document_id, _ = restarted
    before = server.call("GET", f"/api/documents/{document_id}")
    with server.browser(document_id) as browser:
        browser.send(message)
        browser.send({"type": "ping"})
        frames = []
        while (frame := browser.receive())["type"] != "pong":
            frames.append(frame)
    assert server.call("GET", f"/api/documents/{document_id}") == before
    return frames


def test_spans_are_answered_after_a_restart(restarted):
    message = {"type": "spans", "op_id": "spans", "version": 1, "add": []}

    (frame,) = ask(restarted, message)

    assert (frame["type"], frame["op_id"]) == ("spans_changed", "spans")
    assert [span["kind"] for span in frame["spans"]] == ["locked", "region"]


def test_refine_is_answered_after_a_restart(restarted):
    accepted, ended = ask(restarted, {"type": "refine", "op_id": "refine", "version": 0})

    run_id = restarted[2]["run"]
    assert (accepted["type"], accepted["op_id"]) == ("run_accepted", "refine")
    assert (accepted["run"]["run_id"], accepted["run"]["state"]) == (run_id, "finished")
    assert (ended["type"], ended["run_id"], ended["state"]) == ("run_ended", run_id, "finished")


def test_accept_is_answered_after_a_restart(restarted):
    suggestion_id = restarted[2]["accepted"]

    decided, edited = ask(
        restarted, {"type": "accept", "op_id": "accept", "suggestion_ids": [suggestion_id]}
    )

    assert (decided["type"], decided["op_id"]) == ("suggestion_decided", "accept")
    assert (decided["suggestion_id"], decided["state"]) == (suggestion_id, "accepted")
    assert (edited["type"], edited["op_id"], edited["cause"]) == ("edited", "accept", "accept")
    assert edited["updates"] == []


def test_reject_is_answered_after_a_restart(restarted):
    suggestion_id = restarted[2]["rejected"]

    (frame,) = ask(
        restarted, {"type": "reject", "op_id": "reject", "suggestion_ids": [suggestion_id]}
    )

    assert (frame["op_id"], frame["state"]) == ("reject", "rejected")


def test_restore_is_answered_after_a_restart(restarted):
    (frame,) = ask(restarted, {"type": "restore", "op_id": "restore", "revision": 1})

    assert (frame["type"], frame["op_id"], frame["cause"]) == ("edited", "restore", "restore")


def test_name_is_answered_after_a_restart(restarted):
    (frame,) = ask(restarted, {"type": "name_version", "op_id": "name", "name": "one"})

    assert (frame["type"], frame["op_id"]) == ("revision_added", "name")
    assert frame["revision"]["name"] == "one"


def test_refine_over_rest_is_answered_with_the_same_run(restarted):
    server, document_id, ids = restarted

    again = server.request("POST", f"/api/documents/{document_id}/refine", json={"op_id": "refine"})

    assert (again.status_code, again.json()["run_id"]) == (202, ids["run"])
