"""Begins a document: text cleaned, blanks turned into regions, revision 0 written.

Owns what a new document looks like, typed or imported. Knows no storage: the caller stores the
state's text, spans and head revision in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from editor.document.blanks import find_blanks
from editor.document.changes import replace
from editor.document.provenance import OriginRun, check_runs
from editor.document.revisions import RevisionDraft, RevisionMarks, seal_revision
from editor.document.spans import MAX_SPANS, Span, check_spans
from editor.document.state import DocumentState
from editor.document.text import check_text, normalise_line_ends, text_hash
from editor.errors import InvalidInput, InvalidOffset, TooLarge

__all__ = [
    "MAX_NAME_CODE_POINTS",
    "MAX_TITLE_CODE_POINTS",
    "NewDocument",
    "check_name",
    "check_title",
    "create_document",
]

MAX_TITLE_CODE_POINTS = 200
MAX_NAME_CODE_POINTS = 120


@dataclass(frozen=True, slots=True)
class NewDocument:
    """What a person or a file brings. `spans` count in `text` as given; None: find the blanks.

    `origins` say where each character came from, when a file knows; they count in `text` too.
    """

    text: str
    title: str = ""
    spans: Sequence[Span] | None = None
    author_kind: Literal["person", "import"] = "person"
    summary: str = "Created"
    origins: Sequence[OriginRun] | None = None


def create_document(
    new: NewDocument, *, now_s: float, new_id: Callable[[], str], limit: int
) -> DocumentState:
    """Return the first state of a document: version 0, revision 0, a fresh id.

    Line ends are normalised. `limit` is the greatest length in code points.
    Raises: InvalidText, TooLarge, InvalidOffset, SpanConflict, InvalidInput.
    """
    text = normalise_line_ends(new.text)
    check_text(text, limit=limit)
    title = check_title(new.title)
    if new.spans is None:
        spans = spans_for_blanks(text, new_id=new_id)
    else:
        spans = tuple(new.spans)
        if spans and len(text) != len(new.text):
            raise InvalidOffset('spans need a text whose line ends are "\\n"; this has "\\r"')
        check_spans(text, spans)
    hash_of_text = text_hash(text)
    draft = RevisionDraft(
        replace(0, 0, 0, text),
        0,
        hash_of_text,
        new.author_kind,
        new.summary,
        marks=RevisionMarks(spans=spans, origins=_first_origins(new, text, spans)),
    )
    return DocumentState(
        id=new_id(),
        title=title,
        text=text,
        version=0,
        hash=hash_of_text,
        head=seal_revision(draft, parent=None, now_s=now_s),
        spans=spans,
    )


def _first_origins(new: NewDocument, text: str, spans: Sequence[Span]) -> tuple[OriginRun, ...]:
    """Return where the first text came from: as the file says, else one origin for all of it."""
    if new.origins is not None:
        check_runs(new.origins, len(text))
        return tuple(new.origins)
    if not text:
        return ()
    if new.author_kind == "import":
        return (OriginRun(0, len(text), "import"),)
    is_template = any(span.kind != "locked" for span in spans)
    return (OriginRun(0, len(text), "template" if is_template else "typed"),)


def check_title(title: str) -> str:
    """Return the title as one line without outer spaces. Raises: InvalidText, TooLarge."""
    title = " ".join(title.split())
    if len(title) > MAX_TITLE_CODE_POINTS:
        raise TooLarge(
            f"the title has {len(title)} code points; the limit is {MAX_TITLE_CODE_POINTS}"
        )
    check_text(title, limit=MAX_TITLE_CODE_POINTS)
    return title


def check_name(name: str) -> str:
    """Return a version's name as one line without outer spaces. Raises: InvalidInput."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= MAX_NAME_CODE_POINTS:
        raise InvalidInput(
            f"a version's name has 1 to {MAX_NAME_CODE_POINTS} characters, not {len(name)}"
        )
    check_text(name, limit=MAX_NAME_CODE_POINTS)
    return name


def spans_for_blanks(text: str, *, new_id: Callable[[], str]) -> tuple[Span, ...]:
    """Return a region for every blank, the first 2,000, with settings {"blank": true, "name"?}."""
    return tuple(
        Span(
            id=new_id(),
            kind="region",
            start=blank.start,
            end=blank.end,
            settings={"blank": True, **({"name": blank.name} if blank.name else {})},
        )
        for blank in find_blanks(text)[:MAX_SPANS]
    )
