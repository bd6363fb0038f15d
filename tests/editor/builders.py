"""Builders of documents for tests: spans are written into the text with signs.

    «locked»  ‹region›  ⟦field⟧      e.g. "Give «5 mg» of ‹[___]› daily"

Ids are lock1, region1, field1, ... in the order of their beginnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from editor.document.changes import ChangeSet, replace
from editor.document.revisions import RevisionDraft, seal_revision
from editor.document.spans import Span, SpanKind
from editor.document.state import DocumentState
from editor.document.text import text_hash
from editor.hub.commands import Command
from editor.hub.effects import Decision, Notice
from editor.hub.session import decide
from engine.contract import (
    Alternative,
    JobFinished,
    RegionResult,
    RunCard,
    StopReason,
    Timings,
)

NOW_S = 1_750_000_000.0
LIMIT = 10_000

_OPEN: Mapping[str, SpanKind] = {"«": "locked", "‹": "region", "⟦": "field"}
_CLOSE = {"»": "locked", "›": "region", "⟧": "field"}
_NAME = {"locked": "lock", "region": "region", "field": "field"}


def marked(markup: str) -> tuple[str, tuple[Span, ...]]:
    """Return the text and the spans of a markup."""
    text, spans = "", []
    opened: list[tuple[SpanKind, int, str]] = []
    numbers = {kind: count(1) for kind in _NAME}
    for sign in markup:
        if sign in _OPEN:
            kind = _OPEN[sign]
            opened.append((kind, len(text), f"{_NAME[kind]}{next(numbers[kind])}"))
        elif sign in _CLOSE:
            kind, start, name = next(o for o in reversed(opened) if o[0] == _CLOSE[sign])
            opened.remove((kind, start, name))
            spans.append(Span(name, kind, start, len(text)))
        else:
            text += sign
    return text, tuple(sorted(spans, key=lambda span: (span.start, span.end, span.id)))


def show(text: str, spans: Iterable[Span]) -> str:
    """Return the markup of a text and its spans, the inverse of `marked`."""
    opening = {kind: sign for sign, kind in _OPEN.items()}
    closing = {kind: sign for sign, kind in _CLOSE.items()}
    signs: list[tuple[int, int, str]] = []
    for span in spans:
        size = span.end - span.start
        signs.append((span.start, 10_000 - size, opening[span.kind]))
        signs.append((span.end, size - 10_000, closing[span.kind]))
    for offset, _, sign in sorted(signs, key=lambda one: (one[0], one[1]), reverse=True):
        text = text[:offset] + sign + text[offset:]
    return text


def new_ids(prefix: str = "id") -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{prefix}{next(numbers)}"


def a_document(
    markup: str, *, settings: Mapping[str, dict[str, Any]] | None = None
) -> DocumentState:
    """Return the state of a new document; `settings` is span id -> settings."""
    text, spans = marked(markup)
    draft = RevisionDraft(replace(0, 0, 0, text), 0, text_hash(text), "person", "Created")
    return DocumentState(
        id="document",
        title="",
        text=text,
        version=0,
        hash=text_hash(text),
        head=seal_revision(draft, parent=None, now_s=NOW_S),
        spans=tuple(
            Span(s.id, s.kind, s.start, s.end, (settings or {}).get(s.id, {})) for s in spans
        ),
    )


class Session:
    """Carries out one command after the other, as a room without a store would."""

    def __init__(self, state: DocumentState) -> None:
        self.state = state
        self.now_s = NOW_S
        self.new_id = new_ids()
        self.last = Decision(state)

    def do(self, command: Command) -> Decision:
        self.last = decide(self.state, command, now_s=self.now_s, new_id=self.new_id, limit=LIMIT)
        self.state = self.last.state
        return self.last

    @property
    def shown(self) -> str:
        return show(self.state.text, self.state.spans)

    @property
    def notices(self) -> list[Notice]:
        return [send.notice for send in self.last.send]

    def change(self, old: str, new: str) -> ChangeSet:
        """Return the change that puts `new` for the only occurrence of `old`."""
        assert self.state.text.count(old) == 1
        start = self.state.text.index(old)
        return replace(len(self.state.text), start, start + len(old), new)


def a_run_card() -> RunCard:
    return RunCard(
        model="scripted",
        model_sha256="",
        adapter="",
        adapter_sha256="",
        route="diffusion",
        sampler={},
        seed=0,
        precision="fp32",
        device="cpu",
        num_threads=1,
        canvas={},
        versions={},
        text_sha256="",
        result_sha256="",
    )


def finished(
    run_id: str,
    fillings: Mapping[str, Iterable[str]],
    *,
    stop_reason: StopReason = StopReason.SETTLED,
) -> JobFinished:
    """Return the engine's last word; `fillings` is region id -> alternatives, best first."""
    return JobFinished(
        job_id=run_id,
        regions=tuple(
            RegionResult(
                region_id=region_id,
                alternatives=tuple(Alternative(text, -1.0) for text in texts),
                confidence=0.9,
            )
            for region_id, texts in fillings.items()
        ),
        passes=4,
        tokens_per_pass=2.0,
        stop_reason=stop_reason,
        timings=Timings(complete_ms=120.0),
        run_card=a_run_card(),
    )
