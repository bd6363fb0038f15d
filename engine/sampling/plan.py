"""From a job to the windows it takes: parts, candidate lengths, groups. Decided before pass 1.

Pure but for the tokenizer. Raises the errors a user can do something about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.canvas.layout import OPEN_BLANK, Replacement, group_parts, render
from engine.canvas.length import candidate_lengths, fit_width
from engine.canvas.parts import MAX_PART_TOKENS, Part, check_job, find_parts
from engine.canvas.slots import TextCodec
from engine.contract import RefineJob
from engine.errors import InvalidJob, RegionTooLong
from engine.sampling.forms import RegionForm
from engine.sampling.growth import find_room
from engine.sampling.shaping import form_lengths, keeps_form, shape_forms
from engine.sampling.strength import part_tokens

__all__ = ["JobPlan", "plan_job"]

BESIDE_CODE_POINTS = 300
MAX_WINDOW_TOKENS = 2 * MAX_PART_TOKENS  # of parts that a form binds together


@dataclass(frozen=True, slots=True)
class JobPlan:
    """Parts of a job in text order, how long each may get, and which share a window."""

    parts: tuple[Part, ...]
    lengths: tuple[tuple[int, ...], ...]  # candidate lengths of each part, in tokens
    hints: tuple[int | None, ...]  # expected tokens of each part
    kept: dict[int, tuple[int, ...]]  # tokens of parts that are rewritten only partly
    groups: tuple[tuple[int, ...], ...]  # part indices of each window
    rooms: tuple[int, ...] = ()  # slots that each part may grow by
    forms: tuple[RegionForm, ...] = ()  # of the constrained regions

    def forms_within(self, group: Sequence[int]) -> tuple[RegionForm, ...]:
        """Return the forms of a window, their parts numbered as in the window."""
        places = {index: place for place, index in enumerate(group)}
        return tuple(
            replace(form, parts=tuple(places[index] for index in form.parts))
            for form in self.forms
            if form.parts[0] in places
        )

    def replacements(self, group: Sequence[int], fills: dict[int, str]) -> list[Replacement]:
        """Return what stands for the parts outside `group`: their fill, or an open blank.

        A blank that is written block by block is one open blank, not several.
        """
        found = []
        for index, part in enumerate(self.parts):
            if index in group or (index not in fills and part.original is not None):
                continue
            before = index - 1
            is_more = (
                before >= 0
                and self.parts[before].end == part.start
                and before not in fills
                and before not in group
            )
            text = fills.get(index, "" if is_more else OPEN_BLANK)
            found.append(Replacement(part.start, part.end, text))
        return found

    def beside(self, text: str, index: int, replaced: Sequence[Replacement]) -> tuple[str, str]:
        """Return the text close to a part, before and after, as `replaced` makes it read."""
        part = self.parts[index]
        start, end = part.left_cut, part.right_cut
        before = render(text, max(0, start - BESIDE_CODE_POINTS), start, replaced)
        return before, render(text, end, min(len(text), end + BESIDE_CODE_POINTS), replaced)


def plan_job(job: RefineJob, codec: TextCodec, *, is_causal: bool) -> JobPlan:
    """Check a job and lay out what it needs.

    Raises: InvalidJob, RegionTooLong, TooManyRegions, UnsatisfiableConstraint.
    """
    check_job(job)
    parts = find_parts(job, codec)
    forms = shape_forms(job, parts, codec)
    form_of = {index: form for form in forms for index in form.parts}
    kept_forms = {form.parts for form in forms if keeps_form(job, form, parts)}
    lengths: list[tuple[int, ...]] = []
    hints: list[int | None] = []
    kept: dict[int, tuple[int, ...]] = {}
    for index, part in enumerate(parts):
        own = _own_tokens(job, part, codec)
        form = form_of.get(index)
        # The autoregressive route writes a part anew, but a form is kept by the canvas.
        may_keep = form.parts in kept_forms if form else not is_causal
        if own and part.strength < 1 and may_keep:
            kept[index] = own
            lengths.append((len(own),))
        else:
            tried = _lengths(part, len(own) or None)
            if form is not None:
                tokens = form.witness[form.parts.index(index)]
                tried = form_lengths(job, part, tried, tokens, codec)
            lengths.append(tried)
        hints.append(part.length or len(own) or None)
    widths = [fit_width(max(item)) for item in lengths]
    groups = _causal_groups(parts) if is_causal else group_parts(parts, widths)
    _check_windows(job, groups, lengths)
    forms = tuple(_with_own_witness(form, kept) for form in forms)
    starts = frozenset(part.start for part in parts)
    rooms = tuple(0 if is_causal else find_room(job.text, part, starts) for part in parts)
    return JobPlan(parts, tuple(lengths), tuple(hints), kept, groups, rooms, forms)


def _with_own_witness(form: RegionForm, kept: dict[int, tuple[int, ...]]) -> RegionForm:
    """Where a region's text is kept in part, that text is the one known to be accepted."""
    if not all(index in kept for index in form.parts):
        return form
    return replace(form, witness=tuple(kept[index] for index in form.parts))


def _own_tokens(job: RefineJob, part: Part, codec: TextCodec) -> tuple[int, ...]:
    own = tuple(part_tokens(part, codec)) if part.original is not None else ()
    if len(own) > MAX_PART_TOKENS:
        region = job.regions[part.region]
        raise RegionTooLong(
            f"region {region.region_id} has {len(own)} tokens; at most {MAX_PART_TOKENS}"
        )
    return own


def _causal_groups(parts: Sequence[Part]) -> tuple[tuple[int, ...], ...]:
    """Every part by itself, but the parts of a constrained region together."""
    groups: list[tuple[int, ...]] = []
    for index, part in enumerate(parts):
        if index and part.is_constrained and parts[index - 1].region == part.region:
            groups[-1] += (index,)
        else:
            groups.append((index,))
    return tuple(groups)


def _check_windows(
    job: RefineJob, groups: Sequence[Sequence[int]], lengths: Sequence[Sequence[int]]
) -> None:
    if job.config.steps is not None and job.config.steps < len(groups):
        raise InvalidJob(
            f"{job.config.steps} steps; this job needs at least {len(groups)}, one for each of "
            "its windows"
        )
    for group in groups:
        longest = sum(max(lengths[index]) for index in group)
        if len(group) > 1 and longest > MAX_WINDOW_TOKENS:
            raise RegionTooLong(
                f"a constrained region with locks takes {longest} tokens; at most "
                f"{MAX_WINDOW_TOKENS}"
            )


def _lengths(part: Part, own: int | None) -> tuple[int, ...]:
    shortest = 1 + (bool(part.prefix) and bool(part.suffix))
    candidates = candidate_lengths(part.length or own)
    return tuple(sorted({max(shortest, length) for length in candidates}))
