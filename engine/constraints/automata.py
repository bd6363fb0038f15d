"""Automata over characters: one for each rule, and their product.

States are small hashable values, made as they are reached; None is the dead state. Nothing
here knows tokens: `engine.sampling.forms` runs a vocabulary over these.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

__all__ = [
    "Automaton",
    "Casing",
    "Choices",
    "Contains",
    "Every",
    "Excludes",
    "TooComplex",
    "WordCount",
    "accepts",
    "every",
    "feed",
    "shortest_fills",
]

MAX_STATES = 60_000  # searched before a rule is refused as too complex
# A character of every kind that classes and cases tell apart; what a rule names by itself is in
# its alphabet. Tried in this order, so that the shortest text found reads like one.
TELLING = "aA0 .,-_!\n\té\u00c9\u4e2d\u0660\u00df"


class Automaton(Protocol):
    """A language of texts; `alphabet` holds a character of every kind it tells apart."""

    @property
    def alphabet(self) -> frozenset[str]: ...

    @property
    def start(self) -> Hashable: ...

    def step(self, state: Any, char: str) -> Hashable | None:
        """Return the state after `char`, None when no continuation can be accepted."""
        ...

    def is_accepting(self, state: Any) -> bool: ...


class TooComplex(Exception):
    """The search for an accepted text was given up."""


def feed(automaton: Automaton, state: Hashable | None, text: str) -> Hashable | None:
    """Return the state after `text`, None when it is dead."""
    for char in text:
        if state is None:
            return None
        state = automaton.step(state, char)
    return state


def accepts(automaton: Automaton, text: str) -> bool:
    """Return whether `text` is in the automaton's language. Linear in its length."""
    state = feed(automaton, automaton.start, text)
    return state is not None and automaton.is_accepting(state)


def shortest_fills(
    automaton: Automaton,
    fixed: Sequence[str],
    guards: Sequence[tuple[bool, bool]],
) -> tuple[str, ...] | None:
    """Return fills of fewest characters so that fixed[0] + fill[0] + fixed[1] ... is accepted.

    `guards[i]` forbids a letter or digit at the start, and at the end, of fill i. Returns None
    when there are no such fills. Raises: TooComplex.
    """
    start = feed(automaton, automaton.start, fixed[0])
    if start is None:
        return None
    first = _Reached(0, start, "")
    origin: dict[_Reached, tuple[_Reached, str]] = {first: (first, "")}
    queue = deque([first])
    letters = [*TELLING, *sorted(automaton.alphabet - set(TELLING))]
    while queue:
        here = queue.popleft()
        if here.gap == len(guards):
            if automaton.is_accepting(here.state):
                return _spell(origin, here, len(guards))
            continue
        ended = _end_fill(automaton, here, fixed[here.gap + 1], guards[here.gap])
        if ended is not None and ended not in origin:
            origin[ended] = (here, "")
            queue.appendleft(ended)  # costs no character
        for char in letters:
            reached = _add_char(automaton, here, char, guards[here.gap])
            if reached is not None and reached not in origin:
                origin[reached] = (here, char)
                queue.append(reached)
        if len(origin) > MAX_STATES:
            raise TooComplex(f"no text was found among {MAX_STATES} beginnings")
    return None


class _Reached(NamedTuple):
    """A place of the search: in which fill, the state, and how the fill ends so far."""

    gap: int
    state: Hashable
    tail: Literal["", "open", "word"]  # word: a guarded end that a letter or digit stands at


def _end_fill(
    automaton: Automaton, here: _Reached, text: str, guards: tuple[bool, bool]
) -> _Reached | None:
    if here.tail == "word" and guards[1]:
        return None
    after = feed(automaton, here.state, text)
    return None if after is None else _Reached(here.gap + 1, after, "")


def _add_char(
    automaton: Automaton, here: _Reached, char: str, guards: tuple[bool, bool]
) -> _Reached | None:
    if not here.tail and guards[0] and char.isalnum():
        return None
    after = automaton.step(here.state, char)
    is_word = guards[1] and char.isalnum()
    return None if after is None else _Reached(here.gap, after, "word" if is_word else "open")


def _spell(
    origin: dict[_Reached, tuple[_Reached, str]], last: _Reached, num_gaps: int
) -> tuple[str, ...]:
    fills = [""] * num_gaps
    here, (before, char) = last, origin[last]
    while before != here:
        if char:
            fills[here.gap] = char + fills[here.gap]
        here, (before, char) = before, origin[before]
    return tuple(fills)


