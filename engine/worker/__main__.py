"""Entry of the worker process: arguments, settings, logging, model, socket.

Stdout carries exactly one JSON line, `{"listening": URL}`; logs go to stderr. A worker that
the application starts reads its access token and its settings from stdin, one line each, and
ends when stdin does, because then its parent is gone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import secrets
import signal
import sys
import threading
import time
from dataclasses import replace
from urllib.parse import urlsplit

import structlog
import torch

from engine.contract import WorkerReady
from engine.errors import InvalidJob
from engine.sampling.job import Workshop
from engine.settings import EngineSettings
from engine.worker.compute import ComputeThread, LoadState
from engine.worker.core import WorkerCore
from engine.worker.opening import open_workshop
from engine.worker.transport import WorkerServer

__all__ = ["main", "run_worker"]

log = structlog.get_logger()

STOP_LIMIT_S = 2.0
"""How long a worker told to stop waits for the pass or the load that runs, in seconds."""


def main(arguments: list[str] | None = None) -> int:
    """Run a worker until it is told to stop; return the exit status."""
    parser = argparse.ArgumentParser(prog="engine.worker", description="A Tideline worker.")
    parser.add_argument("--listen", default="ws://127.0.0.1:7861", help="ws://HOST:PORT, 0 = any")
    parser.add_argument(
        "--child",
        action="store_true",
        help="read the access token and the settings (JSON) from stdin; end when stdin ends",
    )
    options = parser.parse_args(arguments)
    if not options.child:
        return run_worker(EngineSettings(), options.listen)
    access_token = sys.stdin.readline().strip()
    settings = EngineSettings.model_validate_json(sys.stdin.readline())
    return run_worker(settings, options.listen, access_token=access_token, follows_stdin=True)


def run_worker(
    settings: EngineSettings,
    listen_url: str,
    *,
    access_token: str | None = None,
    follows_stdin: bool = False,
) -> int:
    """Serve jobs at `listen_url` (ws://HOST:PORT) until a signal or the end of stdin.

    Without an access token one is made up and logged. Raises: InvalidJob for a bad URL,
    OSError when the address cannot be used.
    """
    _log_to_stderr()
    parts = urlsplit(listen_url)
    if parts.scheme != "ws" or parts.hostname is None or parts.port is None:
        raise InvalidJob(f"cannot listen at {listen_url!r}; allowed: ws://HOST:PORT")
    token = access_token or settings.worker_token
    if token is None:
        token = secrets.token_urlsafe(24)
        # For whoever starts a worker by hand and has to give the token to the application.
        sys.stderr.write(f"TIDELINE_WORKER_TOKEN={token}\n")
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    if not asyncio.run(_serve(settings, (parts.hostname, parts.port), token, follows_stdin)):
        # A load or a pass goes on in native code. The interpreter's own exit would abort the
        # process when that code next asks for the interpreter's lock.
        log.warning("worker.left_unfinished", waited_s=STOP_LIMIT_S)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    return 0


async def _serve(
    settings: EngineSettings, address: tuple[str, int], token: str, follows_stdin: bool
) -> bool:
    """Serve until told to stop; return whether all threads ended in time."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    if follows_stdin:
        _watch_stdin(loop, ended)
    ready = WorkerReady(secrets.token_hex(8), settings.model, settings.device, "", False)
    core = WorkerCore(time.monotonic, max_waiting=settings.max_waiting_jobs)
    server: WorkerServer

    def report(what: str, done: int, total: int) -> None:
        share = f" {done * 100 // total} %" if total else ""
        server.announce(replace(ready, progress=f"{what}{share}"))

    def on_load(state: LoadState, workshop: Workshop | None) -> None:
        server.announce(_ready_after(ready, state, workshop))

    compute = ComputeThread(core, lambda: open_workshop(settings, report), on_load, time.monotonic)
    server = WorkerServer(compute, ready, token)
    async with server.listen(*address) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        sys.stdout.write(json.dumps({"listening": f"ws://{address[0]}:{port}"}) + "\n")
        sys.stdout.flush()
        compute.start()
        await ended.wait()
    return compute.stop(STOP_LIMIT_S)


def _ready_after(ready: WorkerReady, state: LoadState, workshop: Workshop | None) -> WorkerReady:
    if state.error is not None:
        return replace(ready, problem_code=state.error.code, problem=str(state.error))
    assert workshop is not None, "a loaded model comes with its workshop"
    identity = workshop.identity
    return replace(
        ready,
        model=identity.model,
        device=identity.device,
        precision=identity.precision,
        is_loaded=True,
        load_ms=round(state.load_ms, 3),
    )


def _watch_stdin(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Set `ended` when stdin closes. A thread: Windows has no asynchronous stdin."""

    def watch() -> None:
        # Not through sys.stdin: its lock, held while reading, would break the interpreter's exit.
        while os.read(descriptor, 4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    descriptor = sys.stdin.fileno()

    threading.Thread(target=watch, name="stdin", daemon=True).start()


def _log_to_stderr() -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer()
            if sys.stderr.isatty()
            else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.getLogger("websockets").setLevel(logging.ERROR)


if __name__ == "__main__":
    sys.exit(main())
