"""Ending the compute thread: at once when idle, never waiting longer than told."""

from __future__ import annotations

import threading
import time

from engine.sampling.job import Workshop
from engine.worker.compute import ComputeThread, LoadState
from engine.worker.core import WorkerCore
from tests.engine.builders import a_workshop

LIMIT_S = 10.0


def test_a_worker_with_nothing_to_do_ends_in_time():
    compute, loaded = started(lambda: None)
    assert loaded.wait(LIMIT_S)

    assert compute.stop(LIMIT_S)


def test_a_load_that_goes_on_is_not_waited_for():
    may_end = threading.Event()
    compute, _ = started(lambda: may_end.wait(LIMIT_S))

    assert not compute.stop(0.05)

    may_end.set()
    assert compute.stop(LIMIT_S)


def started(before_load) -> tuple[ComputeThread, threading.Event]:
    loaded = threading.Event()

    def load() -> Workshop:
        before_load()
        return a_workshop()

    def on_load(_state: LoadState, _workshop: Workshop | None) -> None:
        loaded.set()

    core = WorkerCore(time.monotonic, max_waiting=4)
    compute = ComputeThread(core, load, on_load, time.monotonic)
    compute.start()
    return compute, loaded
