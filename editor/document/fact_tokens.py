"""Finds what a text claims in figures and small words: numbers, doses, dates, negations, sides,
names and quotations.

Owns the patterns and the normal form of each fact, so that "five mg" and "5.0 mg" are one and
"5 mg" and "5 g" are two. Knows nothing of comparing. English first; a fact that is not found is
not compared, so these patterns rather find too much. Pure, and linear in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import regex  # type: ignore[import-untyped]  # ships no types

__all__ = ["Fact", "FactKind", "covered", "find_facts", "find_names"]

REACH_CODE_POINTS = 64  # of what stands before a word, to tell whether a sentence begins

FactKind = Literal["number", "dose", "date", "negation", "side", "name", "quote"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One claim at [start, end). Facts with the same `what` and `key` say the same."""

    what: FactKind
    key: str
    start: int
    end: int
    text: str


_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_DATE = regex.compile(
    r"(?i)(?<![\p{L}\p{N}])(?:"
    r"\d{4}-\d{1,2}(?:-\d{1,2})?(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})\.?,?(?: \d{{4}})?"
    rf"|(?:{_MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? \d{{4}})?"
    rf"|(?:{_MONTHS})\.?,? \d{{4}}"
    r"|\d{1,2}[:.]\d{2} ?[ap]\.?m\b\.?|\d{1,2}:\d{2}(?::\d{2})?|\d{1,2} ?[ap]\.?m\b\.?"
    rf"|{_DAYS}|today|tomorrow|tonight|yesterday|noon|midnight"
    r")(?![\p{L}\p{N}])"
)
_ONES = {
    "zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_WORDS = "|".join((*_TENS, *reversed(_ONES)))
_MAGNITUDES = "hundred|thousand|million|billion|trillion|dozen"
_UNITS = {
    "kg": "kg", "kilogram": "kg", "g": "g", "gram": "g", "mg": "mg", "milligram": "mg",
    "mcg": "ug", "ug": "ug", "µg": "ug", "μg": "ug", "microgram": "ug", "ng": "ng",
    "l": "l", "litre": "l", "liter": "l", "dl": "dl", "ml": "ml", "millilitre": "ml",
    "milliliter": "ml", "cc": "ml", "iu": "iu", "unit": "unit", "mmol": "mmol", "mol": "mol",
    "meq": "meq", "mmhg": "mmhg", "bpm": "bpm", "%": "%", "percent": "%", "‰": "‰", "°": "°",
    "°c": "°c", "°f": "°f", "tablet": "tablet", "capsule": "capsule", "drop": "drop",
    "puff": "puff", "dose": "dose", "pill": "pill",
}  # fmt: skip
# Units of what is no dose: the number is one all the same, and the unit belongs to it.
_MEASURES = {
    "km": "km", "m": "m", "cm": "cm", "mm": "mm", "mile": "mile", "second": "s", "sec": "s",
    "minute": "min", "min": "min", "hour": "h", "hr": "h", "h": "h", "day": "d", "week": "wk",
    "month": "mo", "year": "y", "time": "times", "dollar": "$", "euro": "€", "pound": "£",
}  # fmt: skip
_UNIT_WORDS = "|".join(
    regex.escape(name) for name in sorted((*_UNITS, *_MEASURES), key=len, reverse=True)
)
_NUMBER = regex.compile(
    r"(?i)(?<![\p{L}\p{N}.,])"
    r"(?P<sign>(?<![\p{L}\p{N}])[-−+±<>≤≥~≈])?(?P<currency>\p{Sc})?"
    r"(?P<value>\d+(?:[.,]\d+)*|\.\d+"
    rf"|(?:(?:{'|'.join(_TENS)})[- ](?:{'|'.join(_ONES)})|{_WORDS})(?!\p{{L}}))"
    rf"(?:[ -]?(?P<magnitude>(?:{_MAGNITUDES})s?|[kMbn]n?(?!\p{{L}}))(?!\p{{L}}))?"
    rf"(?:[ -]?(?P<unit>(?:{_UNIT_WORDS})(?:s(?!\p{{L}}))?(?:/[\p{{L}}]+)?)(?![\p{{L}}]))?"
    r"(?P<after>\p{Sc})?"
)
_FREQUENCY = regex.compile(
    r"(?i)(?<!\p{L})(?:once|twice|thrice|hourly|daily|nightly|weekly|monthly|yearly|annually|"
    r"b\.?i\.?d\.?|t\.?i\.?d\.?|q\.?i\.?d\.?|p\.?r\.?n\.?)(?!\p{L})"
)
_NEGATION = regex.compile(
    r"(?i)(?<![\p{L}])(?:no|not|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|"
    r"unable|absent|absence|negative|lacks?|lacking|den(?:y|ies|ied|ying)|"
    r"\p{L}+n['’]t)(?!\p{L})"
)
_NEGATION_KEYS = {"cannot": "not", "denies": "deny", "denied": "deny", "denying": "deny",
                  "lacks": "lack", "lacking": "lack", "absence": "absent"}  # fmt: skip
_SIDE = regex.compile(r"(?i)(?<!\p{L})(?:left|right|bilateral(?:ly)?|unilateral(?:ly)?)(?!\p{L})")
_QUOTE = regex.compile(r"“[^“”\n]{2,400}”|„[^„“\n]{2,400}“|«[^«»\n]{2,400}»|\"[^\"\n]{2,400}\"")
_NAME = regex.compile(r"\p{Lu}[\p{L}\p{M}\p{N}'’-]*(?:[ ](?=\p{Lu}))?")
_TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof", "st", "sir", "lady", "miss"))
_NO_NAME = frozenset((
    "i", "a", "an", "the", "it", "its", "he", "she", "we", "you", "they", "his", "her", "our",
    "your", "their", "my", "this", "that", "these", "those", "there", "here", "and", "but", "or",
    "if", "when", "then", "also", "in", "on", "at", "to", "for", "of", "as", "by", "with", "from",
    "no", "not", "yes", "ok", "left", "right", "never", "none", "without",
))  # fmt: skip


def find_facts(text: str) -> list[Fact]:
    """Return every fact but names, in the order of the text. A date's digits are no number."""
    dates = [_fact("date", found, _plain(found.group())) for found in _DATE.finditer(text)]
    facts = [*dates, *_numbers(text, covered(text, dates))]
    for found in _FREQUENCY.finditer(text):
        facts.append(_fact("dose", found, _plain(found.group()).replace(".", "")))
    for found in _NEGATION.finditer(text):
        word = found.group().lower().replace("’", "'")
        key = "not" if word.endswith("n't") else _NEGATION_KEYS.get(word, word)
        facts.append(_fact("negation", found, key))
    for found in _SIDE.finditer(text):
        facts.append(_fact("side", found, found.group().lower().removesuffix("ly")))
    facts += [_fact("quote", found, found.group()) for found in _QUOTE.finditer(text)]
    return sorted(facts, key=lambda fact: (fact.start, fact.end))


def find_names(text: str, *, begins_sentence: bool) -> list[Fact]:
    """Return what reads like names: capitals where grammar asks for none, one fact per word group.

    A single capitalised word at the beginning of a sentence is left out. `begins_sentence` says
    whether the text itself stands there.
    """
    names: list[Fact] = []
    dates = bytearray(len(text))
    for found in _DATE.finditer(text):
        dates[found.start() : found.end()] = b"\x01" * len(found.group())
    for start, end in _name_groups(text):
        words = text[start:end].split()
        is_first = _begins_sentence(text, start, begins_sentence=begins_sentence)
        if is_first and words[0].lower() in _NO_NAME:
            start += len(words[0]) + 1
            words, is_first = words[1:], False
        is_sure = len(words) > 1 or (bool(words) and words[0].isupper() and len(words[0]) > 1)
        if not words or (is_first and not is_sure) or _is_no_name(words):
            continue
        if not dates[start]:
            names.append(Fact("name", text[start:end].casefold(), start, end, text[start:end]))
    return names


def _is_no_name(words: list[str]) -> bool:
    return all(word.lower().rstrip(".") in _NO_NAME | _TITLES for word in words)


def _name_groups(text: str) -> Iterator[tuple[int, int]]:
    start = end = -1
    for found in _NAME.finditer(text):
        if found.start() == end:
            end = found.end()
            continue
        if start >= 0:
            yield start, end - (text[end - 1] == " ")
        start, end = found.span()
    if start >= 0:
        yield start, end - (text[end - 1] == " ")


def _begins_sentence(text: str, start: int, *, begins_sentence: bool) -> bool:
    near = text[max(0, start - REACH_CODE_POINTS) : start]
    before = near.rstrip(" \t\"'“‘(*_#>-")
    if not before:
        return begins_sentence if len(near) == start else False
    if before[-1] == ".":  # "Dr. Smith" is one sentence
        return before.rstrip(".").split()[-1:] == [] or (
            before.rstrip(".").split()[-1].lower() not in _TITLES
        )
    return before[-1] in "!?:\n"


def covered(text: str, facts: Iterable[Fact]) -> bytearray:
    """Return one byte per code point: 1 where one of the facts stands."""
    mask = bytearray(len(text))
    for fact in facts:
        mask[fact.start : fact.end] = b"\x01" * (fact.end - fact.start)
    return mask


def _numbers(text: str, taken: bytearray) -> Iterator[Fact]:
    for found in _NUMBER.finditer(text):
        if any(taken[found.start() : found.end()]):
            continue
        unit = _unit(found["unit"])
        base = (unit or "").partition("/")[0]
        is_dose = base in _UNITS.values()
        parts = (
            {"−": "-", None: ""}.get(found["sign"], found["sign"]),
            found["currency"] or found["after"] or "",
            _value(found["value"]),
            _magnitude(found["magnitude"]),
            unit or "",
        )
        yield _fact("dose" if is_dose else "number", found, "|".join(str(one) for one in parts))


def _magnitude(given: str | None) -> str:
    if given is None:
        return ""
    return given if len(given) < 3 else given.lower().removesuffix("s")


def _value(written: str) -> str:
    """Return the number in one form: no leading or trailing zeros, thousands without commas."""
    word = regex.sub(r"[- ]+", " ", written.lower())
    if word[0].isalpha():
        return str(sum((_TENS | _ONES)[part] for part in word.split()))
    digits = written
    if regex.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif digits.count(",") == 1 and "." not in digits:
        digits = digits.replace(",", ".")
    if regex.fullmatch(r"\d*\.?\d+", digits) is None or not digits.isascii():
        return digits
    return f"{Decimal(digits).normalize():f}"


def _unit(written: str | None) -> str | None:
    if written is None:
        return None
    name, _, per = written.lower().partition("/")
    known = _UNITS | _MEASURES
    found = known.get(name) or known.get(name.removesuffix("s"), name)
    return f"{found}/{known.get(per, known.get(per.removesuffix('s'), per))}" if per else found


def _plain(text: str) -> str:
    """Return a date in one form of letters and blanks; its order stays as written."""
    return " ".join(regex.sub(r"[.,]|(?<=\d)(?:st|nd|rd|th)\b", " ", text.lower()).split())


def _fact(what: FactKind, found: regex.Match[str], key: str) -> Fact:
    return Fact(what, key, found.start(), found.end(), found.group())
