"""Regular expressions as automata, by the standard library's own reading of them.

The pattern is parsed by `re`, so that it means here what it means in Python, and turned into a
nondeterministic automaton whose sets of states are made as they are reached. A text is read in
linear time whatever the pattern. Refused, by name: what no finite automaton can do cheaply
(back-references, look-around) and word boundaries.

Libraries weighed: interegular (MIT, pure Python, last release 2024, classes ASCII only),
greenery (MIT, builds whole automata), outlines-core and llguidance (Rust wheels, made for text
from left to right). None of them fills a canvas out of order, which is the part that matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

__all__ = ["Pattern", "UnsupportedPattern"]

MAX_NODES = 5_000  # of the automaton; a{1000} alone takes 1,000
_parser: Any = import_module("re._parser")  # no public name since sre_parse was deprecated

Test = Callable[[str], bool]

CATEGORIES: dict[str, Test] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
}


class UnsupportedPattern(Exception):
    """The pattern is no regular expression, or asks for more than an automaton does."""


@dataclass(slots=True)
class _Node:
    """Where to go on a character, for free, and for free at the start or end only."""

    tests: list[tuple[Test, int]] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    at_start: list[int] = field(default_factory=list)
    at_end: list[int] = field(default_factory=list)


class Pattern:
    """The texts that `re.fullmatch(pattern, text)` matches. Raises: UnsupportedPattern."""

    def __init__(self, pattern: str) -> None:
        self._nodes: list[_Node] = []
        self._letters: set[str] = set()
        try:
            parsed = _parser.parse(pattern)
        except re.error as error:
            # Where, not what: the reason would quote the pattern.
            raise UnsupportedPattern(
                f"the pattern is no regular expression: look at character {error.pos}"
            ) from error
        except (OverflowError, RecursionError) as error:
            raise UnsupportedPattern("the pattern is nested or repeats too much") from error
        flags = re.RegexFlag(parsed.state.flags)
        if flags & re.MULTILINE:
            raise UnsupportedPattern("the pattern sets (?m); allowed flags: a, i, s, x")
        start, self._end = self._node(), self._node()
        self._link(parsed, (start, self._end), flags)
        self._sets: dict[frozenset[int], int] = {}
        self._members: list[frozenset[int]] = []
        self._steps: dict[tuple[int, str], int | None] = {}
        self._ends: dict[int, bool] = {}
        self._first = self._name(self._closed({start}, is_start=True))

    @property
    def alphabet(self) -> frozenset[str]:
        return frozenset(self._letters)

    @property
    def start(self) -> Hashable:
        return self._first

    def step(self, state: int, char: str) -> Hashable | None:
        key = (state, char)
        if key not in self._steps:
            reached = {
                target
                for node in self._members[state]
                for test, target in self._nodes[node].tests
                if test(char)
            }
            closed = self._closed(reached)
            self._steps[key] = self._name(closed) if closed else None
        return self._steps[key]

    def is_accepting(self, state: int) -> bool:
        if state not in self._ends:
            is_start = state == self._first
            closed = self._closed(self._members[state], is_start=is_start, is_end=True)
            self._ends[state] = self._end in closed
        return self._ends[state]

    def _name(self, members: frozenset[int]) -> int:
        if members not in self._sets:
            self._sets[members] = len(self._members)
            self._members.append(members)
        return self._sets[members]

    def _closed(
        self, nodes: Iterable[int], *, is_start: bool = False, is_end: bool = False
    ) -> frozenset[int]:
        found, open_nodes = set(nodes), list(nodes)
        while open_nodes:
            node = self._nodes[open_nodes.pop()]
            targets = [*node.free]
            targets += node.at_start if is_start else []
            targets += node.at_end if is_end else []
            new = set(targets) - found
            found |= new
            open_nodes.extend(new)
        return frozenset(found)

    def _node(self) -> int:
        if len(self._nodes) >= MAX_NODES:
            raise UnsupportedPattern(f"the pattern is too large; at most {MAX_NODES} states")
        self._nodes.append(_Node())
        return len(self._nodes) - 1

    def _link(self, items: Iterable[Any], ends: tuple[int, int], flags: re.RegexFlag) -> None:
        """Build `items` in sequence between two nodes."""
        here, last = ends
        for name, value in items:
            after = self._node()
            self._link_one((str(name), value), (here, after), flags)
            here = after
        self._nodes[here].free.append(last)

    def _link_one(self, item: tuple[str, Any], ends: tuple[int, int], flags: re.RegexFlag) -> None:
        name, value = item
        here, after = ends
        match name:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                self._nodes[here].tests.append((self._test(item, flags), after))
            case "BRANCH":
                for branch in value[1]:
                    self._link(branch, ends, flags)
            case "SUBPATTERN":
                _, added, removed, inner = value
                self._link(inner, ends, (flags | added) & ~re.RegexFlag(removed))
            case "MAX_REPEAT" | "MIN_REPEAT":
                self._repeat(value, ends, flags)
            case "AT" if str(value) in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
                self._nodes[here].at_start.append(after)
            case "AT" if str(value) in ("AT_END", "AT_END_STRING"):
                self._nodes[here].at_end.append(after)
            case _:
                raise UnsupportedPattern(
                    f"the pattern uses {name.lower().replace('_', ' ')}; allowed: characters, "
                    "classes, groups, alternatives, repeats"
                )

    def _repeat(self, value: Any, ends: tuple[int, int], flags: re.RegexFlag) -> None:
        low, high, inner = value
        here, last = ends
        for _ in range(low):
            after = self._node()
            self._link(inner, (here, after), flags)
            here = after
        if high == _parser.MAXREPEAT:
            # A node of its own: what leads into the loop must not be entered from within it.
            loop = self._node()
            self._nodes[here].free.append(loop)
            self._link(inner, (loop, loop), flags)
            self._nodes[loop].free.append(last)
            return
        for _ in range(high - low):
            self._nodes[here].free.append(last)
            after = self._node()
            self._link(inner, (here, after), flags)
            here = after
        self._nodes[here].free.append(last)

    def _test(self, item: tuple[str, Any], flags: re.RegexFlag) -> Test:
        name, value = item
        match name:
            case "ANY":
                self._letters.add("\n")
                return (lambda _: True) if flags & re.DOTALL else (lambda char: char != "\n")
            case "LITERAL" | "NOT_LITERAL":
                test = self._within(((value, value),), flags)
                return test if name == "LITERAL" else (lambda char: not test(char))
        parts = [(str(kind), what) for kind, what in value]
        tests = [self._member(part, flags) for part in parts if part[0] != "NEGATE"]
        is_negated = any(kind == "NEGATE" for kind, _ in parts)
        return lambda char: any(test(char) for test in tests) != is_negated

    def _member(self, part: tuple[str, Any], flags: re.RegexFlag) -> Test:
        kind, what = part
        match kind:
            case "LITERAL":
                return self._within(((what, what),), flags)
            case "RANGE":
                return self._within((what,), flags)
            case "CATEGORY":
                category = str(what)
                is_negated = "_NOT_" in category
                known = CATEGORIES[category.replace("_NOT_", "_")]
                is_ascii = bool(flags & re.ASCII)
                return lambda char: (known(char) and (char.isascii() or not is_ascii)) != is_negated
        raise UnsupportedPattern(f"the pattern uses {kind.lower()} in a class")

    def _within(self, ranges: tuple[tuple[int, int], ...], flags: re.RegexFlag) -> Test:
        for low, high in ranges:
            codes = {low, high, max(low - 1, 0), min(high + 1, 0x10FFFF)}
            self._letters |= {chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF}
        if not flags & re.IGNORECASE:
            return lambda char: any(low <= ord(char) <= high for low, high in ranges)
        self._letters |= {c for char in self._letters for c in (char.lower(), char.upper())}
        self._letters = {char for char in self._letters if len(char) == 1}

        def test(char: str) -> bool:
            forms = {c for c in (char, char.lower(), char.upper()) if len(c) == 1}
            return any(low <= ord(form) <= high for form in forms for low, high in ranges)

        return test
