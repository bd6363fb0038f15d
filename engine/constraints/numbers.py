"""Numbers within bounds, with or without a unit, as an automaton.

A bound is compared digit by digit while the number is written, so that ranges of any size take
a handful of states. Accepted: an optional sign, digits without idle zeros in front, and a
fraction after a point or comma.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal, NamedTuple

__all__ = ["Number"]

LESS, EQUAL, GREATER = -1, 0, 1


class _Order(NamedTuple):
    """How the digits so far compare with a bound's: digits compared, and which is larger."""

    num_digits: int
    sign: int


class _State(NamedTuple):
    """`zero` is a whole part that is over, `point` a fraction without digits yet."""

    phase: Literal["start", "sign", "whole", "zero", "point", "fraction", "unit"]
    is_negative: bool = False
    low: _Order = _Order(0, EQUAL)
    high: _Order = _Order(0, EQUAL)
    unit: str = ""


@dataclass(frozen=True, slots=True)
class _Bound:
    """A number that is not negative, as its digits before and after the point."""

    whole: str
    fraction: str

    @classmethod
    def of(cls, value: Decimal) -> _Bound:
        whole, _, fraction = format(value, "f").partition(".")
        return cls(whole.lstrip("0"), fraction.rstrip("0"))

    def after_digit(self, order: _Order, digit: str) -> _Order:
        size, sign = order
        if size < len(self.whole):
            own = self.whole[size]
            return _Order(size + 1, sign or (digit > own) - (digit < own))
        return _Order(len(self.whole) + 1, GREATER)

    def after_point(self, order: _Order) -> _Order:
        if order.num_digits < len(self.whole):
            return _Order(0, LESS)
        return _Order(0, order.sign)

    def after_fraction_digit(self, order: _Order, digit: str) -> _Order:
        own = self.fraction[order.num_digits : order.num_digits + 1] or "0"
        sign = order.sign or (digit > own) - (digit < own)
        return _Order(min(order.num_digits + 1, len(self.fraction)), sign)

    def at_end(self, order: _Order) -> int:
        # What is left of the bound's fraction does not end in a zero, so it is more than nothing.
        return order.sign or (LESS if order.num_digits < len(self.fraction) else EQUAL)


_Limits = tuple[_Bound | None, _Bound | None]  # of the magnitude


@dataclass(frozen=True)
class Number:
    """Numbers from `minimum` to `maximum`; with `units`, one of them follows, a space allowed.

    A unit begins with neither a digit nor a space, comma or point.
    """

    minimum: float | None = None
    maximum: float | None = None
    units: tuple[str, ...] = ()

    @property
    def alphabet(self) -> frozenset[str]:
        return frozenset("+-.,0123456789 " + "".join(self.units))

    @property
    def start(self) -> Hashable:
        return _State("start")

    def step(self, state: _State, char: str) -> Hashable | None:
        if state.phase == "unit":
            return self._in_unit(state.unit + char)
        if char.isascii() and char.isdigit():
            return self._after_digit(state, char)
        if state.phase == "start" and char in "+-":
            return self._signed(is_negative=char == "-")
        if state.phase in ("whole", "zero") and char in ".,":
            return self._after_point(state)
        return self._in_unit(char) if self.units and self._is_within(state) else None

    def is_accepting(self, state: _State) -> bool:
        if state.phase == "unit":
            return state.unit.removeprefix(" ") in self.units
        return not self.units and self._is_within(state)

    @cached_property
    def _limits(self) -> dict[bool, _Limits | None]:
        """Bounds of the magnitude by sign (True: negative); None where no number has it."""
        low = None if self.minimum is None else Decimal(repr(self.minimum))
        high = None if self.maximum is None else Decimal(repr(self.maximum))
        return {
            False: _magnitudes(low, high),
            True: _magnitudes(
                None if high is None else -high,
                None if low is None else -low,
            ),
        }

    def _signed(self, *, is_negative: bool) -> _State | None:
        if self._limits[is_negative] is None:
            return None
        return _State("sign", is_negative)

    def _after_digit(self, state: _State, digit: str) -> _State | None:
        match state.phase:
            case "start":
                begun = self._signed(is_negative=False)
                return None if begun is None else self._after_digit(begun, digit)
            case "sign" if digit == "0":
                return self._compared(state, "zero")
            case "sign" | "whole":
                return self._compared(state, "whole", digit)
            case "point" | "fraction":
                return self._compared(state, "fraction", digit)
            case _:
                return None  # after a zero

    def _compared(
        self, state: _State, phase: Literal["whole", "zero", "fraction"], digit: str = ""
    ) -> _State:
        orders = []
        for bound, order in zip(self._bounds(state), (state.low, state.high), strict=True):
            if bound is not None and digit:
                follow = bound.after_digit if phase == "whole" else bound.after_fraction_digit
                order = follow(order, digit)
            orders.append(order)
        return _State(phase, state.is_negative, orders[0], orders[1])

    def _after_point(self, state: _State) -> _State:
        orders = [
            order if bound is None else bound.after_point(order)
            for bound, order in zip(self._bounds(state), (state.low, state.high), strict=True)
        ]
        return _State("point", state.is_negative, orders[0], orders[1])

    def _is_within(self, state: _State) -> bool:
        if state.phase in ("whole", "zero"):
            state = self._after_point(state)
        elif state.phase != "fraction":
            return False
        low, high = self._bounds(state)
        return (low is None or low.at_end(state.low) >= EQUAL) and (
            high is None or high.at_end(state.high) <= EQUAL
        )

    def _bounds(self, state: _State) -> _Limits:
        limits = self._limits[state.is_negative]
        assert limits is not None, "a sign that no number has was refused"
        return limits

    def _in_unit(self, text: str) -> _State | None:
        known = any(form.startswith(text) for unit in self.units for form in (unit, f" {unit}"))
        return _State("unit", unit=text) if known else None


def _magnitudes(low: Decimal | None, high: Decimal | None) -> _Limits | None:
    if high is not None and high < 0:
        return None
    return (
        _Bound.of(low) if low is not None and low > 0 else None,
        None if high is None else _Bound.of(abs(high)),
    )
