"""Alternatives of regions that were filled jointly: a choice for one re-ranks the others'.

Pure and torch-free: the application may use it on a stored result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.contract import RegionResult
from engine.errors import InvalidJob

__all__ = ["rerank"]


def rerank(
    results: Sequence[RegionResult], region_id: str, alternative: int
) -> tuple[RegionResult, ...]:
    """Return the results as they rank once `alternative` is chosen for one region.

    Alternatives of its window's other regions that were made together with it come first;
    otherwise the order stays, and so do regions of other windows. Raises: InvalidJob when the
    region or alternative does not exist.
    """
    chosen = next((result for result in results if result.region_id == region_id), None)
    if chosen is None:
        raise InvalidJob(f"no region {region_id!r} among the {len(results)} results")
    if not 0 <= alternative < len(chosen.alternatives):
        raise InvalidJob(
            f"alternative {alternative} of region {region_id!r}; it has {len(chosen.alternatives)}"
        )
    made_with = set(chosen.alternatives[alternative].candidates)
    return tuple(
        result
        if result.window is None or result.window != chosen.window or result is chosen
        else replace(
            result,
            alternatives=tuple(
                sorted(result.alternatives, key=lambda one: not made_with & set(one.candidates))
            ),
        )
        for result in results
    )
