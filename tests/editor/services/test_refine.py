import pytest

from editor.document.spans import Span
from editor.errors import InvalidInput
from editor.services.refine import plan_regions
from tests.editor.builders import new_ids

SPANS = (Span("lock", "locked", 0, 3), Span("region", "region", 5, 9))


def plan(asked):
    return plan_regions(asked, SPANS, new_id=new_ids("new"))


def test_all_regions_need_no_names():
    assert plan(None).span_ids is None
    assert plan(None).new_spans == ()


def test_ids_are_kept_in_order_and_once():
    assert plan(["b", "a", "b"]).span_ids == ("b", "a")


def test_a_range_that_is_a_region_is_that_region():
    assert plan([(5, 9)]) == plan(["region"])


def test_other_ranges_become_new_regions_each_once():
    made = plan([(5, 8), "region", (5, 8)])

    assert made.span_ids == ("new1", "region")
    assert made.new_spans == (Span("new1", "region", 5, 8),)


def test_a_lock_is_not_taken_for_a_region():
    assert plan([(0, 3)]).new_spans == (Span("new1", "region", 0, 3),)


def test_an_empty_list_is_refused():
    with pytest.raises(InvalidInput, match="all"):
        plan([])
