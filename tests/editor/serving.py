"""A real server in its own process, without the shell, for tests that restart or kill it.

The imports take longer than everything else, so one process imports (`Nursery`) and forks a
server for each start. Waiting is on events: the printed link, an answer, the end of a process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import httpx
from websockets.sync.client import ClientConnection, connect

ACCESS_TOKEN = "test-token"
HEADERS = {"Authorization": f"Bearer {ACCESS_TOKEN}"}
NO_WORKER = "ws://127.0.0.1:9"  # nobody listens: spares the start of a worker
RECEIVE_S = 30
LINK = re.compile(r"http://\S+?(?=/\?token=)")


class Nursery:
    """The process that has imported everything; its children are the servers."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.editor.serving"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def fork(self, settings: dict[str, str], log_file: Path) -> tuple[int, str]:
        """Return (process id, address) of a server that listens."""
        self._ask({"settings": settings, "log": str(log_file)})
        line = self._read()
        while not line.strip().isdecimal():  # what an earlier server printed behind its link
            assert line != "", "the process that forks servers is gone"
            line = self._read()
        pid, line = int(line), self._read()
        while not (found := LINK.search(line)):
            assert not line.startswith("over"), f"the server ended: {log_file.read_text()}"
            assert line != "", "the process that forks servers is gone"
            line = self._read()
        return pid, found[0]

    def wait(self, pid: int) -> int:
        """Return the exit code of a server, negative for a signal."""
        self._ask({"wait": pid})
        line = self._read()
        while not (found := re.fullmatch(r"ended (-?\d+)\n", line)):
            assert line != "", "the process that forks servers is gone"
            line = self._read()
        return int(found[1])

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)
        self._process.stdout.close()

    def _ask(self, order: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


class ServerProcess:
    """Use it as a context manager; `base` is its address, `log_file` gets its log."""

    def __init__(self, nursery: Nursery, data_dir: Path, **settings: str) -> None:
        self.log_file = data_dir / "server.log"
        self._nursery = nursery
        self._settings = {
            "TIDELINE_DATA_DIR": str(data_dir),
            "TIDELINE_PORT": "0",
            "TIDELINE_ACCESS_TOKEN": ACCESS_TOKEN,
            "TIDELINE_DENOISER": "scripted",
            "TIDELINE_WORKER_URL": NO_WORKER,
            **settings,
        }
        self._pid = 0

    def start(self) -> None:
        self._pid, self.base = self._nursery.fork(self._settings, self.log_file)

    def kill(self) -> None:
        """As `kill -9`: nothing is told, flushed or closed."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """As Ctrl+C or a service manager does; return the exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> int:
        os.kill(self._pid, how)
        pid, self._pid = self._pid, 0
        return self._nursery.wait(pid)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._pid:
            self.kill()

    def request(self, method: str, path: str, **body: Any) -> httpx.Response:
        headers = {**HEADERS, **body.pop("headers", {})}
        return httpx.request(method, self.base + path, headers=headers, timeout=30, **body)

    def call(self, method: str, path: str, **body: Any) -> Any:
        """Return the JSON of a call that must succeed."""
        response = self.request(method, path, **body)
        assert response.is_success, response.text
        return response.json() if response.content else None

    def connect(self, document_id: str, query: str = "", **options: Any) -> connect:
        address = f"{self.base.replace('http', 'ws', 1)}/ws/documents/{document_id}{query}"
        headers = options.pop("headers", HEADERS)
        return connect(address, additional_headers=headers, compression=None, proxy=None, **options)

    def browser(self, document_id: str, query: str = "", **hello: Any) -> Browser:
        """Return a connection that has said hello and holds what it was welcomed with."""
        return Browser(self.connect(document_id, query), **hello)

    def create(self, text: str, **more: Any) -> dict[str, Any]:
        document: dict[str, Any] = self.call("POST", "/api/documents", json={"text": text, **more})
        return document

    def refine(self, document_id: str, **body: Any) -> dict[str, Any]:
        """Return a run that has ended."""
        with self.browser(document_id) as browser:
            asked = self.call("POST", f"/api/documents/{document_id}/refine", json=body)
            browser.take("run_ended", run_id=asked["run_id"])
        run: dict[str, Any] = self.call("GET", f"/api/runs/{asked['run_id']}")
        return run

    def read_log(self) -> str:
        return self.log_file.read_text()


class Browser:
    """A websocket that has said hello; `text` and `version` follow the frames it takes."""

    def __init__(self, opening: connect, client_id: str = "test", **hello: Any) -> None:
        self._open = ExitStack()
        self.socket: ClientConnection = self._open.enter_context(opening)
        self.client_id = client_id
        self.num_ops = 0
        self.send({"type": "hello", "client_id": client_id, **hello})
        self.welcome = self.take("welcome")
        self.text: str = self.welcome["text"] or ""
        self.version: int = self.welcome["version"]
        self.seq: int = self.welcome["seq"]

    def send(self, message: dict[str, Any]) -> None:
        self.socket.send(json.dumps(message))

    def receive(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(self.socket.recv(timeout=RECEIVE_S))
        if frame["type"] == "edited":
            for update in frame["updates"]:
                self.text = apply_in_utf16(self.text, update["changes"])
            self.version = frame["version"]
        self.seq = frame.get("seq", getattr(self, "seq", 0))
        return frame

    def take(self, kind: str, **expected: Any) -> dict[str, Any]:
        """Return the next frame of this type with these values; others are passed over."""
        while True:
            frame = self.receive()
            if frame["type"] == kind and expected.items() <= frame.items():
                return frame

    def insert(self, words: str, *, at: int | None = None) -> str:
        """Send an insertion at an offset in UTF-16 (default: the end); return its op id."""
        length = len(self.text.encode("utf-16-le")) // 2
        at = length if at is None else at
        changes = [at, [0, *words.split("\n")], length - at]
        return self.edit([part for part in changes if part != 0])

    def edit(self, changes: list[Any]) -> str:
        self.num_ops += 1
        op_id = f"{self.client_id}.{self.num_ops}"
        update = {"clientID": self.client_id, "changes": changes}
        self.send({"type": "edit", "op_id": op_id, "version": self.version, "updates": [update]})
        return op_id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def apply_in_utf16(text: str, changes: list[Any]) -> str:
    """Apply CodeMirror's JSON as a browser does: a twin that shares no code with the server."""
    old = text.encode("utf-16-le")
    new, at = b"", 0
    for part in changes:
        if isinstance(part, int):
            new += old[2 * at : 2 * (at + part)]
            at += part
        else:
            new += "\n".join(part[1:]).encode("utf-16-le")
            at += part[0]
    assert 2 * at == len(old)
    return new.decode("utf-16-le")


def main() -> None:
    """Import, then fork a server for each order on stdin; never a thread in this process."""
    from editor import app_factory
    from editor.logging import configure_logging
    from editor.settings import EditorSettings
    from engine.settings import EngineSettings

    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            print(f"ended {os.waitstatus_to_exitcode(status)}", flush=True)
            continue
        if os.fork():
            continue
        print(os.getpid(), flush=True)
        os.dup2(os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        os.environ.update({name: value for name, value in order["settings"].items() if value})
        configure_logging("json")
        code = app_factory.serve(EditorSettings(), EngineSettings(), shell=False)
        print(f"over {code}", flush=True)
        os._exit(code)


if __name__ == "__main__":
    main()
