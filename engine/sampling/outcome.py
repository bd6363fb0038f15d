"""What is known of a job's regions so far: drafts while it runs, ranked alternatives at its end.

Puts parts back together into regions and regions into the text; locked text inside a region
comes from the original string. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from engine.canvas.splice import region_text, splice
from engine.constraints.rules import is_satisfied
from engine.contract import Alternative, RefineJob, RegionDraft, RegionResult, RegionSpec
from engine.sampling.drafts import PartDraft
from engine.sampling.offers import Settled, fair_ending
from engine.sampling.pass_loop import WindowResult
from engine.sampling.plan import JobPlan

__all__ = ["Outcome"]


class _Fill(NamedTuple):
    """A part's fill; `candidate` is the one of its window that it came from."""

    text: str
    score: float
    confidence: float
    num_tokens: int
    candidate: int


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Fills of one part, best first, and the number of the window they were made in."""

    fills: tuple[_Fill, ...]
    window: int


class Outcome:
    """Collects window by window what a job's parts became."""

    def __init__(self, job: RefineJob, plan: JobPlan) -> None:
        self.fills: dict[int, str] = {}  # by part: what is offered first, once known
        self._job = job
        self._plan = plan
        self._ranked: dict[int, _Ranked] = {}
        self._drafts: dict[int, tuple[PartDraft, int]] = {}
        self._parts_of: dict[int, list[int]] = {}
        for index, part in enumerate(plan.parts):
            self._parts_of.setdefault(part.region, []).append(index)

    def note_drafts(
        self, group: Sequence[int], drafts: Sequence[PartDraft], stable: Sequence[int]
    ) -> None:
        """Keep the latest drafts of a window's parts."""
        for index, draft, count in zip(group, drafts, stable, strict=True):
            self._drafts[index] = (draft, count)

    def note_window(self, group: Sequence[int], result: WindowResult) -> None:
        """Keep a finished window: its parts in ranked order, the leader first.

        Parts of one region are ranked together, so that they come from the same candidate.
        """
        for region in {self._plan.parts[index].region for index in group}:
            columns = [c for c, index in enumerate(group) if index in self._parts_of[region]]
            leader = result.leaders[columns[0]]
            rows = range(len(result.texts))
            total = {row: sum(result.scores[row][c] for c in columns) for row in rows}
            order = sorted(rows, key=lambda row: (row != leader, -total[row], row))
            order = self._satisfying_first(region, order, columns, result)
            for c in columns:
                fills = tuple(
                    _Fill(
                        result.texts[row][c],
                        result.scores[row][c],
                        result.confidence[row][c],
                        result.num_tokens[row][c],
                        row,
                    )
                    for row in order
                )
                self._ranked[group[c]] = _Ranked(fills, group[0])
                first = fills[0]
                self.fills[group[c]] = text = first.text
                done = PartDraft(
                    text, ((0, len(text)),) if text else (), (first.confidence,) if text else ()
                )
                self._drafts[group[c]] = (done, len(text))

    def promised(self, index: int) -> str:
        """Return what was told of a part as stable: its fill must begin with it."""
        draft, count = self._drafts.get(index, (PartDraft("", (), ()), 0))
        return draft.text[:count]

    def region_drafts(self) -> tuple[RegionDraft, ...]:
        """Return a draft for every region that has been begun, in text order."""
        drafts = []
        for region, parts in self._parts_of.items():
            if any(index in self._drafts for index in parts):
                drafts.append(self._region_draft(region, parts))
        return tuple(drafts)

    def stable_total(self, drafts: Sequence[RegionDraft]) -> int:
        """Code points settled for good from the first region on, up to the first open one."""
        total = 0
        for draft in drafts:
            total += draft.stable_prefix
            if draft.stable_prefix < len(draft.text):
                break
        return total

    def results(self, num_alternatives: int) -> tuple[RegionResult, ...]:
        """Return each region's alternatives, best first, different texts only."""
        return tuple(
            self._result(index, num_alternatives) for index in range(len(self._job.regions))
        )

    def stopped(
        self, settled: Mapping[int, Settled], num_alternatives: int
    ) -> tuple[RegionResult, ...]:
        """Return what a run that ends now can offer; `settled` has the open window's parts.

        A region whose parts are all finished has its alternatives, another one what has settled
        of it, and none where that is nothing or breaks a constraint.
        """
        results = []
        for index, region in enumerate(self._job.regions):
            if all(part in self._ranked for part in self._parts_of[index]):
                result = self._result(index, num_alternatives)
            else:
                result = self._unfinished(index, settled)
            kept = tuple(one for one in result.alternatives if self._satisfies(region, one.text))
            if len(kept) < len(result.alternatives):
                result = replace(
                    result, alternatives=kept, confidence=0.0 if not kept else result.confidence
                )
            results.append(result)
        return tuple(results)

    def text(self, results: Sequence[RegionResult]) -> str:
        """Return the job's text with every region's first alternative in place, if it has one."""
        first = {
            result.region_id: result.alternatives[0].text
            for result in results
            if result.alternatives
        }
        return splice(self._job.text, self._job.regions, first)

    def chosen_lengths(self) -> list[int]:
        """Tokens of each finished part's first fill."""
        return [self._ranked[index].fills[0].num_tokens for index in sorted(self._ranked)]

    def notes(self) -> tuple[str, ...]:
        """Return remarks for the run card: constraints that no candidate met."""
        return tuple(
            f"no candidate of region {self._job.regions[region].region_id} meets its constraints"
            for region, parts in self._parts_of.items()
            if all(part in self._ranked for part in parts)
            and not self._meets(region, [self._ranked[part].fills[0].text for part in parts])
        )

    def _result(self, index: int, num_alternatives: int) -> RegionResult:
        region = self._job.regions[index]
        ranked = [self._ranked[part] for part in self._parts_of[index]]
        windows = {item.window for item in ranked}
        seen: dict[str, Alternative] = {}
        for rank in range(max(len(item.fills) for item in ranked)):
            chosen = [_at(item.fills, rank) for item in ranked]
            text = self._region_text(index, [fill.text for fill in chosen])
            score = sum(fill.score for fill in chosen) / len(chosen)
            known = seen.setdefault(text, Alternative(text, round(score, 6)))
            if len(windows) == 1:
                candidates = dict.fromkeys((*known.candidates, chosen[0].candidate))
                seen[text] = replace(known, candidates=tuple(candidates))
        seen = self._fitting(region, seen)
        confidence = sum(item.fills[0].confidence for item in ranked) / len(ranked)
        alternatives = tuple(seen.values())[:num_alternatives]
        window = windows.pop() if len(windows) == 1 else None
        return RegionResult(region.region_id, alternatives, round(confidence, 6), window)

    def _unfinished(self, index: int, settled: Mapping[int, Settled]) -> RegionResult:
        """Return one text of a region: finished parts, what has settled, else what stood there."""
        region = self._job.regions[index]
        present = self._job.text[region.start : region.end]
        fills: list[str] = []
        sure: list[float] = []
        for number in self._parts_of[index]:
            part, found = self._plan.parts[number], settled.get(number)
            if number in self._ranked:
                fills.append(self.fills[number])
                sure.append(self._ranked[number].fills[0].confidence)
            elif found is not None and found.is_whole:
                fills.append(found.text)
                sure.append(found.confidence)
            elif found is not None and part.original is None:
                fills.append(fair_ending(found.text, self._behind(number)))
                sure.append(found.confidence)
            else:
                # Half of a rewrite would cut the text short: a text that stands there stays.
                fills.append(part.original or "")
        text = self._region_text(index, fills)
        is_new = bool(sure) and text != present and (bool(text.strip()) or not present.strip())
        if not is_new or ("\ufffd" in text and "\ufffd" not in present):
            return RegionResult(region.region_id, (), 0.0)
        confidence = sum(sure) / len(sure)
        # Not judged: that would take one more forward. The score is that of its tokens.
        score = round(math.log(max(confidence, 1e-9)), 6)
        return RegionResult(region.region_id, (Alternative(text, score),), round(confidence, 6))

    def _behind(self, number: int) -> str:
        """Return the character behind a blank, whose later blocks hold nothing yet."""
        parts = self._plan.parts
        end = parts[number].end
        for later in parts[number + 1 :]:
            if later.region == parts[number].region and later.start == end:
                end = later.end
        return self._job.text[end : end + 1]

    def _satisfies(self, region: RegionSpec, text: str) -> bool:
        return all(is_satisfied(constraint, text) for constraint in region.constraints)

    def _satisfying_first(
        self, region: int, order: list[int], columns: list[int], result: WindowResult
    ) -> list[int]:
        if not self._job.regions[region].constraints:
            return order
        return sorted(
            order,
            key=lambda row: not self._meets(region, [result.texts[row][c] for c in columns]),
        )

    def _fitting(self, region: RegionSpec, found: dict[str, Alternative]) -> dict[str, Alternative]:
        """Return the alternatives that satisfy the region's constraints; all if none does."""
        fitting = {
            text: alternative
            for text, alternative in found.items()
            if self._satisfies(region, text)
        }
        return fitting or found

    def _meets(self, region: int, fills: list[str]) -> bool:
        if len(fills) != len(self._parts_of[region]):
            return True  # judged when all parts are there
        return self._satisfies(self._job.regions[region], self._region_text(region, fills))

    def _region_text(self, region: int, fills: list[str]) -> str:
        parts = [self._plan.parts[index] for index in self._parts_of[region]]
        return region_text(self._job.text, self._job.regions[region], parts, fills)

    def _region_draft(self, region: int, parts: list[int]) -> RegionDraft:
        """Join part drafts with the region's own locked and outer text, which is settled."""
        spec, text = self._job.regions[region], self._job.text
        pieces: list[tuple[str, bool, float]] = []
        stable, is_stable, position = 0, True, spec.start
        for index in parts:
            part = self._plan.parts[index]
            draft, count = self._drafts.get(index, (PartDraft("", (), ()), 0))
            outside = text[position : part.start]
            pieces.append((outside, True, 1.0))
            pieces.extend(_pieces(draft))
            if is_stable:
                stable += len(outside) + count
                is_stable = count == len(draft.text) and index in self.fills
            position = part.end
        tail = text[position : spec.end]
        pieces.append((tail, True, 1.0))
        stable += len(tail) if is_stable else 0
        return _joined(spec.region_id, pieces, stable)


