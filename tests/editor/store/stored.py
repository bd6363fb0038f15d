"""A document whose every decision is stored, as a room does, without a room."""

from __future__ import annotations

from editor.document.state import DocumentState
from editor.hub.commands import Command
from editor.hub.effects import Decision
from editor.hub.storing import store_decision
from editor.store.database import Database
from editor.store.documents import add_document, load_document
from tests.editor.builders import NOW_S, Session, a_document


class StoredSession(Session):
    """Stores after each decision; `loaded` is what a restart would find."""

    def __init__(self, database: Database, markup: str = "One two three.") -> None:
        super().__init__(a_document(markup))
        self.database = database
        database.write_now(lambda db: add_document(db, self.state, now_s=NOW_S))

    def do(self, command: Command) -> Decision:
        before = self.state
        decision = super().do(command)
        self.database.write_now(lambda db: store_decision(db, before, decision, now_s=self.now_s))
        return decision

    @property
    def loaded(self) -> DocumentState:
        return self.database.read_now(lambda db: load_document(db, self.state.id))
