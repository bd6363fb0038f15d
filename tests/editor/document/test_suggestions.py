"""What accepting puts into a text, and what stays."""

from __future__ import annotations

import pytest

from editor.document.suggestions import (
    Alternative,
    Suggestion,
    choose_text,
    is_placeable,
    place,
)
from editor.errors import AlreadyDecided, InvalidInput, LockViolation
from tests.editor.builders import a_document, marked, show


def placed(markup: str, fillings: dict[str, str]) -> str:
    text, spans = marked(markup)
    placement = place(text, spans, fillings)
    return show(placement.changes.apply(text), placement.spans)


@pytest.mark.parametrize(
    ("before", "fillings", "after"),
    [
        ("a ‹[___]› b", {"region1": "xyz"}, "a ‹xyz› b"),
        ("‹[___]›‹[___]›", {"region1": "x", "region2": "yz"}, "‹x›‹yz›"),
        ("‹a› ‹b› ‹c›", {"region1": "xx", "region3": "zz"}, "‹xx› ‹b› ‹zz›"),
        ("‹a›‹b›", {"region1": "xx"}, "‹xx›‹b›"),
        ("‹a›‹b›", {"region2": "xx"}, "‹a›‹xx›"),
        ("a ‹b› «c» ‹d›", {"region1": "xx", "region2": "yy"}, "a ‹xx› «c» ‹yy›"),
        ("⟦a⟧ b", {"field1": "xx"}, "⟦xx⟧ b"),
        ("a‹b›c", {"region1": ""}, "ac"),
        ("‹take «5» mg›", {"region1": "give 5 ml now"}, "‹give «5» ml now›"),
        ("‹«5» mg›", {"region1": "5 ml"}, "‹«5» ml›"),
        ("‹give «5»›", {"region1": "take 5"}, "‹take «5»›"),
        ("‹a «5» b «6» c›", {"region1": "5 and 6 d"}, "‹«5» and «6» d›"),
        ("‹take «5» mg›", {"region1": "15 or 5 mg"}, "‹15 or «5» mg›"),
        ("‹x«5»mg›", {"region1": "x5mg"}, "‹x«5»mg›"),
    ],
)
def test_filling_is_put_in_place(before: str, fillings: dict[str, str], after: str) -> None:
    assert placed(before, fillings) == after


@pytest.mark.parametrize(
    ("markup", "filling"),
    [
        ("‹take «5» mg›", "take 6 mg"),
        ("‹take «5» mg›", "take 15 mg"),
        ("‹a «5» b «6» c›", "6 then 5"),
        ("«5»‹ mg›", "mg"),  # joins onto the lock beside the region
    ],
)
def test_filling_without_its_locks_is_refused(markup: str, filling: str) -> None:
    with pytest.raises(LockViolation):
        placed(markup, {"region1": filling})


def test_filled_blank_is_a_plain_region_that_keeps_its_name() -> None:
    state = a_document("a ‹{{x}}›", settings={"region1": {"blank": True, "name": "x"}})

    placement = place(state.text, state.spans, {"region1": "y"})

    assert placement.spans[0].settings == {"blank": False, "name": "x"}


def test_region_filled_with_nothing_is_reported_as_removed() -> None:
    text, spans = marked("a‹b›c")

    assert [span.id for span in place(text, spans, {"region1": ""}).removed] == ["region1"]


def a_suggestion(**changes: object) -> Suggestion:
    fields: dict[str, object] = {
        "id": "s",
        "run_id": "r",
        "span_id": "region1",
        "base_version": 0,
        "original": "b",
        "alternatives": (Alternative("x", -1.0), Alternative("y", -2.0)),
        "confidence": 0.5,
    }
    return Suggestion(**{**fields, **changes})  # type: ignore[arg-type]  # fields by name


def test_alternative_is_chosen_by_index_and_an_edited_text_wins() -> None:
    assert choose_text(a_suggestion(), alternative=1) == "y"
    assert choose_text(a_suggestion(), alternative=1, text="z") == "z"


@pytest.mark.parametrize("alternative", [-1, 2])
def test_alternative_outside_is_refused(alternative: int) -> None:
    with pytest.raises(InvalidInput, match="allowed is 0 to 1"):
        choose_text(a_suggestion(), alternative=alternative)


@pytest.mark.parametrize("state", ["accepted", "rejected", "void"])
def test_decided_suggestion_is_not_chosen_again(state: str) -> None:
    with pytest.raises(AlreadyDecided, match=state):
        choose_text(a_suggestion(state=state))


def test_placeable_only_while_the_region_holds_the_original() -> None:
    text, spans = marked("a‹b›c")

    assert is_placeable(a_suggestion(), text, spans[0])
    assert not is_placeable(a_suggestion(), "axc", spans[0])
    assert not is_placeable(a_suggestion(), text, None)
