"""Each rule against a plain statement of what it means, over random texts."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.constraints.automata import (
    Casing,
    Choices,
    Contains,
    Excludes,
    TooComplex,
    WordCount,
    accepts,
    every,
    shortest_fills,
)
from engine.constraints.numbers import Number
from engine.constraints.patterns import Pattern, UnsupportedPattern

TEXTS = st.text(st.sampled_from(list("aabBx é\n-.0197")), max_size=9)
FREE = ((False, False),)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_choices_are_exact(text, values):
    assert accepts(Choices(tuple(values)), text) == (text in values)


@given(TEXTS, st.text(st.sampled_from("ab"), min_size=1, max_size=4))
def test_a_phrase_is_contained_wherever_it_begins(text, phrase):
    assert accepts(Contains(phrase), text) == (phrase in text)


@given(TEXTS, st.text(st.sampled_from("abB"), min_size=1, max_size=4))
def test_a_phrase_is_excluded_in_any_case(text, phrase):
    assert accepts(Excludes(phrase), text) == (phrase.lower() not in text.lower())


@given(TEXTS, st.integers(0, 3), st.one_of(st.none(), st.integers(3, 5)))
def test_words_are_counted_as_split_counts_them(text, low, high):
    expected = len(text.split()) >= low and (high is None or len(text.split()) <= high)

    assert accepts(WordCount(low, high), text) == expected


@given(TEXTS)
def test_casing_is_that_of_the_string_methods(text):
    assert accepts(Casing("lower"), text) == (text == text.lower())
    assert accepts(Casing("upper"), text) == (text == text.upper())
    assert accepts(Casing("sentence"), text) == (text[:1] == text[:1].upper())


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", "é", "(?i:b)", r"[\d-]"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?"])),
        st.builds("(?:^{}|{}$)".format, inner, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=400, deadline=None)
@given(PATTERNS, TEXTS)
def test_a_pattern_means_what_fullmatch_means(pattern, text):
    # "$" also matches before a last line break in Python; here it is the end.
    expected = re.fullmatch(pattern.replace("$", r"\Z"), text) is not None

    assert accepts(Pattern(pattern), text) == expected


@settings(max_examples=200, deadline=None)
@given(PATTERNS)
def test_the_shortest_text_of_a_pattern_matches_it(pattern):
    fills = shortest_fills(Pattern(pattern), ("", ""), FREE)

    assert fills is None or re.fullmatch(pattern, fills[0])


@pytest.mark.parametrize(
    "pattern", ["(", r"(a)\1", "(?=a)a", "(?<!a)b", r"\ba", "(?m)^a", "a++", "(a{99}){99}"]
)
def test_what_an_automaton_cannot_do_is_refused_without_quoting_it(pattern):
    with pytest.raises(UnsupportedPattern) as refused:
        Pattern(pattern)

    assert pattern not in str(refused.value)


BOUNDS = st.one_of(st.none(), st.integers(-300, 300), st.sampled_from([0.5, -0.25, 99.95, 0.001]))


@settings(max_examples=500, deadline=None)
@given(BOUNDS, BOUNDS, st.sampled_from(["", "-", "+"]), st.decimals(0, 1000, places=2))
def test_numbers_are_compared_as_numbers_are(low, high, sign, magnitude):
    for text in {f"{sign}{magnitude:f}", f"{sign}{int(magnitude)}"}:
        value = float(text)
        expected = (low is None or value >= low) and (high is None or value <= high)
        if value == 0 and sign == "-":
            continue  # -0 counts as negative

        assert accepts(Number(low, high), text) == expected


@pytest.mark.parametrize("text", ["", "+", "007", "1.", ".5", "1.2.3", "1e3", "٣", "12 "])
def test_what_only_looks_like_a_number_is_none(text):
    assert not accepts(Number(), text)


def test_a_unit_follows_a_number_within_bounds():
    dose = Number(5, 10, ("mg", "ml", "%"))

    assert [
        t for t in ("5 mg", "10ml", "7.5 %", "5", "11 mg", "5 g", "5  mg") if accepts(dose, t)
    ] == [
        "5 mg",
        "10ml",
        "7.5 %",
    ]


def test_fixed_text_and_guards_are_part_of_what_must_be_met():
    rule = Pattern("[a-c]+-[0-9]+")

    assert shortest_fills(rule, ("ab", "7"), FREE) == ("-",)
    assert shortest_fills(rule, ("", "-", ""), (*FREE, *FREE)) == ("a", "0")
    assert shortest_fills(rule, ("a", ""), ((True, True),)) is None, "it would end in a digit"
    assert shortest_fills(rule, ("x", ""), FREE) is None


def test_a_product_that_is_empty_is_found_out():
    assert shortest_fills(every([Choices(("a", "b")), Contains("c")]), ("", ""), FREE) is None


def test_a_search_that_grows_without_end_is_given_up():
    growing = every([Pattern("(a|b)*a(a|b){14}"), Pattern("(a|b)*b(a|b){13}"), Contains("aab" * 9)])

    with pytest.raises(TooComplex):
        shortest_fills(growing, ("", ""), FREE)
