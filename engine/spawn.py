"""Start a worker process and stop it: pipes, the first line of stdout, the exit.

No torch and no protocol. The access token and the settings go over stdin, so that neither
shows in a process list; an end of stdin ends the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from engine.errors import WorkerUnavailable
from engine.settings import EngineSettings

__all__ = ["PATIENT_THREADS", "WorkerAddress", "WorkerProcess", "worker_environment"]

START_S = 60.0  # importing torch on a cold disk is slow
STOP_S = 5.0

# Threads that wait by spinning burn the core that the thread they wait for needs: with another
# busy process on two cores a fill took minutes instead of seconds (engine/LOG.md).
PATIENT_THREADS = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}


def worker_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that computes; what the user set wins."""
    return {**PATIENT_THREADS, **inherited}


@dataclass(frozen=True, slots=True)
class WorkerAddress:
    url: str
    access_token: str


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A running worker that this process started."""

    address: WorkerAddress
    process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        return self.process.pid

    @classmethod
    async def start(cls, settings: EngineSettings) -> Self:
        """Start a worker on a free loopback port. Raises: WorkerUnavailable."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "engine.worker",
            "--listen",
            "ws://127.0.0.1:0",
            "--child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parent.parent,  # so that `-m engine.worker` is this package
            env=worker_environment(os.environ),
        )
        token = secrets.token_urlsafe(24)
        assert process.stdin is not None, "stdin is a pipe"
        lines = f"{token}\n{settings.model_dump_json(exclude={'worker_token'})}\n"
        with contextlib.suppress(ConnectionError):
            process.stdin.write(lines.encode())
            await process.stdin.drain()
        started = None
        try:
            url = await _read_address(process)
            started = cls(WorkerAddress(url, token), process)
            return started
        finally:
            if started is None:
                await _end(process)

    async def stop(self) -> None:
        """Close stdin, wait a little, then kill."""
        await _end(self.process)


async def _read_address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None, "stdout is a pipe"
    try:
        async with asyncio.timeout(START_S):
            line = await process.stdout.readline()
        return str(json.loads(line)["listening"])
    except TimeoutError as error:
        raise WorkerUnavailable(f"the worker did not start within {START_S:.0f} s") from error
    except (ValueError, KeyError) as error:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                await process.wait()
        raise WorkerUnavailable(
            f"the worker ended with status {process.returncode} before it listened; see its log"
        ) from error


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
