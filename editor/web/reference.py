"""The HTTP reference at /docs, written from the OpenAPI document.

FastAPI's own page loads its scripts from another host; a self-hosted editor must show its
reference without one, and under its own content policy.
"""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

__all__ = ["reference_page"]

Json = dict[str, Any]


def reference_page(openapi: Json) -> str:
    """Return one self-contained HTML page without scripts."""
    groups: dict[str, list[str]] = {}
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            groups.setdefault(tag, []).append(_operation(openapi, path, method, operation))
    body = "".join(f"<h2>{escape(tag)}</h2>{''.join(parts)}" for tag, parts in groups.items())
    info = openapi["info"]
    return _PAGE.format(
        title=escape(info["title"]),
        version=escape(info["version"]),
        description="".join(
            f"<p>{_marked(part)}</p>" for part in info.get("description", "").split("\n\n")
        ),
        body=body,
    )


def _operation(openapi: Json, path: str, method: str, operation: Json) -> str:
    parts = [f"<p>{_marked(operation.get('description', ''))}</p>"]
    if rows := [_row(p["name"], p["schema"], p) for p in operation.get("parameters", [])]:
        parts.append(f"<h4>Parameters</h4><table>{''.join(rows)}</table>")
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<h4>Body <code>{escape(kind)}</code></h4>")
        parts.append(_schema_table(openapi, content.get("schema", {})))
    parts.append("<h4>Answers</h4>")
    for status, answer in operation["responses"].items():
        parts.append(f"<p><code>{status}</code> {escape(answer.get('description', ''))}</p>")
        for content in answer.get("content", {}).values():
            if status.startswith("2"):
                parts.append(_schema_table(openapi, content.get("schema", {})))
    summary = escape(operation.get("summary", ""))
    return (
        f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
        f"<span>{summary}</span></summary>{''.join(parts)}</details>"
    )


def _schema_table(openapi: Json, schema: Json) -> str:
    schema = _resolved(openapi, schema)
    if "anyOf" in schema:
        return "".join(_schema_table(openapi, option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return "<p>A list of:</p>" + _schema_table(openapi, schema.get("items", {}))
    required = set(schema.get("required", []))
    rows = [
        _row(name, _resolved(openapi, field), {**field, "required": name in required})
        for name, field in schema.get("properties", {}).items()
    ]
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _row(name: str, schema: Json, about: Json) -> str:
    must = " <i>required</i>" if about.get("required") else ""
    default = (
        f" Default <code>{escape(json.dumps(schema['default']))}</code>."
        if schema.get("default") is not None
        else ""
    )
    words = _marked(str(about.get("description") or schema.get("description") or ""))
    return (
        f"<tr><td><code>{escape(name)}</code>{must}</td>"
        f"<td>{escape(_type(schema))}</td><td>{words}{default}</td></tr>"
    )


def _type(schema: Json) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _resolved(openapi: Json, schema: Json) -> Json:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Json = openapi["components"]["schemas"][reference.rsplit("/", 1)[-1]]
    return found


def _marked(words: str) -> str:
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(words))


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: HTTP reference</title>
<style>
:root {{ color-scheme: light dark; --ink: #1d2428; --paper: #fbfaf7; --edge: #d9d8d2;
  --tide: #0b5c6b; --soft: #566067 }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e7eaea; --paper: #14191c;
  --edge: #2c363b; --tide: #7fd0dc; --soft: #a5b0b5 }} }}
body {{ margin: 0 auto; max-width: 54rem; padding: 2rem 1rem 4rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif }}
a {{ color: var(--tide) }}
h1 small {{ font-weight: 400; color: var(--soft) }}
h2 {{ margin-top: 2.5rem; text-transform: capitalize }}
h4 {{ margin: 1rem 0 .25rem }}
details {{ border: 1px solid var(--edge); border-radius: 8px; margin: .5rem 0; padding: 0 1rem }}
summary {{ padding: .625rem 0; cursor: pointer; overflow-wrap: anywhere }}
summary b {{ display: inline-block; min-width: 4.5rem; color: var(--tide) }}
summary span {{ color: var(--soft) }}
table {{ border-collapse: collapse; width: 100%; font-size: .9375rem }}
td {{ border-top: 1px solid var(--edge); padding: .375rem .75rem .375rem 0; vertical-align: top;
  overflow-wrap: anywhere }}
td i {{ color: var(--soft) }}
</style>
</head>
<body>
<h1>{title} <small>{version}</small></h1>
{description}
<p>Machine-readable: <a href="/openapi.json">/openapi.json</a></p>
{body}
</body>
</html>
"""
