"""`bench latency`: a gap of 8 tokens in a 200-word note, warm, beside the base's own filling."""

from __future__ import annotations

import statistics
from typing import Any

from engine.bench.report import machine, quantile
from engine.bench.running import fill_gap
from engine.bench.tasks import Gap
from engine.contract import SamplerConfig
from engine.sampling.job import Workshop

__all__ = ["NOTE", "bench_latency"]

# Written for this benchmark; no person or place is meant.
NOTE = (
    "The quarterly review took place on Monday afternoon in the large meeting room. The team first "
    "went through the list of open items from the last review and agreed to close four of them. "
    "Two items stay open because the supplier has not confirmed the new delivery dates. The "
    "maintenance plan for the coming winter was presented and discussed at some length. Most "
    "of the work can be done by our own staff, but the inspection of the boilers will be left to "
    "an outside firm. The costs are within the budget that was approved in the spring. There was "
    "a question about the training of new colleagues, and it was decided to {gap} before the end "
    "of the month. The safety officer reminded everyone that the emergency exits must be kept "
    "clear at all times and that the fire drill will be repeated in two weeks. The figures for "
    "energy use show a small decline compared with the same period of last year, which is "
    "explained mainly by the mild weather. Finally the team talked about the move to the new "
    "building. The date has not been set, but the archive should be sorted before then. The next "
    "review will be held in three months, and the agenda will be sent out one week ahead."
)
REFERENCE = "hold a short course for all of them"


def bench_latency(workshop: Workshop, *, repeats: int = 9) -> dict[str, Any]:
    """Fill the same gap `repeats` times by each route, warm; medians in ms and their ratio.

    Contexts are cached between the repeats of a real editor too, but here each repeat changes
    the note's first word, so that encoding is paid every time.
    """
    routes: dict[str, Any] = {}
    for route in ("diffusion", "autoregressive"):
        for preset in ("fast", "balanced") if route == "diffusion" else ("balanced",):
            config = SamplerConfig(route=route, preset=preset)
            answers = [
                fill_gap(workshop, _note(number), config, knows_length=True)
                for number in range(repeats + 1)
            ][1:]
            complete = [answer.complete_ms for answer in answers]
            routes[f"{route}/{preset}"] = {
                "first_stable_ms": round(statistics.median(a.first_stable_ms for a in answers), 1),
                "complete_ms": round(statistics.median(complete), 1),
                "complete_p90_ms": round(quantile(complete, 0.9), 1),
                "passes": statistics.median(a.passes for a in answers),
                "tokens_per_pass": statistics.median(a.tokens_per_pass for a in answers),
            }
    base = routes["autoregressive/balanced"]["complete_ms"]
    for route in routes.values():
        route["complete_vs_autoregressive"] = round(route["complete_ms"] / base, 2)
    return {"gap_tokens": 8, "note_words": len(NOTE.split()), "routes": routes, **machine()}


def _note(number: int) -> Gap:
    text = f"Part {number}. " + NOTE
    start = text.index("{gap}")
    text = text.replace("{gap}", REFERENCE)
    return Gap("note", number, text, ((start, start + len(REFERENCE)),), 8)
