"""The authority of one document, as a pure function: state and command in, decision out.

Owns every rule of section 5 of the design: order of edits, locks, who may refine what, what an
edit does to runs and suggestions, when a revision is written. Knows no socket, database, clock
or engine; time and ids are passed in. A refused command raises and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from editor.document.state import DocumentState
from editor.hub.commands import Command
from editor.hub.effects import Decision

__all__ = ["QUIET_S", "decide"]

QUIET_S = 20.0


def decide(
    state: DocumentState, command: Command, *, now_s: float, new_id: Callable[[], str], limit: int
) -> Decision:
    """Return what a command leads to.

    `now_s` is seconds since 1970, `limit` the greatest length of a text in code points.
    Raises: EditorError when the command is refused; then nothing has changed. A StaleVersion
    carries both versions, so that the sender can be given the edits it has not seen.
    """
    raise NotImplementedError
