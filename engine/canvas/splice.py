"""Put fills into the original string; nothing outside a part can change.

Pure string work. This is the only place where a result text is made, and it never reads a
token: text outside parts is sliced from the original (promise 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.canvas.parts import Part
from engine.contract import RegionSpec

__all__ = ["region_text", "splice"]


def region_text(text: str, region: RegionSpec, parts: Sequence[Part], fills: Sequence[str]) -> str:
    """Return the region with each of its parts replaced by its fill; the rest is the text's."""
    pieces, position = [], region.start
    for part, fill in zip(parts, fills, strict=True):
        pieces.append(text[position : part.start])
        pieces.append(fill)
        position = part.end
    pieces.append(text[position : region.end])
    return "".join(pieces)


def splice(text: str, regions: Sequence[RegionSpec], fills: Mapping[str, str]) -> str:
    """Return the text with each region in `fills` (by id) replaced; others stay as they are."""
    pieces, position = [], 0
    for region in sorted(regions, key=lambda item: item.start):
        pieces.append(text[position : region.start])
        pieces.append(fills.get(region.region_id, text[region.start : region.end]))
        position = region.end
    pieces.append(text[position:])
    return "".join(pieces)
