"""The whole of a job over scripted denoisers."""

import itertools
import re
from dataclasses import replace

import pytest

from engine.contract import Constraint, JobStarted, PassCompleted, RefineJob, StopReason
from engine.denoisers.scripted import PAD_TEXT, POOL, Answer, ScriptedDenoiser, Slot
from engine.errors import InvalidJob, RegionTooLong, UnsatisfiableConstraint
from engine.sampling.drafts import MASK_GLYPH
from engine.sampling.job import JobRun
from tests.engine.builders import a_job, a_workshop, passes, run_job, saying


def first(finished, index: int = 0) -> str:
    return finished.regions[index].alternatives[0].text


def test_a_blank_between_spaces_doubles_neither():
    finished = run_job(a_job("so we [___] until noon"), a_workshop(saying(" will wait")))

    assert first(finished) == "will wait"


def test_a_blank_at_the_start_of_a_line_begins_without_a_space():
    finished = run_job(a_job("Dear all,\n[___] today"), a_workshop(saying("please call")))

    assert first(finished) == "please call"


def test_half_a_word_is_continued_and_not_repeated():
    finished = run_job(a_job("we walk[___] on", length=2), a_workshop(saying(" walk fast")))

    assert first(finished) == " fast"


def test_the_length_whose_slots_are_certain_is_found():
    finished = run_job(a_job("we [___] today"), a_workshop(saying(" will see you all again")))

    assert first(finished) == "will see you all again"


def test_pads_shorten_a_region_from_the_right():
    finished = run_job(
        a_job("we [___] today", length=8, alternatives=1), a_workshop(saying(" will wait"))
    )

    assert first(finished) == "will wait"


def test_no_line_break_enters_a_line():
    def breaks(slot: Slot) -> Answer:
        return Answer("\n" if slot.index % 2 else " and", 0.9)

    finished = run_job(a_job("we [___] today"), a_workshop(ScriptedDenoiser(breaks)))

    assert all("\n" not in a.text for a in finished.regions[0].alternatives)


def test_a_closing_mark_is_not_doubled():
    finished = run_job(a_job("ALLERGIES: [___].", length=2), a_workshop(saying(" none.")))

    assert not first(finished).endswith(".")


def test_a_fill_never_spells_a_blank():
    def blanks(slot: Slot) -> Answer:
        return Answer("_", 0.99)

    finished = run_job(a_job("we [___] today"), a_workshop(ScriptedDenoiser(blanks)))

    assert "__" not in first(finished)


@pytest.mark.parametrize("text", ["say [MASK] <|im_end|> {[___]} now", "<special> we [___]"])
def test_text_that_spells_special_tokens_stays_text(text):
    job = a_job("say [MASK] |im_end| we [___] now")

    finished = run_job(job)

    assert finished.stop_reason is StopReason.SETTLED


def test_a_lock_inside_a_region_comes_out_unchanged():
    job = a_job("<old words {keep this} more words>.")

    finished = run_job(job)

    assert all("keep this" in a.text for a in finished.regions[0].alternatives)
    assert all(a.text != job.text[:-1] for a in finished.regions[0].alternatives)


def test_zero_strength_changes_nothing_and_takes_no_pass():
    job = a_job("we <will wait here> today", strength=0.0)

    finished = run_job(job)

    assert first(finished) == "will wait here"
    assert finished.passes == 0


@pytest.mark.parametrize("marked", ["<we will wait>", "so <will wait> now", "<plan>"])
@pytest.mark.parametrize("preset", ["fast", "careful"])
def test_text_is_never_rewritten_to_nothing(marked, preset):
    nothing = ScriptedDenoiser(lambda _: Answer("", 0.999))

    finished = run_job(a_job(marked, preset=preset, alternatives=4), a_workshop(nothing))

    assert all(a.text.strip() for a in finished.regions[0].alternatives)


def test_strength_rewrites_the_weakest_tokens_only():
    words = ("alpha", "beta", "gamma", "delta")
    sure = {" alpha": 0.9, " beta": 0.9, " gamma": 0.01, " delta": 0.9}

    def script(slot: Slot) -> Answer:
        is_weak = slot.index == 2
        wanted = f" {words[slot.index]}"
        return Answer(" plan", 0.9) if is_weak else Answer(wanted, sure[wanted])

    job = a_job("we <alpha beta gamma delta> today", strength=0.25)

    finished = run_job(job, a_workshop(ScriptedDenoiser(script, words=words)))

    assert first(finished) == "alpha beta plan delta"


