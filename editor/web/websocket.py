"""The live connection of one browser to one document.

Access and origin were checked before (`editor.web.access`); a document that does not exist is
answered before the socket opens. The first message is hello. Whatever a browser sends, it gets
a frame back and nothing breaks: bad JSON, unknown types and refused commands become `problem`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from editor.document.state import DocumentState
from editor.errors import EditorError, InvalidInput
from editor.hub import commands, wire
from editor.hub.outbox import Frame, Outbox
from editor.hub.room import Greeting, Room
from editor.logging import get_logger
from editor.protocol.messages import (
    CLIENT_MESSAGE,
    ClientMessage,
    Edit,
    Hello,
    PingMessage,
    PongMessage,
    Problem,
    Refine,
    Restore,
    RunRefused,
)
from editor.services.history import read_earlier
from editor.web.errors import error_response, from_validation
from editor.web.services import Services, find_services

__all__ = ["router"]

log = get_logger(__name__)
router = APIRouter()

HELLO_WITHIN_S = 15.0
_TOO_BIG: Final = 1009
_POLICY: Final = 1008
_RESTARTING: Final = 1012


@dataclass(slots=True)
class _Browser:
    """One open socket."""

    socket: WebSocket
    services: Services
    document_id: str
    client_id: str = ""
    outbox: Outbox = field(default_factory=lambda: Outbox(now_s=time.monotonic))


@router.websocket("/ws/documents/{document_id}")
async def edit_document(socket: WebSocket, document_id: str) -> None:
    """Open the document for one browser: `?since=SEQ&epoch=EPOCH` resumes."""
    browser = _Browser(socket, find_services(socket), document_id)
    try:
        async with browser.services.hub.room(document_id) as room:
            await socket.accept()
            browser.services.metrics.connections.inc()
            try:
                await _serve(browser, room)
            finally:
                browser.services.metrics.connections.dec()
    except EditorError as error:
        await socket.send_denial_response(error_response(error))
    except WebSocketDisconnect:
        return


async def _serve(browser: _Browser, room: Room) -> None:
    """Talk to a browser until one side ends it, then leave the room."""
    greeting = await _read_hello(browser)
    if greeting is None:
        return
    try:
        await room.attach(browser.outbox, greeting)
        await _exchange(browser, room)
    except EditorError as error:  # deleted in this moment, or the store cannot be read
        await browser.socket.send_text(_problem(error, None).model_dump_json(by_alias=True))
        await _close(browser.socket, _RESTARTING, "the document cannot be opened")
    finally:
        room.detach(browser.outbox)
        metrics = browser.services.metrics
        metrics.dropped_frames.inc(browser.outbox.num_replaced)
        metrics.dropped_connections.inc(browser.outbox.is_overrun)


async def _exchange(browser: _Browser, room: Room) -> None:
    sending = asyncio.create_task(_send(browser))
    overrun = asyncio.create_task(browser.outbox.wait_overrun())
    receiving = asyncio.create_task(_receive(browser, room))
    tasks = (sending, overrun, receiving)
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        if task.exception() is not None and not isinstance(task.exception(), WebSocketDisconnect):
            log.error(
                "websocket.failed", document_id=browser.document_id, exc_info=task.exception()
            )
    if overrun in done:
        log.warning("websocket.too_slow", document_id=browser.document_id)
        return  # a close frame would wait behind what the browser does not read
    if sending in done and receiving not in done:
        await _close(browser.socket, _RESTARTING, "the server lets this document go")


async def _send(browser: _Browser) -> None:
    while (frame := await browser.outbox.take()) is not None:
        await browser.socket.send_text(frame)


async def _receive(browser: _Browser, room: Room) -> None:
    while True:
        raw = await _read(browser)
        if raw is None:
            return
        try:
            message = _parse(raw)
        except EditorError as error:
            _answer(browser, _problem(error, _op_id(raw)))
            continue
        await _carry_out(browser, room, message)


async def _carry_out(browser: _Browser, room: Room, message: ClientMessage) -> None:
    try:
        await _act(browser, room, message)
    except EditorError as error:
        op_id = getattr(message, "op_id", None)
        if isinstance(message, Refine):
            refused = RunRefused(
                op_id=op_id, code=error.code, message=str(error), retryable=error.retryable
            )
            browser.outbox.offer(Frame.of(refused))
        else:
            _answer(browser, _problem(error, op_id))
    except Exception:  # the socket's rim: one message that broke must not end the connection
        log.error(
            "websocket.message_failed",
            document_id=browser.document_id,
            type=message.type,
            exc_info=True,
        )
        fault = Problem(
            op_id=getattr(message, "op_id", None),
            code="internal_error",
            message="the server met an unexpected fault; nothing was changed",
            retryable=True,
        )
        _answer(browser, fault)


async def _act(browser: _Browser, room: Room, message: ClientMessage) -> None:
    match message:
        case Hello():
            raise InvalidInput("hello was said before; it is allowed once per connection")
        case PingMessage():
            browser.outbox.offer(Frame.of(PongMessage(seq=room.seq)))
        case Restore():
            earlier = await browser.services.database.read(
                lambda db: read_earlier(db, browser.document_id, message.revision)
            )
            command = commands.RestoreRevision(
                message.op_id,
                earlier.n,
                earlier.text,
                version=earlier.version,
                spans=earlier.spans,
            )
            await room.execute(command, browser.outbox)
        case _:
            num_updates = len(message.updates) if isinstance(message, Edit) else 1
            await room.execute_made(
                _maker(browser, message), browser.outbox, num_updates=num_updates
            )


def _maker(browser: _Browser, message: wire.Carried) -> Callable[[DocumentState], commands.Command]:
    return lambda state: wire.command_for(message, state, client_id=browser.client_id)


async def _read_hello(browser: _Browser) -> Greeting | None:
    try:
        async with asyncio.timeout(HELLO_WITHIN_S):
            raw = await _read(browser)
    except TimeoutError:
        await _close(browser.socket, _POLICY, "no hello came")
        return None
    if raw is None:
        return None
    try:
        message = _parse(raw)
        if not isinstance(message, Hello):
            raise InvalidInput(f"the first message must be hello, not {message.type}")
    except EditorError as error:
        await browser.socket.send_text(_problem(error, None).model_dump_json(by_alias=True))
        await _close(browser.socket, _POLICY, "the first message must be hello")
        return None
    browser.client_id = message.client_id
    query = browser.socket.query_params
    since = query.get("since", "")
    return Greeting(
        since=int(since) if since.isdecimal() and len(since) < 16 else None,
        epoch=query.get("epoch"),
        version=message.version,
    )


async def _read(browser: _Browser) -> str | bytes | None:
    """Return the next frame, or None when the connection has ended or is ended for its size."""
    received = await browser.socket.receive()
    if received["type"] == "websocket.disconnect":
        return None
    raw: str | bytes = received.get("text") or received.get("bytes") or ""
    limit = browser.services.settings.frame_limit_bytes
    if len(raw) > limit or (isinstance(raw, str) and len(raw.encode("utf-8", "replace")) > limit):
        await _close(browser.socket, _TOO_BIG, f"a frame may have {limit} bytes")
        return None
    return raw


def _parse(raw: str | bytes) -> ClientMessage:
    if isinstance(raw, bytes):
        raise InvalidInput("a binary frame came; only JSON text frames are allowed")
    try:
        return CLIENT_MESSAGE.validate_json(raw)
    except ValidationError as error:
        raise from_validation(error) from error


def _op_id(raw: str | bytes) -> str | None:
    """Return the op id of a frame that is JSON but no message, so that its sender can tell."""
    try:
        frame = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    op_id = frame.get("op_id") if isinstance(frame, dict) else None
    is_usable = isinstance(op_id, str) and len(op_id) <= 64 and op_id.isprintable()
    return op_id if is_usable else None


def _problem(error: EditorError, op_id: str | None) -> Problem:
    return Problem(op_id=op_id, code=error.code, message=str(error), retryable=error.retryable)


def _answer(browser: _Browser, problem: Problem) -> None:
    browser.outbox.offer(Frame.of(problem))


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    try:
        await socket.close(code, reason)
    except (RuntimeError, WebSocketDisconnect):  # it is closed already
        return
