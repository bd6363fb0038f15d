import pytest

from engine.bench.sweep import BASELINE, POLICIES, SweepRequest, bench_sweep, frontier, spearman
from tests.engine.builders import a_workshop

TEXT = "the patient was seen today and reports that symptoms have improved since last week. "


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "notes.txt").write_text("\n<|doc|>\n".join([TEXT * 12, TEXT * 14]))
    return tmp_path


def test_every_policy_fills_the_same_gaps_and_is_held_against_one_token_a_pass(folder):
    report = bench_sweep(a_workshop(), SweepRequest(folder, lengths=(3, 6), per_cell=1))

    baseline = report["policies"][BASELINE]
    assert list(report["policies"]) == list(POLICIES)
    assert report["gaps"] == 2
    assert baseline["passes"]["mean"] == 4.5, "3 and 6 tokens, one at a time"
    assert baseline["join_against_baseline"]["mean"] == 0.0
    assert report["policies"]["top-k linear 0.5"]["passes_ratio"] == pytest.approx(5 / 9)
    assert set(report["frontier"]) <= set(POLICIES)


def test_a_policy_that_another_beats_is_not_on_the_frontier():
    points = {"slow": (8.0, -3.0), "quick": (4.0, -3.1), "worse": (6.0, -3.2), "same": (8.0, -3.0)}

    assert frontier(points) == ["slow", "quick", "same"]


def test_rank_correlation_shares_ranks_among_ties():
    assert spearman([1, 2, 3], [10, 20, 30]) == pytest.approx(1.0)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert spearman([1, 1, 2, 2], [1, 2, 3, 4]) == pytest.approx(0.894427, abs=1e-6)
    assert spearman([1, 1, 1], [1, 2, 3]) is None
