"""From regions and locks to parts: the unlocked stretches a model may write.

Owns the job's validity and the edges of a part: characters beside it that its tokens must
repeat (a space, half a word), so that tokens meet the text as a tokenizer would have cut it.
It must not know windows, canvases or models. A part never contains a locked code point; what is
longer than a canvas becomes several parts, block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from engine.canvas.blocks import BLOCK_TOKENS, cut_blank, cut_text
from engine.canvas.slots import TextCodec
from engine.contract import (
    MAX_ALTERNATIVES,
    MAX_REGIONS,
    MAX_TEXT_CODE_POINTS,
    LockSpec,
    RefineJob,
    RegionSpec,
    SamplerConfig,
)
from engine.errors import InvalidJob, RegionTooLong, TooManyRegions

__all__ = ["MAX_PART_TOKENS", "Part", "check_job", "find_parts"]

MAX_PART_TOKENS = 256
MAX_REGION_TOKENS = 4096  # asked for; a region longer than a part is written block by block
MAX_LEAD = 100  # nats: no model leads by more
EDGE_CODE_POINTS = 48  # looked at on either side to find the token that crosses an edge


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch [start, end) of the text that a fill replaces.

    `prefix` and `suffix` are the bytes just outside it that the first and last token repeat;
    [left_cut, right_cut) is the stretch with them. `original` is None for a blank.
    """

    region: int  # index into the job's regions
    start: int
    end: int
    left_cut: int
    right_cut: int
    prefix: bytes
    suffix: bytes
    original: str | None
    is_inline: bool  # must not contain a line break
    is_guarded_left: bool  # a locked letter or digit touches it: none may be set against it
    is_guarded_right: bool
    length: int | None  # hint in tokens
    strength: float
    is_constrained: bool = False  # its region's text must keep to a form

    @property
    def has_words(self) -> bool:
        """Whether the present text holds a letter or digit; a blank's marker is no text."""
        return self.original is not None and any(char.isalnum() for char in self.original)


def check_job(job: RefineJob) -> None:
    """Refuse a job that cannot be run. Raises: InvalidJob, TooManyRegions."""
    size = len(job.text)
    if size > MAX_TEXT_CODE_POINTS:
        raise InvalidJob(f"the text has {size} code points; at most {MAX_TEXT_CODE_POINTS}")
    if any("\ud800" <= char <= "\udfff" for char in job.text + job.config.brief):
        raise InvalidJob("the text holds unpaired surrogates; allowed: Unicode scalar values")
    if not job.regions:
        raise InvalidJob("the job names no region; at least one is needed")
    if len(job.regions) > MAX_REGIONS:
        raise TooManyRegions(f"{len(job.regions)} regions; at most {MAX_REGIONS} in one job")
    _check_ranges(job.regions, job.locks, size)
    _check_config(job)


def find_parts(job: RefineJob, codec: TextCodec) -> tuple[Part, ...]:
    """Return the parts of all regions in text order.

    Raises: InvalidJob when a region is wholly locked, RegionTooLong.
    """
    locks = _merged(job.locks)
    parts: list[Part] = []
    order = sorted(range(len(job.regions)), key=lambda index: job.regions[index].start)
    for position, index in enumerate(order):
        region = job.regions[index]
        limit = job.regions[order[position + 1]].start if position + 1 < len(order) else None
        pieces = _unlocked(region, locks)
        if not pieces:
            raise InvalidJob(
                f"region {region.region_id} ({region.start}:{region.end}) lies inside locked text"
            )
        blocks = [block for piece in pieces for block in _blocks(job, index, piece, codec)]
        for number, block in enumerate(blocks):
            left_limit = parts[-1].right_cut if parts else 0
            right_limit = len(job.text) if limit is None else limit
            if number + 1 < len(blocks):
                right_limit = min(right_limit, blocks[number + 1].start)
            parts.append(_shape_part(job, index, block, locks, codec, (left_limit, right_limit)))
    return tuple(parts)


class _Block(NamedTuple):
    """What becomes a part: its stretch, its length in tokens if asked for, its whole piece."""

    start: int
    end: int
    length: int | None
    piece: tuple[int, int]


