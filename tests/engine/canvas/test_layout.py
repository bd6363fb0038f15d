from engine.canvas.layout import Replacement, group_parts, lay_out_window
from engine.canvas.parts import find_parts
from engine.canvas.slots import OPENING_TOKEN
from engine.denoisers.scripted import ScriptedCodec
from tests.engine.builders import a_job

CODEC = ScriptedCodec()


def a_window(marked: str, *, budget: int = 64, width: int = 8, **more):
    job = a_job(marked)
    parts = find_parts(job, CODEC)
    window = lay_out_window(
        job.text, parts, [width] * len(parts), codec=CODEC, budget=budget, **more
    )
    return window


def test_context_positions_run_through_the_widths():
    window = a_window("we [___] plan [___] today", width=8)

    first, second = window.bases
    middle, right = window.runs
    assert window.positions[: len(window.left)] == list(range(len(window.left)))
    assert first == len(window.left)
    assert window.positions[len(window.left)] == first + 8
    assert second == first + 8 + len(middle)
    assert window.positions[-1] == second + 8 + len(right) - 1


def test_context_tokens_are_the_text_without_the_parts():
    window = a_window("we [___] plan [___] today")

    assert CODEC.decode(list(window.left)) == "we"
    assert [CODEC.decode(list(run)) for run in window.runs] == [" plan", " today"]


def test_the_anchor_is_the_token_before_the_part():
    window = a_window("we [___] plan [___] today")

    assert window.anchors == (window.left[-1], window.runs[0][-1])


def test_a_part_that_opens_the_text_gets_the_opening_token():
    assert a_window("[___] today").left == (OPENING_TOKEN,)


def test_the_left_context_is_cut_at_a_sentence():
    window = a_window("a b c d e f. Then we review the plan again and [___]", budget=20)

    assert CODEC.decode(list(window.left)).startswith("Then we")


def test_context_stays_within_the_budget():
    window = a_window("word " * 500 + "[___]" + " word" * 500, budget=32)

    assert len(window.left) <= 32
    assert len(window.runs[0]) <= 32


def test_a_brief_stands_first_and_takes_at_most_half_the_budget():
    window = a_window("we [___] today", budget=32, brief="our plan " * 50)

    assert CODEC.decode(list(window.left)).startswith("our plan")
    assert CODEC.decode(list(window.left)).endswith("we")


def test_replacements_stand_for_other_parts():
    text = "we [___] today"

    window = a_window(text + " and [____]", replaced=[Replacement(0, 2, "you")])

    assert CODEC.decode(list(window.left)) == "you"


def test_carriage_returns_are_not_shown_to_the_model():
    window = a_window("we\r\nplan [___]\r\ntoday")

    assert CODEC.decode(list(window.left)) == "we\nplan"
    assert CODEC.decode(list(window.runs[0])) == "\ntoday"


def test_near_parts_share_a_window_and_far_or_touching_ones_do_not():
    near = find_parts(a_job("we [___] plan [___] today"), CODEC)
    far = find_parts(a_job("we [___]" + " plan" * 200 + " [___] today"), CODEC)
    touching = find_parts(a_job("we [___] [___] today"), CODEC)

    assert group_parts(near, [8, 8]) == ((0, 1),)
    assert group_parts(far, [8, 8]) == ((0,), (1,))
    assert group_parts(touching, [8, 8]) == ((0,), (1,))
