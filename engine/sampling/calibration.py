"""How far the model's probabilities can be trusted: a temperature for each mask ratio.

A model that sees much is surer than it should be, one that sees little less so, or the other
way round; one divisor for each tenth of hidden slots mends both. Pure data; where the numbers
come from (held-out text, shipped beside the adapter) is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NUM_DECILES", "Calibration"]

NUM_DECILES = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """Divisor of the logits by mask ratio: entry i holds for ratios (i/10, (i+1)/10].

    The default changes nothing. Raises: ValueError unless there are ten positive numbers.

    Source: temperature scaling (arXiv:1706.04599), one for each decile: ALGORITHMS section 5.
    """

    temperatures: tuple[float, ...] = (1.0,) * NUM_DECILES

    def __post_init__(self) -> None:
        if len(self.temperatures) != NUM_DECILES or min(self.temperatures) <= 0:
            raise ValueError(
                f"{len(self.temperatures)} temperatures; allowed: {NUM_DECILES} positive numbers"
            )

    @property
    def is_identity(self) -> bool:
        return all(value == 1.0 for value in self.temperatures)

    def temperature(self, num_masked: int, num_slots: int) -> float:
        """Return the divisor for a part with `num_masked` of `num_slots` slots hidden."""
        # Whole numbers, so that exactly three tenths never falls into the fourth by rounding.
        decile = (NUM_DECILES * num_masked - 1) // num_slots if num_masked else 0
        return self.temperatures[min(decile, NUM_DECILES - 1)]
