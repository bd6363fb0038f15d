"""HTML out through Markdown, HTML in as clean Markdown.

Incoming markup keeps headings, paragraphs, lists, emphasis, links, quotes and code; scripts,
styles, classes and comments are dropped with their content.
"""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

from markdown_it import MarkdownIt

from editor.formats.plain import read_plain
from editor.formats.sanitise import clean_html

__all__ = ["read_html", "write_html"]

_DROPPED = frozenset(("script", "style", "head", "template", "noscript", "svg", "iframe", "object"))
_BLOCKS = frozenset((
    "p", "div", "section", "article", "header", "footer", "main", "ul", "ol", "table", "tr",
    "blockquote", "pre", "figure", "form",
))  # fmt: skip
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "del": "~~", "s": "~~"}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ max-width: 42rem; margin: 3rem auto; padding: 0 1rem; font: 1.05rem/1.6 Georgia, serif }}
pre {{ white-space: pre-wrap }}
</style>
</head>
<body>
{body}</body>
</html>
"""


def write_html(text: str, *, title: str) -> bytes:
    """Render `text` as Markdown into one self-contained page; markup in the text stays text."""
    renderer = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("strikethrough")
    renderer.disable("entity")  # `&amp;` in the text is those five characters, not one
    body = clean_html(renderer.render(text))
    return _PAGE.format(title=escape(title), body=body).encode("utf-8")


def read_html(raw: bytes) -> str:
    """Return the page's text as Markdown. Raises: InvalidText when it is not UTF-8."""
    reader = _MarkdownWriter()
    reader.feed(read_plain(raw))
    reader.close()
    return reader.text()


class _MarkdownWriter(HTMLParser):
    """Collects Markdown while the parser walks the markup."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._dropping: list[str] = []
        self._lists: list[int | None] = []  # next number of each open list, None for bullets
        self._links: list[str] = []
        self._is_pre = False

    def text(self) -> str:
        joined = re.sub(r"[ \t]+\n", "\n", "".join(self._parts))
        whole = re.sub(r"\n{3,}", "\n\n", joined).lstrip("\n").rstrip()
        return f"{whole}\n" if whole else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropping or tag in _DROPPED:
            self._dropping += [tag] if tag in _DROPPED else []
            return
        if tag in _MARKS:
            self._parts.append("" if self._is_pre else _MARKS[tag])
        elif tag == "br":
            self._parts.append("\n")
        elif tag == "hr":
            self._parts.append("\n\n---\n\n")
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")
            self._parts.append("[" if self._links[-1] else "")
        else:
            self._open_block(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._dropping:
            if tag == self._dropping[-1]:
                self._dropping.pop()
            return
        if tag in _MARKS:
            self._parts.append("" if self._is_pre else _MARKS[tag])
        elif tag == "a" and self._links:
            target = self._links.pop()
            self._parts.append(f"]({target})" if target else "")
        else:
            self._close_block(tag)

    def handle_data(self, data: str) -> None:
        if self._dropping:
            return
        if self._is_pre:
            self._parts.append(data)
            return
        words = re.sub(r"[ \t\n\f]+", " ", data)
        at_line_start = not self._parts or self._parts[-1].endswith("\n")
        self._parts.append(words.lstrip(" ") if at_line_start else words)

    def _open_block(self, tag: str) -> None:
        if re.fullmatch("h[1-6]", tag):
            self._parts.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "li":
            self._open_item()
        elif tag in _BLOCKS:
            self._parts.append("\n" if tag == "tr" or self._lists else "\n\n")
            self._is_pre = self._is_pre or tag == "pre"
            if tag in ("ul", "ol"):
                self._lists.append(1 if tag == "ol" else None)
            if tag == "pre":
                self._parts.append("```\n")
            if tag == "blockquote":
                self._parts.append("> ")
        elif tag in ("td", "th"):
            self._parts.append("" if self._parts and self._parts[-1].endswith("\n") else "\t")

    def _open_item(self) -> None:
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        indent = "  " * max(0, len(self._lists) - 1)
        self._parts.append(f"\n{indent}{f'{number}.' if number is not None else '-'} ")

    def _close_block(self, tag: str) -> None:
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        if tag == "pre":
            self._is_pre = False
            self._parts.append("\n```")
        if tag in _BLOCKS or re.fullmatch("h[1-6]", tag):
            self._parts.append("\n" if tag == "tr" or self._lists else "\n\n")
