from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest

from engine.bench.judge import JudgeScore
from engine.bench.latency import NOTE, bench_latency
from engine.bench.lengths import LengthRequest, bench_lengths
from engine.bench.plots import Line, plot_lines
from engine.bench.positions import PositionRequest, bench_positions
from engine.bench.quality import QualityRequest, bench_quality
from engine.bench.report import auroc, calibration_error, mean_with_interval
from engine.bench.running import blank_out, splice
from engine.bench.scoring import overlap, repetition
from engine.bench.tasks import choose_gaps, read_documents
from engine.bench.templates import bench_templates, read_templates
from engine.settings import EngineSettings
from engine.worker.opening import open_workshop
from tests.engine.builders import a_workshop
from tests.engine.denoisers.tiny import tiny_codec, tiny_denoiser


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
        (reference,), ((start, _),) = gap.references, gap.ranges
        assert len(codec.encode(" " + reference)) == gap.num_tokens
        assert gap.text[start - 1] == " "
        assert reference == reference.strip()


def test_joint_gaps_lie_apart_in_order(folder):
    documents = read_documents(folder)
    gaps = list(choose_gaps(documents, tiny_codec(), lengths=(3,), per_cell=4, seed=1, count=3))

    assert gaps
    for gap in gaps:
        places = [place for ends in gap.ranges for place in ends]
        assert len(gap.ranges) == 3
        assert places == sorted(places)
        assert all(b - a > 8 for (_, a), (b, _) in pairwise(gap.ranges))


def test_blanks_stand_where_the_references_stood(folder):
    documents = read_documents(folder)
    gap = next(choose_gaps(documents, tiny_codec(), lengths=(3,), per_cell=1, seed=1, count=3))

    text, ranges = blank_out(gap)

    assert [text[a:b] for a, b in ranges] == ["[___]"] * 3
    assert splice(text, ranges, gap.references) == gap.text


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


class LetterJudge:
    """Scores by the number of letters, so that a test can foresee the mean."""

    name = "letters"

    def score(self, passages):
        return [JudgeScore(-float(len(fill)), float(len(after) > 0)) for _, fill, after in passages]


def test_quality_fills_every_gap_by_every_route(workshop, folder):
    request = QualityRequest(folder, lengths=(6,), joint_lengths=(4,), per_cell=2)

    report = bench_quality(workshop, request, LetterJudge())

    routes = ("diffusion", "greedy", "best_of_8")
    cells = report["cells"]
    assert set(cells) >= {f"one/{r}/{t}/6" for r in routes for t in ("known", "unknown")}
    assert all(cell["outside_changed"] == 0 for cell in cells.values())
    assert cells["one/greedy/known/6"]["exact"]["n"] == 2
    assert cells["joint/greedy/known/4"]["exact"]["n"] == 6
    assert cells["one/diffusion/known/6"]["fit"]["mean"] == 1.0
    mine, theirs = cells["one/diffusion/known/6"], cells["one/greedy/known/6"]
    difference = report["differences"]["one/greedy/known/1-8"]
    assert difference["join"]["mean"] == pytest.approx(
        mine["join"]["mean"] - theirs["join"]["mean"]
    )
    assert {sample["tokens"] for sample in report["samples"]} == {6}


def test_auroc_is_the_share_of_ordered_pairs_ties_counting_half():
    assert auroc([0.9, 0.8, 0.1], [True, True, False]) == 1.0
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert auroc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == pytest.approx(0.75)
    assert auroc([0.1], [True]) is None


def test_calibration_error_is_the_gap_between_sureness_and_truth():
    sure, right = [0.95] * 10 + [0.25] * 4, [True] * 9 + [False] + [True] + [False] * 3

    assert calibration_error(sure, right) == pytest.approx(0.05 * 10 / 14)
    assert calibration_error([], []) is None


@pytest.fixture(scope="module")
def tiny_shop():
    return a_workshop(tiny_denoiser())


def test_positions_fit_on_one_half_and_report_the_other(tiny_shop, folder):
    report = bench_positions(
        tiny_shop, PositionRequest(folder, windows=8, region=8, context=12, wrong_share=0.3)
    )

    assert len(report["temperatures"]) == len(report["deciles"]) == 10
    assert sum(decile["top1"]["n"] for decile in report["deciles"]) == report["all"]["positions"]
    planted = report["planted_words"]["random"]
    assert 0 < planted["wrong"] < planted["visible"] == 64
    assert 0.0 <= planted["auroc"] <= 1.0


def test_lengths_compare_methods_on_the_same_gaps(tiny_shop, folder):
    request = LengthRequest(folder, windows=4, lengths=(2, 5), context=12)

    report = bench_lengths(tiny_shop, request)

    errors = {name: m["relative_error"] for name, m in report["methods"].items()}
    assert {e["n"] for e in errors.values()} == {report["gaps"]}
    median = round(report["fitted_prior"]["median"])
    by_length = report["methods"]["always the median"]["by_length"]
    assert by_length == {str(n): abs(median - n) / n for n in (2, 5)}


TEMPLATE = {
    "id": "1",
    "group": "office",
    "marker": "{{}}",
    "template": "Dear {{name}}, see you on {{day}}.",
    "references": ["all", "Monday"],
}


def test_templates_are_read_with_their_references(tmp_path, workshop):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(TEMPLATE) + "\n")

    (template,) = read_templates(path)
    report = bench_templates(workshop, path)

    assert [template.text[a:b] for a, b in template.ranges] == ["{{name}}", "{{day}}"]
    assert report["blanks"] == 2
    assert report["routes"]["diffusion"]["outside_changed"] == 0
    assert report["routes"]["diffusion"]["groups"]["all"]["exact"]["n"] == 2


@pytest.mark.parametrize(
    ("change", "words"), [({"marker": "%"}, "marker"), ({"references": ["all"]}, "2 blanks")]
)
def test_templates_that_do_not_fit_are_refused(tmp_path, change, words):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(TEMPLATE | change) + "\n")

    with pytest.raises(ValueError, match=words):
        read_templates(path)


def test_plot_is_the_same_file_for_the_same_numbers(tmp_path):
    lines = {"one": Line([(1.0, 2.0), (2.0, 1.0)]), "two": Line([(1.0, 1.0)])}
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"

    plot_lines(first, lines, x_label="passes", y_label="exact")
    plot_lines(second, lines, x_label="passes", y_label="exact")

    assert first.read_bytes() == second.read_bytes()
    assert b"passes" in first.read_bytes()


def test_latency_note_is_about_two_hundred_words(workshop):
    report = bench_latency(workshop, repeats=1)

    assert 180 <= len(NOTE.split()) <= 220
    assert report["routes"]["autoregressive/balanced"]["complete_vs_autoregressive"] == 1.0