def _pieces(draft: PartDraft) -> list[tuple[str, bool, float]]:
    """Cut a draft at its settled ranges: (text, is settled, confidence)."""
    pieces, position, values = [], 0, iter(draft.confidence)
    for start, end in draft.settled:
        if start > position:
            pieces.append((draft.text[position:start], False, next(values)))
        pieces.append((draft.text[start:end], True, next(values)))
        position = end
    if position < len(draft.text):
        pieces.append((draft.text[position:], False, next(values)))
    return pieces


def _joined(region_id: str, pieces: Sequence[tuple[str, bool, float]], stable: int) -> RegionDraft:
    text, settled = "", list[tuple[int, int]]()
    weights: list[list[tuple[float, int]]] = []
    kinds: list[bool] = []
    for piece, is_settled, confidence in pieces:
        if not piece:
            continue
        start = len(text)
        text += piece
        if kinds and kinds[-1] == is_settled:
            weights[-1].append((confidence, len(piece)))
            if is_settled:
                settled[-1] = (settled[-1][0], len(text))
        else:
            kinds.append(is_settled)
            weights.append([(confidence, len(piece))])
            if is_settled:
                settled.append((start, len(text)))
    means = tuple(
        round(sum(value * size for value, size in run) / sum(size for _, size in run), 4)
        for run in weights
    )
    return RegionDraft(region_id, text, tuple(settled), means, stable)


def _at(fills: tuple[_Fill, ...], rank: int) -> _Fill:
    return fills[min(rank, len(fills) - 1)]