def _blocks(job: RefineJob, index: int, piece: tuple[int, int], codec: TextCodec) -> list[_Block]:
    """Cut an unlocked piece of a region into what fits a canvas. Raises: RegionTooLong."""
    region, (start, end) = job.regions[index], piece
    length = region.length or job.config.length
    if region.constraints:
        if length is not None and length > MAX_PART_TOKENS:
            raise RegionTooLong(
                f"a length of {length} tokens with constraints; at most {MAX_PART_TOKENS}"
            )
        return [_Block(start, end, length, piece)]
    if not region.is_blank:
        blocks = cut_text(job.text, start, end, codec, longest=MAX_PART_TOKENS)
        share = None if length is None else max(1, min(length // len(blocks), MAX_PART_TOKENS))
        return [_Block(*block, share, piece) for block in blocks]
    if length is None or length <= MAX_PART_TOKENS:
        return [_Block(start, end, length, piece)]
    shares = cut_blank(start, end, length)
    if shares is None:
        raise RegionTooLong(
            f"a length of {length} tokens in a blank of {end - start} characters; at most "
            f"{BLOCK_TOKENS} for each of them"
        )
    return [_Block(*block, piece) for block in shares]


def _check_ranges(regions: Iterable[RegionSpec], locks: Iterable[LockSpec], size: int) -> None:
    previous_end, seen = 0, set[str]()
    for region in sorted(regions, key=lambda item: item.start):
        if not 0 <= region.start <= region.end <= size:
            raise InvalidJob(
                f"region {region.region_id} is {region.start}:{region.end}; the text has {size} "
                "code points"
            )
        if region.start == region.end:
            raise InvalidJob(f"region {region.region_id} is empty at {region.start}")
        if region.start < previous_end:
            raise InvalidJob(f"region {region.region_id} overlaps the region before it")
        if region.region_id in seen:
            raise InvalidJob(f"region id {region.region_id} is given twice")
        seen.add(region.region_id)
        previous_end = region.end
    for lock in locks:
        if not 0 <= lock.start < lock.end <= size:
            raise InvalidJob(
                f"lock {lock.start}:{lock.end} is empty or outside the text's {size} code points"
            )


def _check_config(job: RefineJob) -> None:
    config = job.config
    strengths = [config.strength, *(r.strength for r in job.regions if r.strength is not None)]
    if any(not 0 <= strength <= 1 for strength in strengths):
        raise InvalidJob("strength must be between 0 and 1")
    if not 1 <= config.alternatives <= MAX_ALTERNATIVES:
        raise InvalidJob(f"{config.alternatives} alternatives; allowed: 1 to {MAX_ALTERNATIVES}")
    lengths = [config.length, *(region.length for region in job.regions)]
    for length in lengths:
        if length is not None and length < 1:
            raise InvalidJob(f"a length of {length} tokens; at least 1")
        if length is not None and length > MAX_REGION_TOKENS:
            raise RegionTooLong(f"a length of {length} tokens; at most {MAX_REGION_TOKENS}")
    if config.steps is not None and config.steps < 1:
        raise InvalidJob(f"{config.steps} steps; at least 1")
    _check_numbers(config)


def _check_numbers(config: SamplerConfig) -> None:
    """Refuse what no rule can work with; NaN is within no range."""
    limits: dict[str, tuple[Callable[[float], bool], str]] = {
        "temperature": (lambda value: 0 <= value <= 2, "0 to 2"),
        "top_p": (lambda value: 0 < value <= 1, "above 0, at most 1"),
        "early_answer": (lambda value: 0 < value <= MAX_LEAD, f"above 0, at most {MAX_LEAD} nats"),
        "guidance": (lambda value: 0 <= value < 1, "0 to below 1"),
    }
    for name, (is_allowed, words) in limits.items():
        value = getattr(config, name)
        if value is not None and not is_allowed(value):
            raise InvalidJob(f"{name} {value}; allowed: {words}")


def _merged(locks: Iterable[LockSpec]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for lock in sorted(locks, key=lambda item: item.start):
        if merged and lock.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], lock.end))
        else:
            merged.append((lock.start, lock.end))
    return tuple(merged)


