"""Log lines: event names and facts as fields, never the user's words.

An exception is logged as its type and the places it passed, without its message, because
messages of libraries quote what they were given.
"""

from __future__ import annotations

import logging
import sys
import traceback
from types import TracebackType
from typing import Literal

import structlog
from structlog.typing import EventDict, WrappedLogger

__all__ = ["Logger", "configure_logging", "get_logger"]

Logger = structlog.stdlib.BoundLogger
# "uvicorn.error" writes the address of every websocket, ids and query included
_QUIET = ("uvicorn.error", "uvicorn", "httpx", "httpcore", "websockets", "alembic", "asyncio")


def configure_logging(log_format: Literal["console", "json"] = "console") -> None:
    """Send every log line, ours and the libraries', to stderr in one format."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _strip_exception,
    ]
    render: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    output = logging.StreamHandler(sys.stderr)
    output.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    root = logging.getLogger()
    root.handlers = [output]
    root.setLevel(logging.INFO)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def get_logger(name: str) -> Logger:
    """Return the logger of a module."""
    logger: Logger = structlog.stdlib.get_logger(name)
    return logger


def _strip_exception(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    record = event.get("_record")
    info = event.pop("exc_info", None) or getattr(record, "exc_info", None)
    if info is True:
        info = sys.exc_info()
    if isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if record is not None:
        record.exc_info = record.exc_text = None
    if isinstance(info, tuple) and info[0] is not None:
        event["error"] = info[0].__name__
        event["at"] = _places(info[2])
    return event


def _places(trace: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(trace)[-6:]
    return [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}:{frame.name}" for frame in frames]
