import pytest

from engine.canvas.parts import check_job, find_parts
from engine.contract import LockSpec, RefineJob, RegionSpec, SamplerConfig
from engine.denoisers.scripted import ScriptedCodec
from engine.errors import InvalidJob, RegionTooLong, TooManyRegions
from tests.engine.builders import a_job

CODEC = ScriptedCodec(("walk", "walking", "quick", "brown"))


def only_part(marked: str, **config: object):
    (part,) = find_parts(a_job(marked, **config), CODEC)
    return part


def test_a_space_before_a_blank_is_forced_into_its_first_token():
    part = only_part("so we [___] until")

    assert (part.prefix, part.suffix) == (b" ", b"")
    assert part.left_cut == part.start - 1
    assert part.right_cut == part.end


def test_half_a_word_on_either_side_is_forced():
    part = only_part("we walk[___]ing on")

    assert part.prefix == b" walk"
    assert part.suffix == b"i", "the codec cuts `ing` into bytes"


def test_no_fragment_is_taken_after_a_bracket_or_a_line_break():
    assert only_part("see ([___]) for").prefix == b""
    assert only_part("Dear all,\n[___]\n").prefix == b""


def test_white_space_around_existing_text_is_left_alone():
    job = a_job("a <  quick brown \n> fox")

    (part,) = find_parts(job, CODEC)

    assert part.original == "quick brown"
    assert job.text[part.start : part.end] == "quick brown"


def test_a_lock_inside_a_region_splits_it():
    job = a_job("<the quick {brown fox} ran off>")

    parts = find_parts(job, CODEC)

    assert [job.text[part.start : part.end] for part in parts] == ["the quick", "ran off"]
    assert {part.region for part in parts} == {0}


def test_a_locked_word_or_digit_at_the_edge_is_guarded_and_not_forced():
    part = only_part("take {5}[___]{mg} daily")

    assert part.is_guarded_left
    assert part.is_guarded_right
    assert (part.prefix, part.suffix) == (b"", b"")


def test_a_blank_within_a_line_is_inline_and_one_on_its_own_line_is_not():
    assert only_part("we [___] on").is_inline
    assert not only_part("we\n[___]\non").is_inline
    assert not only_part("a <quick\nbrown> fox").is_inline


@pytest.mark.parametrize(
    ("job", "error"),
    [
        (a_job("nothing here"), InvalidJob),
        (RefineJob("j", "text", (RegionSpec("a", 1, 1),)), InvalidJob),
        (RefineJob("j", "text", (RegionSpec("a", 1, 9),)), InvalidJob),
        (RefineJob("j", "text", (RegionSpec("a", 0, 3), RegionSpec("b", 2, 4))), InvalidJob),
        (RefineJob("j", "text", (RegionSpec("a", 0, 1), RegionSpec("a", 2, 4))), InvalidJob),
        (RefineJob("j", "te\ud800t", (RegionSpec("a", 0, 1),)), InvalidJob),
        (RefineJob("j", "text", (RegionSpec("a", 0, 1),), (LockSpec(3, 3),)), InvalidJob),
        (
            RefineJob("j", "x" * 99, tuple(RegionSpec(str(i), i, i + 1) for i in range(65))),
            TooManyRegions,
        ),
        (a_job("a [___] b", strength=1.5), InvalidJob),
        (a_job("a [___] b", alternatives=9), InvalidJob),
        (a_job("a [___] b", steps=0), InvalidJob),
        (a_job("a [___] b", length=4097), RegionTooLong),
    ],
)
def test_a_job_that_cannot_be_run_is_refused(job, error):
    with pytest.raises(error):
        check_job(job)


def test_a_wholly_locked_region_is_refused():
    with pytest.raises(InvalidJob, match="inside locked text"):
        find_parts(a_job("a {b <c> d} e"), CODEC)


def test_messages_do_not_quote_the_text():
    job = RefineJob("j", "secret", (RegionSpec("a", 1, 99),), config=SamplerConfig())

    with pytest.raises(InvalidJob) as caught:
        check_job(job)

    assert "secret" not in str(caught.value)
