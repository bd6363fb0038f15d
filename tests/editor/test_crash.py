"""A13: what was acknowledged is there after kill -9, at whatever point it came."""

from __future__ import annotations

import contextlib
import json
import random
from dataclasses import dataclass, field

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from editor.maintenance import verify_store
from editor.settings import EditorSettings
from tests.editor.serving import ServerProcess

NUM_KILLS = 20
WINDOW = 6  # edits on their way without an answer, so that kills fall between their steps
RECEIVE_S = 20


@dataclass
class Typist:
    """Types numbered words at the end of a document and notes which were acknowledged."""

    document_id: str
    sent: list[str] = field(default_factory=list)
    num_acknowledged: int = 0

    def check(self, text: str) -> None:
        """Every acknowledged word is in `text`, in order; nothing else but words sent."""
        words = text.splitlines(keepends=True)
        assert len(words) >= self.num_acknowledged
        assert words == self.sent[: len(words)]
        self.sent = words
        self.num_acknowledged = len(words)

    def type_until(self, server: ServerProcess, num_words: int) -> None:
        """Type; kill the server right after the acknowledgement of `num_words` more words."""
        goal = self.num_acknowledged + num_words
        with server.connect(self.document_id) as socket, contextlib.suppress(ConnectionClosed):
            socket.send(json.dumps({"type": "hello", "client_id": "typist"}))
            welcome = json.loads(socket.recv(timeout=RECEIVE_S))
            assert welcome["text"] == "".join(self.sent)
            while self.num_acknowledged < goal:
                while len(self.sent) < self.num_acknowledged + WINDOW:
                    self._send(socket)
                frame = json.loads(socket.recv(timeout=RECEIVE_S))
                if frame["type"] == "edited":
                    self.num_acknowledged = frame["version"]
            server.kill()

    def _send(self, socket: ClientConnection) -> None:
        word = f"word {len(self.sent)} 😀é\n"
        length = len("".join(self.sent).encode("utf-16-le")) // 2
        changes = [[0, word[:-1], ""]] if length == 0 else [length, [0, word[:-1], ""]]
        version = len(self.sent)
        socket.send(
            json.dumps(
                {
                    "type": "edit",
                    "op_id": f"op{version}.{self.num_acknowledged}",
                    "version": version,
                    "updates": [{"clientID": "typist", "changes": changes}],
                }
            )
        )
        self.sent.append(word)


def test_A13_every_acknowledged_edit_survives_kill_9(tmp_path, nursery):
    rng = random.Random(13)
    server = ServerProcess(nursery, tmp_path)
    with server:
        typist = Typist(server.call("POST", "/api/documents", json={"text": ""})["id"])
        for _ in range(NUM_KILLS):
            typist.type_until(server, num_words=rng.randint(1, 25))
            server.start()
            document = server.call("GET", f"/api/documents/{typist.document_id}")
            assert document["version"] >= typist.num_acknowledged
            typist.check(document["text"])
        assert server.stop() == 0

    report = verify_store(EditorSettings(data_dir=tmp_path))

    assert report.is_sound, report.faults
    assert report.num_edits == len(typist.sent) >= NUM_KILLS
