from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.training.corpus import Corpus, prepare_corpus
from engine.training.overlap import RUN_TOKENS, HeldoutRuns, run_hashes
from tests.engine.denoisers.tiny import tiny_codec

TOKENS = st.lists(st.integers(0, 3), max_size=40).map(lambda items: np.array(items, np.uint16))


@settings(max_examples=100)
@given(TOKENS, TOKENS)
def test_shared_runs_are_those_found_by_comparing_slices(heldout, document):
    """The hashes' slow twin: every run as a tuple in a set."""
    runs = [tuple(heldout[i : i + RUN_TOKENS]) for i in range(len(heldout) - RUN_TOKENS + 1)]
    own = [tuple(document[i : i + RUN_TOKENS]) for i in range(len(document) - RUN_TOKENS + 1)]

    shared = HeldoutRuns.of([heldout]).count_shared(document)

    assert shared == sum(run in set(runs) for run in own)


def test_order_matters():
    forward = np.arange(20, dtype=np.uint16)

    assert not set(run_hashes(forward).tolist()) & set(run_hashes(forward[::-1]).tolist())


def test_a_document_that_holds_a_held_out_page_is_left_out(tmp_path):
    page = " ".join(f"line {n} of the log says the tide was {n * 7 % 100} high" for n in range(9))
    corpus, heldout = tmp_path / "corpus", tmp_path / "heldout"
    (corpus / "prose").mkdir(parents=True)
    heldout.mkdir()
    (heldout / "prose.txt").write_text(page)
    stranger = "An unrelated note on hens. " * 20
    (corpus / "prose" / "a.txt").write_text(f"Before. {page} After.\n<|doc|>\n{stranger}")

    summary = prepare_corpus(corpus, tmp_path / "out", tiny_codec(), heldout=heldout)

    assert (summary["left_out"], summary["documents"]) == (1, 1)
    text = tiny_codec().decode([int(t) for t in Corpus.open(tmp_path / "out").tokens[:-1]])
    assert text == stranger.strip()
