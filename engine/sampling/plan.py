"""From a job to the windows it takes: parts, candidate lengths, groups. Decided before pass 1.

Pure but for the tokenizer. Raises the errors a user can do something about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.canvas.layout import OPEN_BLANK, Replacement, group_parts, render
from engine.canvas.length import candidate_lengths, fit_width
from engine.canvas.parts import MAX_PART_TOKENS, Part, check_job, find_parts
from engine.canvas.slots import TextCodec
from engine.contract import RefineJob
from engine.errors import InvalidJob, RegionTooLong
from engine.sampling.constraints import check_constraints
from engine.sampling.strength import part_tokens

__all__ = ["JobPlan", "plan_job"]

BESIDE_CODE_POINTS = 300


@dataclass(frozen=True, slots=True)
class JobPlan:
    """Parts of a job in text order, how long each may get, and which share a window."""

    parts: tuple[Part, ...]
    lengths: tuple[tuple[int, ...], ...]  # candidate lengths of each part, in tokens
    hints: tuple[int | None, ...]  # expected tokens of each part
    kept: dict[int, tuple[int, ...]]  # tokens of parts that are rewritten only partly
    groups: tuple[tuple[int, ...], ...]  # part indices of each window

    def replacements(self, group: Sequence[int], fills: dict[int, str]) -> list[Replacement]:
        """Return what stands for the parts outside `group`: their fill, or an open blank."""
        return [
            Replacement(part.start, part.end, fills.get(index, OPEN_BLANK))
            for index, part in enumerate(self.parts)
            if index not in group and (index in fills or part.original is None)
        ]

    def beside(self, text: str, index: int, replaced: Sequence[Replacement]) -> tuple[str, str]:
        """Return the text close to a part, before and after, as `replaced` makes it read."""
        part = self.parts[index]
        start, end = part.left_cut, part.right_cut
        before = render(text, max(0, start - BESIDE_CODE_POINTS), start, replaced)
        return before, render(text, end, min(len(text), end + BESIDE_CODE_POINTS), replaced)


def plan_job(job: RefineJob, codec: TextCodec, *, is_causal: bool) -> JobPlan:
    """Check a job and lay out what it needs. Raises: InvalidJob, RegionTooLong, TooManyRegions."""
    check_job(job)
    check_constraints(job)
    parts = find_parts(job, codec)
    lengths: list[tuple[int, ...]] = []
    hints: list[int | None] = []
    kept: dict[int, tuple[int, ...]] = {}
    for index, part in enumerate(parts):
        own = tuple(part_tokens(part, codec)) if part.original is not None else ()
        if len(own) > MAX_PART_TOKENS:
            region = job.regions[part.region]
            raise RegionTooLong(
                f"region {region.region_id} has {len(own)} tokens; at most {MAX_PART_TOKENS}"
            )
        if own and part.strength < 1 and not is_causal:
            kept[index] = own
            lengths.append((len(own),))
        else:
            lengths.append(_lengths(part, len(own) or None))
        hints.append(part.length or len(own) or None)
    widths = [fit_width(max(item)) for item in lengths]
    groups = tuple((i,) for i in range(len(parts))) if is_causal else group_parts(parts, widths)
    if job.config.steps is not None and job.config.steps < len(groups):
        raise InvalidJob(
            f"{job.config.steps} steps; this job needs at least {len(groups)}, one for each of "
            "its windows"
        )
    return JobPlan(parts, tuple(lengths), tuple(hints), kept, groups)


def _lengths(part: Part, own: int | None) -> tuple[int, ...]:
    shortest = 1 + (bool(part.prefix) and bool(part.suffix))
    candidates = candidate_lengths(part.length or own)
    return tuple(sorted({max(shortest, length) for length in candidates}))