def _unlocked(region: RegionSpec, locks: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    pieces, start = [], region.start
    for lock_start, lock_end in locks:
        if lock_end <= start or lock_start >= region.end:
            continue
        if lock_start > start:
            pieces.append((start, lock_start))
        start = max(start, lock_end)
    if start < region.end:
        pieces.append((start, region.end))
    return pieces


def _shape_part(
    job: RefineJob,
    index: int,
    block: _Block,
    locks: tuple[tuple[int, int], ...],
    codec: TextCodec,
    limits: tuple[int, int],
) -> Part:
    text, region = job.text, job.regions[index]
    start, end = block.start, block.end
    # A form is that of the whole region, white space at its edges too.
    if not region.is_blank and not region.constraints:
        start, end = _without_margins(text, start, end)
    guards = _is_locked_word(text, start - 1, locks), _is_locked_word(text, end, locks)
    # Locked text inside the region bounds the right edge too.
    next_lock = min((lock[0] for lock in locks if lock[0] >= end), default=len(text))
    left = text[max(limits[0], start - EDGE_CODE_POINTS) : start]
    right = text[end : min(limits[1], end + EDGE_CODE_POINTS, max(next_lock, end))]
    prefix = "" if guards[0] else _left_fragment(left, codec)
    suffix = "" if guards[1] else _right_fragment(right, codec)
    is_constrained = bool(region.constraints)
    if is_constrained:
        # A form is read character by character from the region's edge: half words stay outside.
        prefix = prefix if prefix == " " and start - 1 > limits[0] else ""
        suffix = ""
    left_cut, right_cut = start - len(prefix), end + len(suffix)
    original = None if region.is_blank else text[start:end]
    strength = job.config.strength if region.strength is None else region.strength
    return Part(
        region=index,
        start=start,
        end=end,
        left_cut=left_cut,
        right_cut=right_cut,
        prefix=prefix.encode(),
        suffix=suffix.encode(),
        original=original,
        # A block of a blank is part of its line only if the whole blank is.
        is_inline=_is_inline(
            text, *(block.piece if region.is_blank else (start, end)), is_blank=region.is_blank
        ),
        is_guarded_left=guards[0],
        is_guarded_right=guards[1],
        length=block.length,
        strength=strength,
        is_constrained=is_constrained,
    )


def _without_margins(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave the white space around existing text alone; all-white text stays as it is."""
    core = text[start:end]
    if not core.strip():
        return start, end
    return start + len(core) - len(core.lstrip()), end - len(core) + len(core.rstrip())


def _is_locked_word(text: str, offset: int, locks: tuple[tuple[int, int], ...]) -> bool:
    if not 0 <= offset < len(text) or not text[offset].isalnum():
        return False
    return any(start <= offset < end for start, end in locks)


def _left_fragment(left: str, codec: TextCodec) -> str:
    if left.endswith(" "):
        return " "
    if not left or not left[-1].isalnum():
        return ""
    return _as_text(codec.token_bytes(codec.encode(left)[-1]), left, at_end=True)


def _right_fragment(right: str, codec: TextCodec) -> str:
    if not right or not right[0].isalnum():
        return ""
    return _as_text(codec.token_bytes(codec.encode(right)[0]), right, at_end=False)


def _as_text(fragment: bytes, around: str, *, at_end: bool) -> str:
    """Return the fragment if it is letters or digits, at most a space before them; else ""."""
    try:
        decoded = fragment.decode()
    except UnicodeDecodeError:
        return ""
    fits = around.endswith(decoded) if at_end else around.startswith(decoded)
    return decoded if fits and decoded.removeprefix(" ").isalnum() else ""


def _is_inline(text: str, start: int, end: int, *, is_blank: bool) -> bool:
    if not is_blank and "\n" in text[start:end]:
        return False
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    rest = text[line_start:start] + text[end : len(text) if line_end < 0 else line_end]
    return bool(rest.strip())