@dataclass(frozen=True)
class Every:
    """The texts that all of several automata accept."""

    automata: tuple[Automaton, ...]

    @cached_property
    def alphabet(self) -> frozenset[str]:
        return frozenset().union(*(automaton.alphabet for automaton in self.automata))

    @cached_property
    def start(self) -> Hashable:
        return tuple(automaton.start for automaton in self.automata)

    @cached_property
    def _steps(self) -> dict[tuple[Hashable, str], Hashable | None]:
        return {}  # a vocabulary asks for the same steps many times

    def step(self, state: tuple[Hashable, ...], char: str) -> Hashable | None:
        key = (state, char)
        if key not in self._steps:
            self._steps[key] = self._step(state, char)
        return self._steps[key]

    def _step(self, state: tuple[Hashable, ...], char: str) -> Hashable | None:
        after = []
        for automaton, own in zip(self.automata, state, strict=True):
            following = automaton.step(own, char)
            if following is None:
                return None
            after.append(following)
        return tuple(after)

    def is_accepting(self, state: tuple[Hashable, ...]) -> bool:
        return all(
            automaton.is_accepting(own) for automaton, own in zip(self.automata, state, strict=True)
        )


@dataclass(frozen=True)
class Choices:
    """One of some texts, exactly. A state is the text so far."""

    values: tuple[str, ...]

    @cached_property
    def alphabet(self) -> frozenset[str]:
        return frozenset("".join(self.values))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(value[:size] for value in self.values for size in range(len(value) + 1))

    @property
    def start(self) -> Hashable:
        return ""

    def step(self, state: str, char: str) -> Hashable | None:
        grown = state + char
        return grown if grown in self._beginnings else None

    def is_accepting(self, state: str) -> bool:
        return state in self.values


@dataclass(frozen=True)
class Contains:
    """Texts in which a phrase occurs. A state is how much of it stands at the end."""

    phrase: str

    @property
    def alphabet(self) -> frozenset[str]:
        return frozenset(self.phrase)

    @property
    def start(self) -> Hashable:
        return 0

    @cached_property
    def _borders(self) -> tuple[int, ...]:
        return _borders(self.phrase)

    def step(self, state: int, char: str) -> Hashable | None:
        if state == len(self.phrase):
            return state
        return _matched(self.phrase, self._borders, state, char)

    def is_accepting(self, state: int) -> bool:
        return state == len(self.phrase)


@dataclass(frozen=True)
class Excludes:
    """Texts in which a phrase does not occur, upper and lower case alike."""

    phrase: str

    @cached_property
    def alphabet(self) -> frozenset[str]:
        return frozenset(self.phrase + self.phrase.upper() + self._folded)

    @property
    def start(self) -> Hashable:
        return 0

    @cached_property
    def _folded(self) -> str:
        return self.phrase.lower()

    @cached_property
    def _borders(self) -> tuple[int, ...]:
        return _borders(self._folded)

    def step(self, state: int, char: str) -> Hashable | None:
        for lower in char.lower():
            state = _matched(self._folded, self._borders, state, lower)
            if state == len(self._folded):
                return None
        return state

    def is_accepting(self, state: int) -> bool:
        return True


@dataclass(frozen=True)
class WordCount:
    """Texts of `minimum` to `maximum` words, as `str.split` counts them."""

    minimum: float
    maximum: float | None = None

    @property
    def alphabet(self) -> frozenset[str]:
        return frozenset("a ")

    @property
    def start(self) -> Hashable:
        return (0, False)

    def step(self, state: tuple[int, bool], char: str) -> Hashable | None:
        count, is_inside = state
        if char.isspace():
            return (count, False)
        count += not is_inside
        if self.maximum is not None:
            return None if count > self.maximum else (count, True)
        # Beyond the least all counts are alike.
        return (int(min(count, max(self.minimum, 0) + 1)), True)

    def is_accepting(self, state: tuple[int, bool]) -> bool:
        return state[0] >= self.minimum


@dataclass(frozen=True)
class Casing:
    """Texts all `lower`, all `upper`, or (`sentence`) beginning with a capital if a letter."""

    wanted: str

    @property
    def alphabet(self) -> frozenset[str]:
        return frozenset("aA")

    @property
    def start(self) -> Hashable:
        return True  # at the start

    def step(self, state: bool, char: str) -> Hashable | None:
        if self.wanted == "lower":
            return False if char == char.lower() else None
        if self.wanted == "upper" or state:
            return False if char == char.upper() else None
        return False

    def is_accepting(self, state: bool) -> bool:
        return True


def _borders(phrase: str) -> tuple[int, ...]:
    """For each length, the longest proper prefix that is a suffix too (Knuth-Morris-Pratt)."""
    borders = [0] * (len(phrase) + 1)
    size = 0
    for index in range(1, len(phrase)):
        while size and phrase[index] != phrase[size]:
            size = borders[size]
        size += phrase[index] == phrase[size]
        borders[index + 1] = size
    return tuple(borders)


def _matched(phrase: str, borders: Sequence[int], size: int, char: str) -> int:
    while size and phrase[size] != char:
        size = borders[size]
    return size + (phrase[size] == char)


def every(automata: Iterable[Automaton]) -> Automaton:
    """Return the product of the automata, or the only one."""
    found = tuple(automata)
    return found[0] if len(found) == 1 else Every(found)