def test_earlier_windows_are_context_of_later_ones():
    seen: list[tuple[int, ...]] = []

    def script(slot: Slot) -> Answer:
        seen.append(slot.context)
        return Answer(" plan", 0.9)

    denoiser = ScriptedDenoiser(script)

    run_job(a_job("we [___] [___] today"), a_workshop(denoiser))

    assert denoiser.codec.encode(" plan")[0] in seen[-1]
    assert all("_" not in denoiser.codec.decode(list(context)) for context in seen)


def test_a_text_longer_than_a_canvas_is_rewritten_block_by_block():
    text = "we will review this plan again at our next meeting with all members of staff. " * 30
    job = a_job(f"Dear all, <{text}> thank you", preset="fast", alternatives=1, steps=24)

    finished = run_job(job)

    assert len(finished.run_card.canvas["lengths_tried"]) > 1
    assert first(finished).strip()
    assert first(finished) != text
    assert finished.run_card.canvas["windows"][1]["left_tokens"] > 10, "the first block is context"


def test_a_blank_may_be_longer_than_a_canvas():
    finished = run_job(a_job("we [___] today", preset="fast", length=600, alternatives=1, steps=24))

    assert len(finished.run_card.canvas["lengths_tried"]) == 4
    assert sum(finished.run_card.canvas["lengths_chosen"]) > 256
    assert "..." not in first(finished)


def test_a_blank_with_too_few_characters_for_its_length_is_refused():
    with pytest.raises(RegionTooLong, match="at most 192 for each"):
        JobRun(a_workshop(), a_job("we [_] today", length=4000))


def test_steps_bound_the_passes_of_all_windows():
    far = "we [___]" + " plan" * 100 + " [___] today"

    finished = run_job(a_job(far, steps=3, length=8))

    assert finished.passes <= 3
    assert finished.stop_reason is StopReason.PASS_BUDGET
    assert MASK_GLYPH not in first(finished)


def test_fewer_steps_than_windows_are_refused():
    far = "we [___]" + " plan" * 100 + " [___] today"

    with pytest.raises(InvalidJob, match="at least 2"):
        JobRun(a_workshop(), a_job(far, steps=1))


def test_the_time_budget_ends_a_run_with_a_whole_draft():
    finished = run_job(a_job("we [___] today", length=16, time_budget_s=0.002))

    assert finished.stop_reason is StopReason.TIME_BUDGET
    assert finished.passes == 1
    assert MASK_GLYPH not in first(finished)


def test_a_run_may_end_when_what_is_shown_is_whole():
    job = a_job("we [___] today", length=8, preset="fast", alternatives=3)

    def shortest_is_best(slot: Slot) -> Answer:
        return Answer(f" {POOL[slot.index]}", 0.9 if slot.num_slots == 6 else 0.3)

    asked = replace(job, config=replace(job.config, stop_when="shown"))
    every, shown = (
        run_job(one, a_workshop(ScriptedDenoiser(shortest_is_best))) for one in (job, asked)
    )

    assert shown.stop_reason is StopReason.STRUCTURE
    assert every.stop_reason is StopReason.SETTLED
    assert shown.passes < every.passes
    assert first(shown) == first(every) == " ".join(POOL[:6])
    assert all(MASK_GLYPH not in one.text for one in shown.regions[0].alternatives)


def test_a_clear_lead_ends_a_run_early_where_that_was_asked_for():
    job = a_job("we [___] today", length=12, commitment="top_k", preset="fast")
    sure = saying(" will see you all again soon", confidence=0.999)

    asked = replace(job, config=replace(job.config, early_answer=1.0))

    assert run_job(asked, a_workshop(sure)).stop_reason is StopReason.EARLY_ANSWER
    assert run_job(asked, a_workshop(sure)).passes < run_job(job, a_workshop(sure)).passes


def test_the_base_is_asked_where_guidance_was_asked_for():
    job = a_job("we [___] today", length=4, preset="fast")
    guided = replace(job, config=replace(job.config, guidance=0.9))
    unsure = ScriptedDenoiser(lambda slot: Answer(" week", 0.02))

    plain, mixed = run_job(job, a_workshop(unsure)), run_job(guided, a_workshop(unsure))

    assert first(mixed) != first(plain)
    assert mixed.run_card.sampler["guidance"] == {"weight": 0.9}


def test_the_deadline_counts_from_submission():
    job = replace(a_job("we [___] today", length=16), deadline_s=5.0)

    finished = [*JobRun(a_workshop(), job, queue_ms=6000.0).events()][-1]

    assert finished.stop_reason is StopReason.DEADLINE


