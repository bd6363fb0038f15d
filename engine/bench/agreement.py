"""Pairs of gaps that must agree: the same name, one number, one tense. Generated, no real text.

Owns the texts and what agreement means; each gap has a few options in the same order, one for
each name, number or tense, so that two fills agree when they are the same place in their lists.
Nothing but the other gap tells which option is right.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.bench.report import mean_with_interval
from engine.bench.running import BLANK, run_job
from engine.contract import Constraint, RefineJob, RegionSpec, SamplerConfig
from engine.sampling.job import Workshop

__all__ = ["Pair", "agreement_pairs", "agrees", "bench_agreement", "fill_pair", "score_agreement"]

Kind = Literal["name", "number", "tense"]
OTHER = "..."  # what stands for a gap that is filled in a job of its own, as between windows
NUM_NAMES = 4  # options of a gap for a name
NAMES = ("Anna", "Peter", "Maria", "David", "Laura", "Thomas", "Julia", "Martin", "Alice", "Robert")
NAME_TEXTS = (
    "Dear {0}, thank you for coming to the meeting on Monday. Please call us soon, {1}.",
    "This morning {0} went to the market to buy some fruit. On the way home {1} met a friend.",
    "I gave the book to {0} last week, and now {1} wants to give it back to me.",
    "The letter was written by {0}. It was a long letter, and {1} signed it at the end.",
    "We asked {0} to lead the new project. After a day or two {1} said yes.",
    "Once there was a child named {0}. Every day {1} walked to school through the forest.",
    "The patient, {0}, was seen in the clinic today. The plan was discussed with {1} in full.",
    "Happy birthday, {0}! We hope that you have a wonderful day, {1}.",
    "The winner of the race was {0}. The crowd cheered when {1} crossed the line.",
    "My sister is called {0}. When we were young, {1} and I shared a room.",
    "Our teacher this year is {0}. All of the students like {1} very much.",
    "The report by {0} was published in May. In it, {1} describes the results of the study.",
    "A man called {0} lives next door. Last night {1} came over to borrow a ladder.",
    "It was late when {0} closed the shop. Outside it was raining, and {1} had no umbrella.",
)
NOUNS = (
    ("result", "results"),
    ("letter", "letters"),
    ("report", "reports"),
    ("test", "tests"),
    ("document", "documents"),
    ("book", "books"),
    ("picture", "pictures"),
)
NUMBER_TEXTS = (  # the verb of the second gap, singular and plural
    ("The {0} from last week {1} ready to be sent.", ("is", "are")),
    ("Your {0} on the table in the hall {1} very old.", ("is", "are")),
    ("The {0} that we found in the drawer {1} mine.", ("was", "were")),
    ("I am told that the {0} you asked for {1} arrived today.", ("has", "have")),
    ("The new {0} for the office {1} not yet been paid for.", ("has", "have")),
    ("In the end the {0} by the window {1} left behind.", ("was", "were")),
    ("My {0} from the doctor {1} in the bag.", ("is", "are")),
    ("She says the {0} in the green box {1} important.", ("is", "are")),
    ("The {0} we talked about {1} a lot of attention.", ("needs", "need")),
    ("Only the {0} at the front {1} to the school.", ("belongs", "belong")),
    ("The {0} you sent me yesterday {1} very good.", ("was", "were")),
    ("The old {0} in the archive {1} the whole story.", ("tells", "tell")),
    ("Without a date, the {0} in this folder {1} no use.", ("is", "are")),
    ("As you can see, the {0} below {1} what happened.", ("shows", "show")),
)
SUBJECTS = ("The nurse", "My neighbour", "The manager", "The old man", "Our guide", "The driver")
TENSE_TEXTS = (  # the verbs of both gaps, present and past
    ("{s} {0} to the station and {1} the first train.", ("walks", "walked"), ("takes", "took")),
    ("{s} {0} the door and {1} into the room.", ("opens", "opened"), ("goes", "went")),
    ("{s} {0} a cup of tea and {1} down by the fire.", ("makes", "made"), ("sits", "sat")),
    ("{s} {0} the letter twice and {1} it away.", ("checks", "checked"), ("throws", "threw")),
    ("{s} {0} the window because it {1} too warm.", ("opens", "opened"), ("is", "was")),
    ("{s} {0} home early because the weather {1} bad.", ("comes", "came"), ("is", "was")),
    ("{s} {0} at the picture and {1} to laugh.", ("looks", "looked"), ("begins", "began")),
    ("{s} {0} the keys and {1} them on the table.", ("finds", "found"), ("leaves", "left")),
    ("{s} {0} hard all day and {1} well at night.", ("works", "worked"), ("sleeps", "slept")),
    ("{s} {0} that the road {1} closed.", ("says", "said"), ("is", "was")),
    ("{s} {0} us a story that {1} very long.", ("tells", "told"), ("is", "was")),
    ("{s} {0} to the bank and {1} some money.", ("goes", "went"), ("gets", "got")),
    ("{s} {0} the phone and {1} a number.", ("takes", "took"), ("calls", "called")),
    ("{s} {0} the answer but {1} nothing.", ("knows", "knew"), ("says", "said")),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A text with {0} and {1} for its gaps, and the options of each, in the same order."""

    kind: Kind
    template: str
    options: tuple[tuple[str, ...], tuple[str, ...]]

    def text(self, first: str, second: str) -> str:
        """Return the text with something in place of both gaps."""
        return self.template.replace("{0}", first).replace("{1}", second)


