"""The client against a real worker process over a real websocket, with the scripted denoiser."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidStatus

from engine.client import EngineClient
from engine.contract import (
    JobFailed,
    JobFinished,
    JobStarted,
    PassCompleted,
    RefineJob,
    StopReason,
    WorkerReady,
    decode_from_worker,
    decode_to_worker,
    encode_from_worker,
)
from engine.errors import WorkerRefused
from engine.sampling.drafts import MASK_GLYPH
from engine.settings import EngineSettings
from engine.spawn import WorkerProcess
from tests.engine.builders import a_job, run_job

SETTINGS = EngineSettings(denoiser="scripted", scripted_pass_ms=5, threads=1)
LIMIT_S = 60.0


def with_client(
    body: Callable[[EngineClient], Awaitable[None]], settings: EngineSettings = SETTINGS
) -> None:
    async def run() -> None:
        async with asyncio.timeout(LIMIT_S), EngineClient(settings) as client:
            await body(client)

    asyncio.run(run())


async def send_megabytes(socket: ClientConnection, count: int) -> None:
    """Send one message of so many megabytes and wait for the answer."""
    await socket.send("x" * 1024 * 1024 for _ in range(count))
    await socket.recv()
    await socket.recv()


async def collect(client: EngineClient, marked: str, **config: object) -> list:
    return [event async for event in client.submit(a_job(marked, **config))]


def test_a_job_runs_in_the_worker_process_as_it_does_here():
    async def body(client: EngineClient) -> None:
        events = await collect(client, "we [___] today")

        assert isinstance(events[0], JobStarted)
        assert any(isinstance(event, PassCompleted) for event in events)
        assert events[-1].run_card.model == "scripted"
        assert events[-1].regions == run_job(a_job("we [___] today")).regions

    with_client(body)


def test_the_health_tells_when_the_model_is_there():
    async def body(client: EngineClient) -> None:
        states: list[str] = []
        client.on_state(lambda health: states.append(health.state))
        assert client.health().state == "down"

        ready = await client.ready()

        assert ready.is_loaded
        assert client.health().state == states[-1] == "ready"

    with_client(body)


def test_G4_cancel_ends_a_job_within_one_pass():
    async def body(client: EngineClient) -> None:
        job, passes, after = a_job("we [___] today", length=200), 0, None
        async for event in client.submit(job):
            if isinstance(event, PassCompleted):
                passes += 1
                if passes == 2:
                    await client.cancel(job.job_id)
            after = event
        assert isinstance(after, JobFinished)
        assert after.stop_reason is StopReason.CANCELLED

    with_client(body, SETTINGS.model_copy(update={"scripted_pass_ms": 40}))


def test_a_cancelled_job_offers_what_its_draft_held():
    async def body(client: EngineClient) -> None:
        job, asked, last = a_job("we [___] today", length=200), None, None
        async for event in client.submit(job):
            if isinstance(event, PassCompleted) and event.pass_index >= 3 and asked is None:
                asked = event
                await client.cancel(job.job_id)
            last = event

        assert last.stop_reason is StopReason.CANCELLED
        (held,) = last.regions[0].alternatives
        seen = asked.regions[0]
        settled_end = seen.settled[0][1]
        assert held.text.startswith(seen.text[:settled_end])
        assert MASK_GLYPH not in held.text

    with_client(body, SETTINGS.model_copy(update={"scripted_pass_ms": 40}))


def test_leaving_the_iterator_cancels_the_job():
    async def body(client: EngineClient) -> None:
        events = client.submit(a_job("we [___] today", job_id="left", length=200))
        await anext(events)
        await events.aclose()

        # The next job finds the worker free: the first one is gone.
        assert isinstance((await collect(client, "we [___] today"))[-1], JobFinished)

    with_client(body)


def test_a_killed_worker_fails_its_job_and_the_next_job_works():
    async def body(client: EngineClient) -> None:
        states: list[str] = []
        client.on_state(lambda health: states.append(health.state))
        last, killed = None, False
        async for event in client.submit(a_job("we [___] today", length=200)):
            if isinstance(event, PassCompleted) and not killed:
                os.kill(client.worker_pid or 0, signal.SIGKILL)
                killed = True
            last = event
        assert isinstance(last, JobFailed)
        assert (last.code, last.retryable) == ("worker_died", True)
        assert "down" in states

        assert isinstance((await collect(client, "we [___] today"))[-1], JobFinished)

    with_client(body)


def test_a_bad_job_comes_back_as_its_error():
    async def body(client: EngineClient) -> None:
        (failed,) = await collect(client, "nothing to fill")

        assert (failed.code, failed.retryable) == ("invalid_job", False)

    with_client(body)


def test_a_remote_worker_is_reached_by_url_and_token_and_refuses_wrong_ones():
    async def run() -> None:
        process = await WorkerProcess.start(SETTINGS)
        url, token = process.address.url, process.address.access_token
        try:
            remote = SETTINGS.model_copy(update={"worker_url": url, "worker_token": token})
            async with EngineClient(remote) as client:
                assert isinstance((await collect(client, "we [___] today"))[-1], JobFinished)
            wrong = remote.model_copy(update={"worker_token": "wrong"})
            async with EngineClient(wrong) as client:
                (failed,) = await collect(client, "we [___] today")
                assert failed.code == WorkerRefused.code
                with pytest.raises(WorkerRefused, match="TIDELINE_WORKER_TOKEN"):
                    await client.ready()
        finally:
            await process.stop()
        assert process.process.returncode == 0

    asyncio.run(asyncio.wait_for(run(), LIMIT_S))


def test_the_socket_refuses_strangers_old_contracts_bad_frames_and_huge_ones():
    async def run() -> None:
        process = await WorkerProcess.start(SETTINGS)
        url = process.address.url
        known = {"Authorization": f"Bearer {process.address.access_token}"}
        try:
            for headers, status in (({}, 401), (known | {"X-Tideline-Contract": "0"}, 426)):
                with pytest.raises(InvalidStatus) as caught:
                    await connect(url, additional_headers=headers)
                assert caught.value.response.status_code == status
            async with connect(url, additional_headers=known) as socket:
                await socket.send('{"type": "refine", "text": "canary"}')
                answers = [decode_from_worker(await socket.recv()) for _ in range(2)]
                while not isinstance(answers[-1], JobFailed):
                    answers.append(decode_from_worker(await socket.recv()))
                assert answers[-1].code == "invalid_job"
                assert "canary" not in answers[-1].message
                with pytest.raises(ConnectionClosed) as closed:
                    await send_megabytes(socket, 20)
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 1009
        finally:
            await process.stop()

    asyncio.run(asyncio.wait_for(run(), LIMIT_S))


def test_the_worker_ends_with_its_parent():
    async def run() -> None:
        process = await WorkerProcess.start(SETTINGS)
        assert process.process.stdin is not None
        process.process.stdin.close()

        assert await process.process.wait() == 0

    asyncio.run(asyncio.wait_for(run(), LIMIT_S))


def test_an_unreadable_message_fails_the_job_and_the_worker_is_met_again():
    """Whatever a worker sends, the client goes on: here a figure that is no number."""
    ready = encode_from_worker(WorkerReady("w", "m", "cpu", "fp32", is_loaded=True))
    broken = b'{"type": "pass_completed", "job_id": "job", "mean_confidence": null}'
    num_met = 0

    async def answer(socket: ServerConnection) -> None:
        nonlocal num_met
        num_met += 1
        await socket.send(ready, text=True)
        async for raw in socket:
            job = decode_to_worker(raw)
            if num_met == 1:
                await socket.send(broken, text=True)
            elif isinstance(job, RefineJob):
                ended = JobFailed(job.job_id, "invalid_job", "refused", False)
                await socket.send(encode_from_worker(ended), text=True)

    async def run() -> None:
        async with asyncio.timeout(LIMIT_S), serve(answer, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            settings = EngineSettings(worker_url=f"ws://127.0.0.1:{port}", worker_token="t")
            async with EngineClient(settings) as client:
                first = await collect(client, "we [___] today")
                second = await collect(client, "we [___] today")

        assert first[-1].code == "worker_died"
        assert second[-1].code == "invalid_job"
        assert num_met == 2

    asyncio.run(run())