def test_alternatives_are_different_and_ranked():
    finished = run_job(a_job("we [___] today", alternatives=5))

    texts = [a.text for a in finished.regions[0].alternatives]
    scores = [a.score for a in finished.regions[0].alternatives]
    assert len(set(texts)) == len(texts) > 1
    assert scores[0] == max(scores)


def test_committed_and_masked_add_up_pass_by_pass():
    events = passes(a_job("we [___] today", length=8, alternatives=1))
    finished = run_job(a_job("we [___] today", length=8, alternatives=1))

    left = [record.masked_left for record in finished.telemetry]
    gained = [record.committed - record.remasked for record in finished.telemetry]
    assert left[-1] == 0
    assert all(a - b == gain for a, b, gain in zip(left, left[1:], gained[1:], strict=False))
    assert len(events) == finished.passes == len(finished.telemetry)


def test_monotone_mode_never_takes_back_and_revise_mode_may():
    def doubtful(slot: Slot) -> Answer:
        seen = sum(text is not None for text in slot.visible)
        word = "plan" if slot.call % 2 else "staff"
        return Answer(f" {word}" if slot.index % 3 else " we", 0.99 if seen < 6 else 0.98)

    job = a_job("we [___] today", length=12, alternatives=1, preset="fast")
    monotone = run_job(job, a_workshop(ScriptedDenoiser(doubtful)))
    revising = run_job(
        replace(job, config=replace(job.config, mode="revise")),
        a_workshop(ScriptedDenoiser(doubtful)),
    )

    assert sum(record.remasked for record in monotone.telemetry) == 0
    assert sum(record.remasked for record in revising.telemetry) > 0
    assert revising.telemetry[-1].masked_left == 0


def test_edits_are_seen_in_the_trace_apart_from_remasking():
    def learns(slot: Slot) -> Answer:
        # What stands there turns out to be wrong once its right neighbour is known.
        is_seen = slot.visible[slot.index] is not None
        return Answer(" staff" if is_seen else " plan", 0.97 if is_seen else 0.5)

    job = a_job("we [___] today", length=8, alternatives=1, remasking="token_edits")
    finished = run_job(job, a_workshop(ScriptedDenoiser(learns)))

    assert sum(record.edited for record in finished.telemetry) > 0
    assert sum(record.remasked for record in finished.telemetry) == 0
    assert "staff" in first(finished)


def test_a_slot_that_flips_without_end_is_frozen_and_reported_by_position():
    def undecided(slot: Slot) -> Answer:
        seen = sum(text is not None for text in slot.visible)
        return Answer(f" {POOL[(seen + slot.call) % 9]}", 0.6)

    job = a_job(
        "we [___] today", length=12, alternatives=1, commitment="top_k", remasking="leave_one_out"
    )
    finished = run_job(job, a_workshop(ScriptedDenoiser(undecided)))

    (window,) = finished.run_card.sampler["revision"]
    assert finished.telemetry[-1].masked_left == 0
    assert window["stubborn"]
    assert all(0 <= slot < 12 for _, slot in window["stubborn"])
    assert window["oscillated"]
    assert all(slot in window["stubborn"] for slot in window["oscillated"])


@pytest.mark.parametrize("remasking", ["leave_one_out", "remdm_cap", "token_edits"])
def test_every_revising_rule_ends(remasking):
    job = a_job("we [___] today and [___] again", length=10, remasking=remasking, preset="fast")

    finished = run_job(job)

    assert finished.telemetry[-1].masked_left == 0
    assert finished.run_card.sampler["remasking"] != "Monotone"


def test_a_fill_that_loops_is_tried_again_and_counted():
    def circles(slot: Slot) -> Answer:
        return Answer((" will", " plan")[slot.index % 2], 0.999 if slot.num_slots == 8 else 0.5)

    job = a_job("we [___] today", length=8, alternatives=1)
    finished = run_job(job, a_workshop(ScriptedDenoiser(circles)))

    assert finished.run_card.sampler["retries"] == 1
    assert finished.run_card.sampler["loops"] in (0, 1)
    assert finished.passes == len(finished.telemetry)


