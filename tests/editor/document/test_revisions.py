"""Revisions hash onto their parents, and the first bad one is found."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace as changed

import pytest

from editor.document.changes import ChangeSet, replace
from editor.document.revisions import (
    Revision,
    RevisionDraft,
    RevisionMarks,
    chain_hash,
    format_time,
    seal_revision,
    verify_chain,
)
from editor.document.spans import Span
from editor.document.text import text_hash

TEXTS = ["one", "one two", "one 2", "zero one 2"]


def a_chain() -> list[Revision]:
    chain: list[Revision] = []
    before = ""
    for number, text in enumerate(TEXTS):
        draft = RevisionDraft(
            replace(len(before), 0, len(before), text), number, text_hash(text), "person", "Typed"
        )
        parent = chain[-1] if chain else None
        chain.append(seal_revision(draft, parent=parent, now_s=1_000.0 + number))
        before = text
    return chain


def test_sound_chain_has_no_fault() -> None:
    assert verify_chain(a_chain()) is None


def test_empty_chain_has_no_fault() -> None:
    assert verify_chain([]) is None


@pytest.mark.parametrize(
    ("alteration", "problem"),
    [
        ({"changes": ChangeSet.empty(7)}, "rebuilt text"),
        ({"changes": ChangeSet.empty(8)}, "does not fit"),
        ({"text_hash": "0" * 64}, "rebuilt text"),
        ({"author_kind": "model"}, "does not follow"),
        ({"summary": "Other"}, "does not follow"),
        ({"name": "Other"}, "does not follow"),
        ({"marks": RevisionMarks(spans=(Span("a", "locked", 0, 1),))}, "does not follow"),
        ({"marks": RevisionMarks(suggestions=("a",))}, "does not follow"),
        ({"form": 1}, "form 1"),
        ({"created_at": "2001-01-01T00:00:00.000Z"}, "does not follow"),
        ({"hash": "0" * 64}, "does not follow"),
        ({"parent": 0}, "parent is 0"),
        ({"n": 5}, "number 5 where 2 is due"),
        ({"version": 0}, "older"),
    ],
)
def test_first_bad_revision_is_reported(alteration: dict[str, object], problem: str) -> None:
    chain = a_chain()
    chain[2] = changed(chain[2], **alteration)  # type: ignore[arg-type]  # fields by name

    fault = verify_chain(chain)

    assert fault is not None
    assert fault.n == chain[2].n
    assert problem in fault.problem


def test_missing_revision_is_reported() -> None:
    chain = a_chain()

    fault = verify_chain([*chain[:1], *chain[2:]])

    assert fault is not None
    assert fault.n == 2


def test_replaced_first_revision_breaks_the_next() -> None:
    """A forger who recomputes one hash must recompute all that follow."""
    chain = a_chain()
    forged = RevisionDraft(chain[0].changes, 0, chain[0].text_hash, "import", "Created")
    chain[0] = seal_revision(forged, parent=None, now_s=1_000.0)

    fault = verify_chain(chain)

    assert fault is not None
    assert fault.n == 1


def test_fields_cannot_be_shifted_into_each_other() -> None:
    one = changed(a_chain()[0], summary="ab", name="c")
    other = changed(a_chain()[0], summary="a", name="bc")

    assert chain_hash("", one) != chain_hash("", other)


def test_hash_of_the_first_schema_still_holds() -> None:
    """Written down from the first release: its chains must stay verifiable."""
    revision = Revision(
        n=0,
        parent=None,
        version=0,
        author_kind="person",
        summary="not covered",
        created_at="2025-01-01T00:00:00.000Z",
        changes=replace(0, 0, 0, "one"),
        text_hash=text_hash("one"),
        hash="",
        form=1,
    )
    written = ["", "person", "2025-01-01T00:00:00.000Z", [[0, "one"]], text_hash("one")]
    expected = hashlib.sha256(json.dumps(written, separators=(",", ":")).encode()).hexdigest()

    assert chain_hash("", revision) == expected
    assert verify_chain([changed(revision, hash=expected)]) is None


def test_time_is_written_in_utc() -> None:
    assert format_time(0.25) == "1970-01-01T00:00:00.250Z"
