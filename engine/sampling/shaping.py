"""From a region's constraints to its form: automaton, fixed texts, a fill that is accepted.

Pure but for the tokenizer. What cannot be met is refused here, before the first pass.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from engine.canvas.parts import MAX_PART_TOKENS, Part
from engine.canvas.slots import TextCodec
from engine.constraints.automata import accepts
from engine.constraints.rules import shortest_region, wished_for
from engine.contract import RefineJob
from engine.errors import RegionTooLong, UnsatisfiableConstraint
from engine.sampling.forms import RegionForm

__all__ = ["form_lengths", "keeps_form", "shape_forms"]

MAX_CHOICES_TRIED = 8  # lengths of choices that get canvases of their own


def shape_forms(job: RefineJob, parts: Sequence[Part], codec: TextCodec) -> tuple[RegionForm, ...]:
    """Return the form of every constrained region; `parts` are numbered as in the job.

    Raises: UnsatisfiableConstraint, RegionTooLong when no accepted text fits a canvas.
    """
    forms = []
    for index, region in enumerate(job.regions):
        own = [number for number, part in enumerate(parts) if part.region == index]
        if not region.constraints:
            continue
        chosen = [parts[number] for number in own]
        edges = [region.start, *itertools.chain(*((p.start, p.end) for p in chosen)), region.end]
        fixed = tuple(job.text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
        guards = tuple((part.is_guarded_left, part.is_guarded_right) for part in chosen)
        wishes = wished_for(
            is_inline=all(part.is_inline for part in chosen),
            needs_words=region.is_blank or any(part.has_words for part in chosen),
        )
        automaton, fills = shortest_region(
            region.constraints, fixed, guards, region.region_id, wishes=wishes
        )
        witness = tuple(
            tuple(codec.encode(part.prefix.decode() + fill))
            for part, fill in zip(chosen, fills, strict=True)
        )
        longest = sum(len(tokens) for tokens in witness)
        if longest > MAX_PART_TOKENS:
            raise RegionTooLong(
                f"region {region.region_id}: the shortest text that satisfies its constraints has "
                f"{longest} tokens; at most {MAX_PART_TOKENS}"
            )
        forms.append(RegionForm(automaton, tuple(own), fixed, guards, witness))
    return tuple(forms)


def form_lengths(
    job: RefineJob, part: Part, tried: Sequence[int], witness: Sequence[int], codec: TextCodec
) -> tuple[int, ...]:
    """Return the canvas lengths of a constrained part: long enough for an accepted text.

    A list of choices has the lengths of its choices, so that the probe compares those.
    """
    shortest = max(1, len(witness))
    choices = [c.values for c in job.regions[part.region].constraints if c.kind == "choices"]
    if choices:
        counts = {len(codec.encode(part.prefix.decode() + value)) for value in choices[0]}
        tried = sorted(count for count in counts if count <= MAX_PART_TOKENS)[:MAX_CHOICES_TRIED]
    return tuple(sorted({max(shortest, length) for length in tried} or {shortest}))


def keeps_form(job: RefineJob, form: RegionForm, parts: Sequence[Part]) -> bool:
    """Return whether the region's present text is accepted already.

    Raises: UnsatisfiableConstraint when it is not and nothing of it may be rewritten.
    """
    part = parts[form.parts[0]]
    region = job.regions[part.region]
    if part.original is None:
        return False
    is_kept = accepts(form.automaton, job.text[region.start : region.end])
    if not is_kept and part.strength == 0:
        raise UnsatisfiableConstraint(
            f"region {region.region_id}: strength 0 keeps its text, which does not satisfy its "
            "constraints"
        )
    return is_kept
