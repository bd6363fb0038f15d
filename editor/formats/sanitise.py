"""What HTML may leave or enter the program: structure only, no script, style or handler."""

from __future__ import annotations

from typing import Final

import bleach  # type: ignore[import-untyped]  # ships no types

__all__ = ["clean_html"]

_TAGS: Final = frozenset((
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
))  # fmt: skip
_ATTRIBUTES: Final = {"a": ["href", "title"], "ol": ["start"]}
_PROTOCOLS: Final = frozenset({"http", "https", "mailto"})


def clean_html(markup: str) -> str:
    """Return `markup` with every tag, attribute and link scheme that is not known shown as text."""
    cleaned: str = bleach.clean(
        markup, tags=_TAGS, attributes=_ATTRIBUTES, protocols=_PROTOCOLS, strip=False
    )
    return cleaned
