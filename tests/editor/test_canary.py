"""I1: the user's words are in the database and nowhere else."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import httpx

from tests.editor.serving import ServerProcess

CANARY = "zqcanary"
BRIEF = "zqbrief to the model"  # kept with the run, so that it can be run again
TEXT = f"Dear {CANARY}one, give 5 mg of [___] to {CANARY}two.\n"


def use_everything(server: ServerProcess) -> str:
    """Send the canary through every door, accepted and refused; return the figures."""
    made = server.create(TEXT, title=f"{CANARY} title")
    address = f"/api/documents/{made['id']}"
    server.call("PUT", f"{address}/spans", json=[{"kind": "region", "from": 5, "to": 16}])
    run = server.refine(made["id"], settings={"brief": BRIEF})
    for suggestion in run["suggestions"]:
        path = f"/api/suggestions/{suggestion['id']}/accept"
        server.request("POST", path, json={"text": f"{CANARY} accepted"})
    for form in ("txt", "md", "html", "docx", "json", CANARY):
        server.request("GET", f"{address}/export?format={form}")
    server.request("POST", "/api/import", files={"file": (f"{CANARY}.txt", TEXT.encode())})
    server.request("POST", "/api/import", files={"file": (f"{CANARY}.docx", TEXT.encode())})
    server.request("POST", "/api/documents", json={"text": 1, CANARY: CANARY})
    server.request("POST", "/api/documents", content=f'{{"text": "{CANARY}'.encode())
    server.request("GET", f"/api/documents/{CANARY}?search={CANARY}")
    server.request("GET", f"/{CANARY}?q={CANARY}")
    server.request("POST", f"{address}/revisions", json={"name": f"{CANARY} name"})
    server.request("POST", f"{address}/revisions", json={"name": CANARY * 30})
    for path in ("provenance", "unfilled", "compare?from=0&to=1", "export?final=true"):
        server.request("GET", f"{address}/{path}")
    bad = {"kind": "region", "from": 0, "to": 4, "label": CANARY, "protected": [CANARY, 5]}
    rule = {"constraints": [{"kind": "regex", "pattern": f"({CANARY}"}]}
    for span in (bad, {"kind": "region", "from": 0, "to": 4, "settings": rule}):
        refused = server.request("PUT", f"{address}/spans", json=[span])
        assert refused.status_code == 422
        assert CANARY not in refused.text
    httpx.get(f"{server.base}/?token={CANARY}")
    with server.browser(made["id"], client_id="writer") as browser:
        browser.version = server.call("GET", address)["version"]
        browser.insert(f"{CANARY} typed")
        browser.take("edited")
        browser.socket.send(f'{{"type": "{CANARY}"}}')
        browser.socket.send(f"{CANARY} no JSON")
        browser.edit([99_999, [0, CANARY]])
        for _ in range(3):
            browser.take("problem")
    return server.request("GET", "/metrics").text


def test_I1_the_users_words_are_in_no_log_and_no_figure(tmp_path, nursery):
    with ServerProcess(nursery, tmp_path, TIDELINE_WORKER_URL="") as server:
        figures = use_everything(server)
        assert server.stop() == 0

    log = server.read_log()
    assert "run.ended" in log
    assert "web.answered" in log
    assert CANARY not in log
    assert CANARY not in figures
    assert "zqbrief" not in log + figures
    for file in tmp_path.iterdir():
        holds = CANARY.encode() in file.read_bytes()
        assert holds == (file.name.startswith("tideline.db") and file.suffix != ".lock"), file
    with closing(sqlite3.connect(tmp_path / "tideline.db")) as database:
        for table in ("runs", "passes", "ops", "purges"):
            rows = database.execute(f"SELECT * FROM {table}").fetchall()
            assert CANARY not in str(rows), table
