"""Laws of the engine over generated documents: locks, surroundings, the tide line, the batch."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.canvas.parts import find_parts
from engine.canvas.splice import region_text, splice
from engine.contract import (
    JobFinished,
    LockSpec,
    PassCompleted,
    RefineJob,
    RegionSpec,
    SamplerConfig,
)
from engine.denoisers.scripted import Answer, ScriptedCodec, ScriptedDenoiser, Slot
from engine.errors import InvalidJob
from engine.sampling.job import JobRun
from tests.engine.builders import a_workshop

CODEC = ScriptedCodec()
ALPHABET = st.sampled_from(list("ab1 \n.,-_*[]{}é☃\U0001f600\r\tZ"))
DOCUMENTS = st.text(ALPHABET, min_size=1, max_size=60)


@st.composite
def jobs(draw: st.DrawFn, **config: object) -> RefineJob:
    """A document with up to three regions and three locks anywhere."""
    text = draw(DOCUMENTS)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
    regions = tuple(
        RegionSpec(f"r{i}", start, end, is_blank=draw(st.booleans()))
        for i, (start, end) in enumerate(zip(cuts[::2], cuts[1::2], strict=False))
    )
    locks = draw(st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, 9)), max_size=3))
    specs = tuple(LockSpec(at, min(len(text), at + size)) for at, size in locks)
    strength = draw(st.sampled_from([0.0, 0.4, 1.0]))
    return RefineJob("job", text, regions, specs, SamplerConfig(strength=strength, **config))


def contains_in_order(result: str, pieces: list[str]) -> bool:
    position = 0
    for piece in pieces:
        found = result.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return True


def locked_pieces(job: RefineJob, region: RegionSpec) -> list[str]:
    """The locked stretches inside a region, in order, overlaps merged."""
    locked = [False] * len(job.text)
    for lock in job.locks:
        locked[lock.start : lock.end] = [True] * (lock.end - lock.start)
    pieces, current = [], ""
    for offset in range(region.start, region.end):
        if locked[offset]:
            current += job.text[offset]
        elif current:
            pieces.append(current)
            current = ""
    return [*pieces, current] if current else pieces


def check_surroundings(job: RefineJob, texts: dict[str, str]) -> None:
    """B1, B4: outside regions nothing changes, and locks inside regions are still there."""
    result = splice(job.text, job.regions, texts)
    position = 0
    for region in job.regions:
        before = job.text[position : region.start]
        assert result.startswith(before)
        result = result[len(before) :]
        assert result.startswith(texts[region.region_id])
        result = result[len(texts[region.region_id]) :]
        assert contains_in_order(texts[region.region_id], locked_pieces(job, region))
        position = region.end
    assert result == job.text[position:]


@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(jobs(), st.lists(st.text(ALPHABET, max_size=12), min_size=12, max_size=12))
def test_B1_no_fill_changes_a_byte_outside_its_region_or_inside_a_lock(job, fills):
    try:
        parts = find_parts(job, CODEC)
    except InvalidJob:
        return
    texts = {}
    for index, region in enumerate(job.regions):
        own = [part for part in parts if part.region == index]
        texts[region.region_id] = region_text(job.text, region, own, fills[: len(own)])

    check_surroundings(job, texts)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(jobs(steps=8), st.integers(0, 2**32))
def test_B4_locks_and_surroundings_survive_any_model(job, noise):
    def babble(slot: Slot) -> Answer:
        seed = hash((noise, slot.call, slot.index, slot.region)) % CODEC.vocab_size
        return Answer(CODEC.decode([seed]) or " and", 0.05 + (seed % 19) / 20)

    try:
        run = JobRun(a_workshop(ScriptedDenoiser(babble)), job)
    except InvalidJob:
        return
    finished = [*run.events()][-1]

    assert isinstance(finished, JobFinished)
    for rank in range(3):
        texts = {
            result.region_id: result.alternatives[min(rank, len(result.alternatives) - 1)].text
            for result in finished.regions
        }
        check_surroundings(job, texts)


@pytest.mark.parametrize("preset", ["fast", "balanced", "careful"])
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 8))
def test_the_stable_prefix_never_retracts_and_the_result_starts_with_it(
    preset, noise, length, steps
):
    def babble(slot: Slot) -> Answer:
        seed = hash((noise, slot.call, slot.index, slot.region, slot.num_slots))
        words = (" plan", " staff", " week", "today", " and", ".")
        return Answer(words[seed % len(words)], 0.2 + (seed // 7 % 79) / 100)

    text = "we [___] until noon, and then [___] with all"
    regions = tuple(RegionSpec(f"r{i}", at, at + 5, is_blank=True) for i, at in enumerate((3, 30)))
    config = SamplerConfig(preset=preset, length=length, steps=4 * steps)
    workshop = a_workshop(ScriptedDenoiser(babble))

    told: dict[str, str] = {}
    finished = None
    for event in JobRun(workshop, RefineJob("job", text, regions, config=config)).events():
        if isinstance(event, PassCompleted):
            for draft in event.regions:
                stable = draft.text[: draft.stable_prefix]
                assert stable.startswith(told.get(draft.region_id, ""))
                told[draft.region_id] = stable
        finished = event

    assert isinstance(finished, JobFinished)
    for result in finished.regions:
        assert result.alternatives[0].text.startswith(told[result.region_id])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_text(seed):
    config = SamplerConfig(seed=seed, temperature=1.0, alternatives=5)
    job = RefineJob("job", "we [___] today", (RegionSpec("a", 3, 8, is_blank=True),), config=config)

    first, second = ([*JobRun(a_workshop(), job).events()][-1] for _ in range(2))

    assert first.regions == second.regions
    assert first.run_card.result_sha256 == second.run_card.result_sha256