def test_a_second_attempt_keeps_what_was_promised_and_its_passes_are_announced():
    def circles(slot: Slot) -> Answer:
        return Answer((" will", " plan")[slot.index % 2], 0.97)

    job = a_job("we [___] today", length=20, alternatives=1)
    told = ""
    finished = None
    for event in JobRun(a_workshop(ScriptedDenoiser(circles)), job).events():
        if isinstance(event, PassCompleted):
            draft = event.regions[0]
            assert draft.text[: draft.stable_prefix].startswith(told)
            told = draft.text[: draft.stable_prefix]
            assert event.pass_index <= event.max_passes
        finished = event

    assert finished.run_card.sampler["retries"] == 1
    assert first(finished).startswith(told)


def test_a_run_with_a_pass_budget_is_not_tried_again():
    loops = ScriptedDenoiser(lambda slot: Answer((" will", " plan")[slot.index % 2], 0.97))

    finished = run_job(
        a_job("we [___] today", length=8, steps=8, alternatives=1), a_workshop(loops)
    )

    assert finished.run_card.sampler["retries"] == 0
    assert finished.passes <= 8


def test_the_autoregressive_route_ends_at_a_fair_place():
    finished = run_job(a_job("we [___] today", route="autoregressive"))

    assert finished.run_card.route == "autoregressive"
    assert first(finished).strip() == first(finished) != ""


def test_a_satisfying_candidate_goes_before_a_better_one():
    job = a_job("we [___] today", alternatives=8, temperature=1.5)
    texts = [a.text for a in run_job(job).regions[0].alternatives]
    wanted = Constraint("choices", (texts[-1],))
    region = replace(job.regions[0], constraints=(wanted,))

    constrained = run_job(replace(job, regions=(region,)))

    assert first(constrained) == texts[-1]
    assert not constrained.run_card.notes


def constrained(marked: str, *rules: Constraint, **config) -> RefineJob:
    job = a_job(marked, **config)
    regions = tuple(replace(region, constraints=rules) for region in job.regions)
    return replace(job, regions=regions)


def test_a_constraint_that_no_word_of_the_model_meets_is_spelled_out():
    finished = run_job(constrained("we [___] today", Constraint("regex", pattern="x[0-9]{3}z")))

    assert re.fullmatch("x[0-9]{3}z", first(finished))
    assert not finished.run_card.notes


def test_a_choice_is_the_one_the_model_likes_best():
    rule = Constraint("choices", ("the plan", "all staff", "next week"))
    likes = saying(" all staff")

    assert first(run_job(constrained("we [___] today", rule), a_workshop(likes))) == "all staff"


def test_a_form_holds_across_a_lock_inside_the_region():
    rule = Constraint("regex", pattern="[a-z]+ keep [0-9]+")

    finished = run_job(constrained("so <old words {keep} more>.", rule))

    assert all(re.fullmatch("[a-z]+ keep [0-9]+", a.text) for a in finished.regions[0].alternatives)


def test_a_form_holds_on_the_autoregressive_route_too():
    rule = Constraint("number", minimum=20, maximum=29)

    finished = run_job(constrained("we [___] today", rule, route="autoregressive"))

    assert 20 <= float(first(finished).replace(",", ".")) <= 29


def test_letters_that_no_token_holds_whole_are_spelled_in_bytes():
    rule = Constraint("choices", ("caf\u00e9 \u4e2d", "\u20ac"))

    assert first(run_job(constrained("we [___] today", rule))) in rule.values


def test_existing_text_that_keeps_the_form_is_rewritten_in_part_only():
    rule = Constraint("regex", pattern="[a-z]+ [a-z]+ [a-z]+ [a-z]+")

    finished = run_job(constrained("so <will review this plan>.", rule, strength=0.25))

    pairs = zip(first(finished).split(), ["will", "review", "this", "plan"], strict=True)
    assert sum(new != old for new, old in pairs) <= 1


def test_text_that_may_not_change_and_breaks_its_rule_is_refused():
    job = constrained("so <will see>.", Constraint("number"), strength=0.0)

    with pytest.raises(UnsatisfiableConstraint, match="strength 0"):
        JobRun(a_workshop(), job)


def test_a_rule_that_only_a_longer_text_than_a_canvas_meets_is_refused():
    with pytest.raises(RegionTooLong, match="at most 256"):
        JobRun(a_workshop(), constrained("we [___] today", Constraint("regex", pattern="z{300}")))


def test_a_run_starts_with_its_route_and_limit():
    started = next(JobRun(a_workshop(), a_job("we [___] today", steps=5)).events())

    assert isinstance(started, JobStarted)
    assert (started.route, started.max_passes) == ("diffusion", 5)


