"""Compares the facts of a text with those of a filling for it (BEHAVIOURS B6 to B10).

Owns what counts as changed, dropped, added or swapped. A flag asks a person to look; it refuses
nothing, and a text without flags is not thereby true. Pure; flags hold the user's words, so
they go where the texts go and never into a log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import regex  # type: ignore[import-untyped]  # ships no types

from editor.document.blanks import is_blank_marker
from editor.document.fact_tokens import Fact, FactKind, covered, find_facts, find_names
from editor.errors import InvalidInput

__all__ = ["FactFlag", "FlagKind", "ProtectedPhrase", "compare_facts", "read_protected"]

FlagKind = Literal["changed", "dropped", "added", "swapped"]

MAX_FLAGS = 32
MAX_PROTECTED = 64
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’-]+")
_STOP = regex.compile(r"[,.;:!?\n]|\bbut\b")
_EMPTY_WORDS = frozenset((
    "the", "and", "for", "with", "was", "were", "are", "has", "had", "have", "that", "this",
    "then", "than", "from", "but", "not", "nor", "one", "she", "his", "her", "him", "its",
    "our", "your", "their", "they", "you", "who", "which", "about", "into", "over",
))  # fmt: skip
_SAME: Mapping[FactKind, int] = {"number": 0, "dose": 0}  # a dose that loses its unit is a number


@dataclass(frozen=True, slots=True)
class FactFlag:
    """One fact that differs; `before` is None when it was added, `after` when it was dropped."""

    kind: FlagKind
    what: FactKind
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class ProtectedPhrase:
    """Words that must stay as they are, as often as they stand there."""

    text: str
    match_case: bool = True

    def count(self, text: str) -> int:
        """Return how often the phrase stands in a text."""
        if self.match_case:
            return text.count(self.text)
        return text.casefold().count(self.text.casefold())


def read_protected(raw: object) -> tuple[ProtectedPhrase, ...]:
    """Read a list of phrases, each a text or {"text", "match_case"?}. Raises: InvalidInput."""
    if not isinstance(raw, Sequence) or isinstance(raw, str | bytes) or len(raw) > MAX_PROTECTED:
        raise InvalidInput(f"protected is a list of at most {MAX_PROTECTED} phrases")
    phrases: list[ProtectedPhrase] = []
    for index, item in enumerate(raw):
        given: Any = {"text": item} if isinstance(item, str) else item
        text = given.get("text") if isinstance(given, Mapping) else None
        match_case = given.get("match_case", True) if isinstance(given, Mapping) else True
        if not isinstance(text, str) or not text.strip() or not isinstance(match_case, bool):
            raise InvalidInput(
                f"protected phrase {index} must be a text that is not empty, "
                'or {"text", "match_case"}'
            )
        phrases.append(ProtectedPhrase(text, match_case))
    return tuple(phrases)


def compare_facts(
    before: str,
    after: str,
    *,
    left: str = "",
    protected: Iterable[ProtectedPhrase] = (),
    allowed: str = "",
) -> tuple[FactFlag, ...]:
    """Return how the facts of a filling differ from those of the text it replaces.

    A blank marker says nothing, so every fact of its filling is added. `left` is what stands
    before the region. A fact that stands in `allowed` (template values, a glossary, the brief) is
    not new. At most 32 flags come back; doses, numbers and dates first.
    """
    before = "" if is_blank_marker(before) else before
    begins = not left.strip() or left.rstrip(" \"'“‘(")[-1:] in (".", "!", "?", ":", "\n")
    old, new = find_facts(before), find_facts(after)
    old_names = find_names(before, begins_sentence=begins)
    new_names = find_names(after, begins_sentence=begins)
    known = find_facts(allowed)
    flags = [
        *_differences(old, new, known),
        *_name_differences((old_names, before), (new_names, after), allowed),
        *_swaps((old, before), (new, after)),
        *_missing(before, after, protected),
    ]
    return tuple(flags[:MAX_FLAGS])


def _group(what: FactKind) -> FactKind:
    return "dose" if what in _SAME else what


def _differences(
    old: Sequence[Fact], new: Sequence[Fact], known: Sequence[Fact]
) -> Iterable[FactFlag]:
    kinds: tuple[FactKind, ...] = ("dose", "date", "negation", "side", "quote")
    allowed = {(fact.what, fact.key) for fact in known}
    for kind in kinds:
        of_old = [fact for fact in old if _group(fact.what) == kind]
        of_new = [fact for fact in new if _group(fact.what) == kind]
        dropped = _surplus(of_old, of_new)
        added = [fact for fact in _surplus(of_new, of_old) if (fact.what, fact.key) not in allowed]
        yield from _paired(dropped, added)


def _surplus(facts: Sequence[Fact], others: Sequence[Fact]) -> list[Fact]:
    """Return the facts that stand more often here than there: the last ones of each."""
    left = Counter((fact.what, fact.key) for fact in others)
    surplus: list[Fact] = []
    for fact in facts:
        key = (fact.what, fact.key)
        if left[key]:
            left[key] -= 1
        else:
            surplus.append(fact)
    return surplus


def _paired(dropped: Sequence[Fact], added: Sequence[Fact]) -> Iterable[FactFlag]:
    """Say "changed" of what was dropped and added in turn, and the rest one by one."""
    for one, other in zip(dropped, added, strict=False):
        what = "dose" if "dose" in (one.what, other.what) else one.what
        yield FactFlag("changed", what, one.text, other.text)
    for one in dropped[len(added) :]:
        yield FactFlag("dropped", one.what, one.text, None)
    for other in added[len(dropped) :]:
        yield FactFlag("added", other.what, None, other.text)


def _name_differences(
    old: tuple[Sequence[Fact], str], new: tuple[Sequence[Fact], str], allowed: str
) -> Iterable[FactFlag]:
    """Compare names by the words they stand in, so that a sentence may begin with another."""
    dropped = _names_not_in(old[0], new[1])
    added = _names_not_in(new[0], f"{old[1]}\n{allowed}")
    return _paired(dropped, added)


def _names_not_in(names: Sequence[Fact], text: str) -> list[Fact]:
    words = {word.casefold() for word in regex.findall(r"[\p{L}\p{N}'’-]+", text)}
    missing: dict[str, Fact] = {}
    for name in names:
        parts = regex.findall(r"[\p{L}\p{N}'’-]+", name.text)
        if any(part.casefold() not in words for part in parts):
            missing.setdefault(name.key, name)
    return list(missing.values())


def _swaps(old: tuple[Sequence[Fact], str], new: tuple[Sequence[Fact], str]) -> Iterable[FactFlag]:
    """Compare which subject each fact stands with, where the facts themselves are the same (B9).

    Subjects are words that stand once in both texts: names for figures and dates if there are
    two (here: words with a capital), any other words if not, and for negations and sides.
    """
    contents = [_content_words(facts, text) for facts, text in (old, new)]
    counts = [Counter(word for _, word in content) for content in contents]
    words = frozenset(word for word in counts[0] if counts[0][word] == counts[1][word] == 1)
    people = frozenset(
        found.group().casefold()
        for found in _WORD.finditer(old[1])
        if found.group()[0].isupper() and found.group().casefold() in words
    )
    figures = people if len(people) > 1 else words
    for kind in ("dose", "date", "negation", "side"):
        is_figure = kind in ("dose", "date")
        subjects = figures if is_figure else words
        held = [
            _holders(
                [fact for fact in facts if _group(fact.what) == kind],
                text,
                [(at, word) for at, word in content if word in subjects],
            )
            for (facts, text), content in zip((old, new), contents, strict=True)
        ]
        # One figure that a rewording moved is no swap, unless it went from name to name.
        if is_figure and figures is not people and len(held[0]) < 2:
            continue
        for key, (fact, were) in held[0].items():
            are = held[1][key][1] if key in held[1] else set[str]()
            if were - are and are - were:
                lost, gained = min(were - are), min(are - were)
                yield FactFlag(
                    "swapped", fact.what, f"{lost}: {fact.text}", f"{gained}: {fact.text}"
                )


def _content_words(facts: Sequence[Fact], text: str) -> list[tuple[int, str]]:
    taken = covered(text, (fact for fact in facts if fact.what != "quote"))
    return [
        (found.start(), found.group().casefold())
        for found in _WORD.finditer(text)
        if len(found.group()) > 2
        and found.group().casefold() not in _EMPTY_WORDS
        and not taken[found.start()]
    ]


def _holders(
    facts: Sequence[Fact], text: str, words: Sequence[tuple[int, str]]
) -> dict[str, tuple[Fact, set[str]]]:
    """Return each fact's subjects, by its key: what stands before a figure, behind a small word."""
    places = [at for at, _ in words]
    held: dict[str, tuple[Fact, set[str]]] = {}
    for fact in facts:
        first_behind = bisect_left(places, fact.end)
        before = [word for _, word in words[: bisect_left(places, fact.start)][-1:]]
        behind = [word for _, word in words[first_behind : first_behind + 1]]
        if fact.what == "negation":  # it holds up to the next stop
            stop = _STOP.search(text, fact.end)
            reach = stop.start() if stop else len(text)
            found = [word for _, word in words[first_behind : bisect_left(places, reach)]]
        elif fact.what == "side":
            found = behind or before
        else:
            found = before or behind
        held.setdefault(fact.key, (fact, set()))[1].update(found)
    return held


def _missing(before: str, after: str, protected: Iterable[ProtectedPhrase]) -> Iterable[FactFlag]:
    for phrase in protected:
        if phrase.count(after) < phrase.count(before):
            yield FactFlag("dropped", "quote", phrase.text, None)
