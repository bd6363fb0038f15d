from __future__ import annotations

import random

import pytest

from engine.bench.latency import NOTE, bench_latency
from engine.bench.quality import QualityRequest, bench_quality, overlap, repetition
from engine.bench.report import mean_with_interval
from engine.bench.tasks import choose_gaps, read_documents
from engine.settings import EngineSettings
from engine.worker.opening import open_workshop
from tests.engine.denoisers.tiny import tiny_codec


@pytest.fixture
def folder(tmp_path):
    rng = random.Random(0)
    words = [
        "the",
        "keeper",
        "wrote",
        "down",
        "the",
        "hour",
        "and",
        "the",
        "height",
        "of",
        "the",
        "tide",
        "in",
        "a",
        "small",
        "book",
    ]
    texts = [" ".join(rng.choice(words) for _ in range(160)) + "." for _ in range(4)]
    (tmp_path / "log.txt").write_text("\n<|doc|>\n".join(texts))
    return tmp_path


@pytest.fixture(scope="module")
def workshop():
    return open_workshop(EngineSettings(denoiser="scripted"), lambda *_: None)


def test_gaps_hold_the_tokens_they_say_and_begin_and_end_at_words(folder):
    codec = tiny_codec()

    gaps = list(choose_gaps(read_documents(folder), codec, lengths=(5, 9), per_cell=3, seed=1))

    assert len(gaps) == 6
    for gap in gaps:
        assert len(codec.encode(" " + gap.reference)) == gap.num_tokens
        assert gap.text[gap.start - 1] == " "
        assert gap.reference == gap.reference.strip()


def test_same_seed_same_gaps(folder):
    def chosen(seed):
        documents = read_documents(folder)
        return list(choose_gaps(documents, tiny_codec(), lengths=(5,), per_cell=4, seed=seed))

    assert chosen(3) == chosen(3)
    assert chosen(3) != chosen(4)


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [("a b c", "a b c", 1.0), ("a b", "c d", 0.0), ("A, b", "a c", 0.5), ("", "a", 0.0)],
)
def test_overlap_is_f1_of_words(answer, reference, expected):
    assert overlap(answer, reference) == pytest.approx(expected)


def test_repetition_counts_trigrams_seen_before():
    assert repetition("one two three four") == 0.0
    assert repetition("a b c a b c a b c") == pytest.approx(4 / 7)


def test_interval_covers_the_mean_and_shrinks_with_agreement():
    spread = mean_with_interval([0.0, 1.0] * 20, list(range(40)))
    same = mean_with_interval([0.5] * 40, list(range(40)))

    assert spread["low"] < spread["mean"] < spread["high"]
    assert same == {"mean": 0.5, "low": 0.5, "high": 0.5, "n": 40}


def test_quality_fills_every_gap_by_both_routes(workshop, folder):
    request = QualityRequest(folder, lengths=(6,), per_cell=2)

    report = bench_quality(workshop, request)

    assert set(report["cells"]) >= {
        f"{route}/{told}/6"
        for route in ("diffusion", "autoregressive")
        for told in ("known", "unknown")
    }
    assert all(cell["outside_changed"] == 0 for cell in report["cells"].values())
    assert all(cell["exact"]["n"] == 2 for cell in report["cells"].values())


def test_latency_note_is_about_two_hundred_words(workshop):
    report = bench_latency(workshop, repeats=1)

    assert 180 <= len(NOTE.split()) <= 220
    assert report["routes"]["autoregressive/balanced"]["complete_vs_autoregressive"] == 1.0
