"""Facts of a text and of a filling for it are compared, not their words (B6 to B10)."""

from __future__ import annotations

import pytest

from editor.document.facts import ProtectedPhrase, compare_facts, read_protected
from editor.errors import InvalidInput


def flags(before: str, after: str, **more: object) -> list[tuple[str, str, str | None, str | None]]:
    found = compare_facts(before, after, **more)  # type: ignore[arg-type]  # by name
    return [(flag.kind, flag.what, flag.before, flag.after) for flag in found]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Take 5 mg daily", "Take 5 g daily", ("changed", "dose", "5 mg", "5 g")),
        ("no fever", "known fever", ("dropped", "negation", "no", None)),
        ("the left knee", "the right knee", ("changed", "side", "left", "right")),
        ("-5 degrees", "5 degrees", ("changed", "number", "-5", "5")),
        ("5 million people", "5 thousand people", ("changed", "number", "5 million", "5 thousand")),
        ("It was $5.", "It was €5.", ("changed", "number", "$5", "€5")),
        ("5 mg/kg", "5 mg", ("changed", "dose", "5 mg/kg", "5 mg")),
        ("5%", "5", ("changed", "dose", "5%", "5")),
        ("5 mg", "5", ("changed", "dose", "5 mg", "5")),
        ("once daily", "twice daily", ("changed", "dose", "once", "twice")),
        ("at 14:30", "at 15:30", ("changed", "date", "14:30", "15:30")),
        ("on 12 March 2024", "then", ("dropped", "date", "12 March 2024", None)),
        ("She slept.", "She never slept.", ("added", "negation", None, "never")),
        ("He can do it", "He can't do it", ("added", "negation", None, "can't")),
    ],
)
def test_B6_B7_a_changed_fact_is_flagged(
    before: str, after: str, expected: tuple[str, str, str | None, str | None]
) -> None:
    assert flags(before, after) == [expected]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("five mg", "5.0 mg"),
        ("1,000 people came", "Some 1000 people came"),
        ("He didn't take it", "He did not take it"),
        ("twenty-five tablets", "25 tablets"),
        ("5 milligrams", "5mg"),
        ("The weather was fine in the morning.", "In the morning the weather was fine."),
        ("Anna Meyer came to Berlin.", "To Berlin came Anna Meyer."),
    ],
)
def test_B7_another_wording_of_the_same_facts_is_not_flagged(before: str, after: str) -> None:
    assert flags(before, after) == []


def test_B8_what_a_blank_is_filled_with_is_new() -> None:
    assert flags("[___]", "Anna Meyer on 12 March 2024") == [
        ("added", "date", None, "12 March 2024"),
        ("added", "name", None, "Anna Meyer"),
    ]


def test_B8_values_that_were_given_are_not_new() -> None:
    assert flags("___", "seen by Jones on 2024-01-31", allowed="Jones\n2024-01-31") == []


@pytest.mark.parametrize(
    ("left", "expected"), [("He met ", [("added", "name", None, "Jones")]), ("It rained. ", [])]
)
def test_first_word_of_a_sentence_is_no_name(
    left: str, expected: list[tuple[str, str, str | None, str | None]]
) -> None:
    assert flags("[___]", "Jones was there", left=left) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            "Anna got 5 mg and Ben got 10 mg",
            "Anna got 10 mg and Ben got 5 mg",
            [
                ("swapped", "dose", "anna: 5 mg", "ben: 5 mg"),
                ("swapped", "dose", "ben: 10 mg", "anna: 10 mg"),
            ],
        ),
        (
            "systolic 120 and diastolic 80",
            "systolic 80 and diastolic 120",
            [
                ("swapped", "number", "systolic: 120", "diastolic: 120"),
                ("swapped", "number", "diastolic: 80", "systolic: 80"),
            ],
        ),
        ("no fever, cough", "fever, no cough", [("swapped", "negation", "fever: no", "cough: no")]),
        (
            "left knee and right hip",
            "left hip and right knee",
            [
                ("swapped", "side", "knee: left", "hip: left"),
                ("swapped", "side", "hip: right", "knee: right"),
            ],
        ),
    ],
)
def test_B9_values_that_changed_places_are_flagged(
    before: str, after: str, expected: list[tuple[str, str, str | None, str | None]]
) -> None:
    assert flags(before, after) == expected


def test_B9_sentences_that_changed_places_are_not_flagged() -> None:
    assert flags("Anna got 5 mg and Ben 10 mg", "Ben got 10 mg and Anna 5 mg") == []


def test_B10_quotes_are_compared_byte_for_byte() -> None:
    assert flags("He said “we go” then", "He said “We go” then") == [
        ("changed", "quote", "“we go”", "“We go”")
    ]


@pytest.mark.parametrize(("match_case", "expected"), [(True, 1), (False, 0)])
def test_B10_protected_phrases_stay_verbatim(match_case: bool, expected: int) -> None:
    phrase = ProtectedPhrase("Acme Widget", match_case)

    found = flags("Our Acme Widget is new", "Our acme widget is new", protected=[phrase])

    assert [one for one in found if one[1] == "quote"] == [
        ("dropped", "quote", "Acme Widget", None)
    ] * expected


@pytest.mark.parametrize("raw", [1, "text", [""], [{"text": 1}], [{"text": "a", "match_case": 1}]])
def test_unusable_protected_phrases_are_refused(raw: object) -> None:
    with pytest.raises(InvalidInput, match="protected"):
        read_protected(raw)


def test_flags_are_bounded() -> None:
    numbers = " ".join(str(number) for number in range(100, 300))

    assert len(compare_facts("", numbers)) == 32
