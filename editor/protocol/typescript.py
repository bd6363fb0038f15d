"""Writes the TypeScript twin of `messages.py`: `python -m editor.protocol.typescript`.

Owns the mapping from pydantic models to TypeScript types and the list of error codes the
browser must have words for. It reads models only, never messages. A field with a default is
optional where the browser writes it (reached from client messages only) and always present
where the server does: server frames are dumped whole and by alias.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from editor import errors as editor_errors
from editor.protocol import messages
from engine import errors as engine_errors

__all__ = ["error_codes", "render_typescript"]

_HEADER = """\
// Generated from editor/protocol/messages.py. Do not edit.
// Write again with: python -m editor.protocol.typescript > static/src/protocol.gen.ts
// Offsets are UTF-16 code units; ranges are half-open.
"""

_SCALARS: dict[Any, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    Any: "unknown",
}


def render_typescript() -> str:
    """Return the whole of `protocol.gen.ts`, the same for the same messages."""
    client = get_args(messages.ClientMessage)
    server = get_args(messages.ServerMessage)
    from_server = set(_reachable(server))
    models = [*from_server, *(m for m in _reachable(client) if m not in from_server)]
    models.sort(key=list(vars(messages).values()).index)

    parts = [
        _HEADER,
        f"export const PROTOCOL_VERSION = {messages.PROTOCOL_VERSION}\n",
        *(_interface(model, is_sent_by_server=model in from_server) for model in models),
        _union("ClientMessage", [model.__name__ for model in client]),
        _union("ServerMessage", [model.__name__ for model in server]),
        _codes(error_codes()),
    ]
    return "\n".join(parts)


def error_codes() -> list[str]:
    """Return every `code` the browser may be sent, sorted."""
    trees: list[type[Any]] = [editor_errors.EditorError, engine_errors.EngineError]
    codes: set[str] = set()
    while trees:
        error = trees.pop()
        codes.add(error.code)
        trees.extend(error.__subclasses__())
    return sorted(codes)


def _reachable(roots: tuple[type[BaseModel], ...]) -> Iterator[type[BaseModel]]:
    waiting, seen = list(roots), set(roots)
    while waiting:
        model = waiting.pop()
        yield model
        for field in model.model_fields.values():
            found = [m for m in _models_in(field.annotation) if m not in seen]
            seen.update(found)
            waiting.extend(found)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def _interface(model: type[BaseModel], *, is_sent_by_server: bool) -> str:
    lines = [
        f"  {_property(name, field, is_sent_by_server=is_sent_by_server)}"
        for name, field in model.model_fields.items()
    ]
    summary = (model.__doc__ or "").strip().splitlines()
    doc = f"/** {summary[0]} */\n" if summary and model.__doc__ != messages.Message.__doc__ else ""
    return f"{doc}export interface {model.__name__} {{\n" + "\n".join(lines) + "\n}\n"


def _property(name: str, field: FieldInfo, *, is_sent_by_server: bool) -> str:
    is_optional = not is_sent_by_server and not field.is_required() and name != "type"
    return f"{field.alias or name}{'?' if is_optional else ''}: {_type(field.annotation)}"


def _type(annotation: Any) -> str:
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.__name__
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin in (Union, types.UnionType):
        return " | ".join(_type(argument) for argument in arguments)
    if origin is list:
        inner = _type(arguments[0])
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {_type(arguments[1])}>"
    if origin is tuple:
        return f"[{', '.join(_type(argument) for argument in arguments)}]"
    raise TypeError(f"no TypeScript form for {annotation!r}; add one to editor.protocol.typescript")


def _union(name: str, members: list[str]) -> str:
    return f"export type {name} =\n" + "\n".join(f"  | {member}" for member in members) + "\n"


def _codes(codes: list[str]) -> str:
    rows = "\n".join(f'  "{code}",' for code in codes)
    return (
        f"export const ERROR_CODES = [\n{rows}\n] as const\n"
        "export type ErrorCode = (typeof ERROR_CODES)[number]\n"
    )


if __name__ == "__main__":
    sys.stdout.write(render_typescript())
