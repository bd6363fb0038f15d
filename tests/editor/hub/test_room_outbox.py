import asyncio

import pytest

from editor.hub.outbox import MAX_FRAMES, MIN_PASS_GAP_S, Frame, Outbox


def a_pass(number, run="run"):
    return Frame(json=f"{run} pass {number}", pass_of=run)


class Clock:
    """Time that only the test moves."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


async def take_ready(outbox):
    """Return what can be taken without waiting."""
    taken = []
    while True:
        task = asyncio.ensure_future(outbox.take())
        for _ in range(3):
            await asyncio.sleep(0)
        if not task.done():
            task.cancel()
            return taken
        taken.append(task.result())
        if taken[-1] is None:
            return taken


def run(scenario):
    clock = Clock()
    outbox = Outbox(now_s=clock)
    return asyncio.run(scenario(outbox, clock))


def test_frames_that_matter_leave_in_order_and_before_passes():
    async def scenario(outbox, _clock):
        outbox.offer(a_pass(1))
        for number in range(3):
            outbox.offer(Frame(json=str(number), seq=number))
        return await take_ready(outbox)

    assert run(scenario) == ["0", "1", "2", "run pass 1"]


def test_the_newest_pass_replaces_the_one_that_waits():
    async def scenario(outbox, _clock):
        for number in range(10):
            outbox.offer(a_pass(number))
        outbox.offer(a_pass(1, run="other"))
        first = await take_ready(outbox)
        return first, outbox.num_replaced

    assert run(scenario) == (["run pass 9"], 9)


def test_passes_leave_at_most_twenty_times_a_second():
    async def scenario(outbox, clock):
        taken = []
        for number in range(200):  # one pass every 5 ms for a second
            outbox.offer(a_pass(number))
            taken += await take_ready(outbox)
            clock.now_s += 0.005
        return taken

    assert 18 <= len(run(scenario)) <= 1 / MIN_PASS_GAP_S


def test_no_pass_follows_the_end_of_its_run():
    async def scenario(outbox, _clock):
        outbox.offer(a_pass(1))
        outbox.offer(Frame(json="ended", seq=1, ends_passes_of="run"))
        return await take_ready(outbox)

    assert run(scenario) == ["ended"]


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_reader_too_far_behind_is_overrun_and_memory_is_bounded(size):
    async def scenario(outbox, _clock):
        num_offered = 0
        while not outbox.is_overrun and num_offered < 10_000:
            outbox.offer(Frame(json="x" * size, seq=num_offered))
            num_offered += 1
        await outbox.wait_overrun()
        return num_offered, await take_ready(outbox)

    num_offered, taken = run(scenario)

    assert num_offered <= min(MAX_FRAMES + 1, 16_000_000 // size + 1)
    assert taken == [None]


def test_a_closed_outbox_hands_out_what_it_has_and_no_more():
    async def scenario(outbox, _clock):
        outbox.offer(Frame(json="kept", seq=1))
        outbox.close()
        outbox.offer(Frame(json="late", seq=2))
        return await take_ready(outbox)

    assert run(scenario) == ["kept", None]


def test_a_waiting_reader_wakes_when_something_comes():
    async def scenario(outbox, _clock):
        task = asyncio.ensure_future(outbox.take())
        await asyncio.sleep(0)
        outbox.offer(Frame(json="here", seq=1))
        return await task

    assert run(scenario) == "here"