def agreement_pairs(count: int, seed: int) -> list[Pair]:
    """Return `count` different pairs, the kinds in turn, fillers and their order by seed."""
    rng = random.Random(f"agreement/{seed}")
    streams = [_shuffled(pairs, rng) for pairs in (_names(rng), _numbers(), _tenses())]
    found: dict[Pair, None] = {}
    for pair in itertools.chain.from_iterable(zip(*streams, strict=False)):
        if len(found) == count:
            break
        found.setdefault(pair)
    if len(found) < count:
        raise ValueError(f"{count} pairs; at most {len(found)} can be made")
    return list(found)


def _shuffled(pairs: Iterable[Pair], rng: random.Random) -> list[Pair]:
    """Return the pairs in any order, each with its options in any order."""
    mixed = []
    for pair in pairs:
        places = list(range(len(pair.options[0])))
        rng.shuffle(places)
        first, second = (tuple(options[i] for i in places) for options in pair.options)
        mixed.append(Pair(pair.kind, pair.template, (first, second)))
    rng.shuffle(mixed)
    return mixed


def _names(rng: random.Random) -> Iterator[Pair]:
    for text in NAME_TEXTS:
        for _ in range(len(NOUNS)):
            names = tuple(rng.sample(NAMES, NUM_NAMES))
            yield Pair("name", text, (names, names))


def _numbers() -> Iterator[Pair]:
    for (text, verbs), nouns in itertools.product(NUMBER_TEXTS, NOUNS):
        yield Pair("number", text, (nouns, verbs))


def _tenses() -> Iterator[Pair]:
    for (text, first, second), subject in itertools.product(TENSE_TEXTS, SUBJECTS):
        yield Pair("tense", text.replace("{s}", subject), (first, second))


def agrees(pair: Pair, fills: Sequence[str]) -> bool:
    """Return whether both fills are the same place in their options; other texts never agree."""
    places = [
        options.index(fill) if fill in options else -1 - which
        for which, (options, fill) in enumerate(zip(pair.options, fills, strict=True))
    ]
    return places[0] == places[1]


def score_agreement(pairs: Sequence[Pair], fills: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the share of pairs whose fills agree, by kind and of all, with 95 % intervals.

    `chance` is what two fills that know nothing of each other would reach.
    """
    right = [float(agrees(pair, one)) for pair, one in zip(pairs, fills, strict=True)]
    report: dict[str, Any] = {}
    for kind in ("name", "number", "tense", "all"):
        own = [i for i, pair in enumerate(pairs) if kind in (pair.kind, "all")]
        if own:
            groups = [pairs[i].template for i in own]
            chance = sum(1 / len(pairs[i].options[0]) for i in own) / len(own)
            share = mean_with_interval([right[i] for i in own], groups)
            report[kind] = {"pairs": len(own), "agree": share, "chance": round(chance, 4)}
    return report


def fill_pair(workshop: Workshop, pair: Pair, config: SamplerConfig, *, jointly: bool) -> list[str]:
    """Return the fills of both gaps, made in one job or in two that see `...` for the other gap.

    Each gap may only be one of its options, so that agreement can be told from the fills.
    """
    if jointly:
        return list(run_job(workshop, _job(pair, (BLANK, BLANK), config)).texts)
    jobs = (_job(pair, (BLANK, OTHER), config), _job(pair, (OTHER, BLANK), config))
    return [run_job(workshop, job).texts[0] for job in jobs]


def bench_agreement(
    workshop: Workshop, *, count: int = 200, seed: int = 0, config: SamplerConfig | None = None
) -> dict[str, Any]:
    """Return how often fills agree when made jointly and apart, and the paired difference."""
    config = config or SamplerConfig()
    pairs = agreement_pairs(count, seed)
    fills = {
        jointly: [fill_pair(workshop, pair, config, jointly=jointly) for pair in pairs]
        for jointly in (True, False)
    }
    won = [
        float(agrees(pair, joint)) - float(agrees(pair, apart))
        for pair, joint, apart in zip(pairs, fills[True], fills[False], strict=True)
    ]
    return {
        "joint": score_agreement(pairs, fills[True]),
        "apart": score_agreement(pairs, fills[False]),
        "joint_less_apart": mean_with_interval(won, [pair.template for pair in pairs]),
    }


def _job(pair: Pair, stands: tuple[str, str], config: SamplerConfig) -> RefineJob:
    """Return the job that fills the gaps where a blank stands."""
    text = pair.text(*stands)
    first = pair.template.index("{0}")
    between = pair.template.index("{1}") - first - len("{0}")
    starts = (first, first + len(stands[0]) + between)
    regions = []
    for which, (position, what) in enumerate(zip(starts, stands, strict=True)):
        if what == BLANK:
            rule = Constraint("choices", pair.options[which])
            end = position + len(BLANK)
            regions.append(
                RegionSpec(str(which), position, end, is_blank=True, constraints=(rule,))
            )
    return RefineJob("bench", text, tuple(regions), config=config)