def test_drafts_mark_masks_and_settled_stretches():
    for event in passes(a_job("we [___] today", length=8)):
        for draft in event.regions:
            covered = set(itertools.chain(*(range(a, b) for a, b in draft.settled)))
            masks = {i for i, char in enumerate(draft.text) if char == MASK_GLYPH}
            assert covered | masks == set(range(len(draft.text)))
            assert not covered & masks
            assert all(0 <= value <= 1 for value in draft.confidence)


def test_a_region_that_ends_at_its_first_mask_ends_at_once():
    """PAD stands at the leftmost mask only when it is all that is left: one pass, no filler."""

    def ends(slot: Slot) -> Answer:
        return Answer(f" {POOL[slot.index]}" if slot.index < 2 else PAD_TEXT, 0.9)

    job = a_job("we [___] today", length=8, alternatives=1)
    finished = run_job(job, a_workshop(ScriptedDenoiser(ends)))

    assert first(finished) == f"{POOL[0]} {POOL[1]}"
    assert [record.committed for record in finished.telemetry][-1] > 1


def test_a_text_written_one_token_a_pass_is_revised_once_it_is_whole():
    """What was right after the words before it is wrong before the words behind it."""

    def regrets(slot: Slot) -> Answer:
        behind = slot.visible[slot.index + 1 :]
        if slot.index == 1 and behind and all(text is not None for text in behind):
            return Answer(" staff", 0.95)
        # Each length begins in its own way, so that no prefix is promised before the end.
        return Answer(f" {POOL[slot.num_slots + slot.index]}", 0.9)

    job = a_job("we [___] today", length=6, preset="careful", alternatives=8)

    revised = run_job(job, a_workshop(ScriptedDenoiser(regrets)))
    config = replace(job.config, mode="monotone")
    kept = run_job(replace(job, config=config), a_workshop(ScriptedDenoiser(regrets)))

    assert all(record.committed for record in revised.telemetry)
    assert sum(record.remasked for record in revised.telemetry) > 0
    assert sum(record.remasked for record in kept.telemetry) == 0
    second = [
        {one.text.split()[1] for one in run.regions[0].alternatives} for run in (revised, kept)
    ]
    assert "staff" in second[0]
    assert "staff" not in second[1]
    assert revised.passes <= 8 + 1, "an eighth more than its slots"


@pytest.mark.parametrize("commitment", ["left_to_right", "top_k"])
def test_revising_keeps_to_the_passes_and_to_what_was_told(commitment):
    def wavers(slot: Slot) -> Answer:
        seen = sum(text is not None for text in slot.visible)
        return Answer(f" {POOL[(seen + slot.index) % 9]}", 0.9)

    job = a_job("we [___] today", length=9, preset="careful", alternatives=1, commitment=commitment)
    told, finished = "", None
    for event in JobRun(a_workshop(ScriptedDenoiser(wavers)), job).events():
        if isinstance(event, PassCompleted):
            draft = event.regions[0]
            assert draft.text[: draft.stable_prefix].startswith(told)
            told = draft.text[: draft.stable_prefix]
            assert event.pass_index <= event.max_passes
        finished = event

    assert sum(record.remasked for record in finished.telemetry) > 0
    assert first(finished).startswith(told)


@pytest.mark.parametrize("noise", range(12))
def test_an_exchanged_token_still_repeats_the_edge_of_its_region(noise):
    """A blank that touches a word shares a token with it; no edit may take that away."""

    def babble(slot: Slot) -> Answer:
        word = POOL[(7 * slot.call + 3 * slot.index + noise) % len(POOL)]
        return Answer(f" {word}", 0.98)

    job = a_job("we saw [___]we saw [___]", remasking="token_edits", preset="fast", alternatives=1)
    finished = run_job(job, a_workshop(ScriptedDenoiser(babble)))

    assert sum(record.edited for record in finished.telemetry) > 0
    assert all(first(finished, index).strip() for index in range(2))


def test_a_fill_at_the_very_start_opens_with_no_closing_mark():
    denoiser = ScriptedDenoiser(lambda slot: Answer("," if slot.index == 0 else " plan", 0.99))

    finished = run_job(a_job("[___] today", length=3), a_workshop(denoiser))

    assert all(a.text[:1] not in ",.;:)" for a in finished.regions[0].alternatives)


def test_a_fill_begins_no_blank_of_its_own():
    def opens(slot: Slot) -> Answer:
        return Answer("[" if slot.index == 0 else "_", 0.99)

    finished = run_job(a_job("we [___] today", length=3), a_workshop(ScriptedDenoiser(opens)))

    assert all("[_" not in a.text for a in finished.regions[0].alternatives)
