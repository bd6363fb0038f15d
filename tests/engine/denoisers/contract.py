"""What every denoiser must do, whatever it is made of; run against each by its own test file.

Tolerances: `EXACT` for a denoiser without weights; a neural one states its own, because
float order differs between batch shapes.
"""

from __future__ import annotations

import torch

from engine.canvas.slots import RegionStream, SlotState
from engine.denoisers.base import Denoiser

EXACT = 0.0


def a_context(denoiser: Denoiser, text: str = "The meeting is on", gap: int = 4):
    """Context of a text with a gap of `gap` slots behind it, and more text."""
    left = denoiser.codec.encode(text)
    right = denoiser.codec.encode(" and will be held")
    tokens = torch.tensor([*left, *right])
    places = [*range(len(left)), *range(len(left) + gap, len(left) + gap + len(right))]
    return denoiser.encode_context(tokens, torch.tensor(places)), len(left), left[-1]


def a_stream(anchor: int, base: int, lengths: list[int]) -> RegionStream:
    """All-masked regions of the given lengths, one row each."""
    width = max(lengths) + 1
    state = torch.full((len(lengths), width), int(SlotState.ABSENT), dtype=torch.uint8)
    for row, length in enumerate(lengths):
        state[row, 0] = int(SlotState.TOKEN)
        state[row, 1 : 1 + length] = int(SlotState.MASK)
    tokens = torch.zeros(state.shape, dtype=torch.int64)
    tokens[:, 0] = anchor
    positions = (base - 1 + torch.arange(width)).expand(len(lengths), -1)
    return RegionStream(tokens, state, positions)


def check_codec(denoiser: Denoiser) -> None:
    codec = denoiser.codec
    for text in ("plain words", " [MASK] <|im_end|> ", "é☃\U0001f600\n\tx", ""):
        tokens = codec.encode(text)
        assert codec.decode(tokens) == text
        assert b"".join(codec.token_bytes(token) for token in tokens) == text.encode()
        assert not codec.special_ids() & set(tokens)
        assert all(0 <= token < codec.vocab_size for token in tokens)


def check_scores_have_a_row_for_each_wanted_slot(denoiser: Denoiser) -> None:
    context, base, anchor = a_context(denoiser)
    stream = a_stream(anchor, base, [2, 4])
    wanted = stream.state == SlotState.MASK

    logits = denoiser.score(context, stream, wanted)

    assert logits.shape == (6, denoiser.codec.vocab_size + 1)
    assert logits.dtype == torch.float32
    assert torch.isfinite(logits).all()


def check_rows_do_not_depend_on_each_other(denoiser: Denoiser, tolerance: float) -> None:
    context, base, anchor = a_context(denoiser)
    lengths = [1, 4, 2]
    together = a_stream(anchor, base, lengths)
    batch = denoiser.score(context, together, together.state == SlotState.MASK)
    start = 0
    for length in lengths:
        alone = a_stream(anchor, base, [length])
        row = denoiser.score(context, alone, alone.state == SlotState.MASK)
        difference = (row.softmax(-1) - batch[start : start + length].softmax(-1)).abs().max()
        assert difference <= tolerance
        start += length


def check_scoring_twice_is_the_same(denoiser: Denoiser) -> None:
    context, base, anchor = a_context(denoiser)
    stream = a_stream(anchor, base, [4])
    wanted = stream.state == SlotState.MASK

    assert torch.equal(
        denoiser.score(context, stream, wanted), denoiser.score(context, stream, wanted)
    )


def check_causal_forms_agree(denoiser: Denoiser, tolerance: float) -> None:
    context, base, anchor = a_context(denoiser)
    tokens = torch.tensor([denoiser.codec.encode(" the plan and")])
    whole = denoiser.causal_prefix(context, base)
    assert whole.num_tokens == base

    shorter = denoiser.causal_prefix(context, base - 1)
    logits, grown = denoiser.extend(shorter, torch.tensor([[anchor, *tokens[0, :-1].tolist()]]))
    stepped = logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    judged = denoiser.causal_logprobs(whole, tokens, torch.ones_like(tokens, dtype=torch.bool))

    assert grown.num_tokens == base - 1 + tokens.shape[1]
    assert (stepped.exp() - judged.exp()).abs().max() <= tolerance


def check_causal_rows_are_steps_of_the_base(denoiser: Denoiser, tolerance: float) -> None:
    """`score_causal` of ragged rows behind different prefixes equals `extend` row by row."""
    context, base, anchor = a_context(denoiser)
    rows = [(base - 1, [anchor, *denoiser.codec.encode(" the plan")]), (base - 2, [anchor])]
    width = 1 + max(len(tokens) for _, tokens in rows)
    shown = torch.zeros(len(rows), width, dtype=torch.int64)
    state = torch.full((len(rows), width), int(SlotState.ABSENT), dtype=torch.uint8)
    wanted = torch.zeros(len(rows), width, dtype=torch.bool)
    for row, (_, tokens) in enumerate(rows):
        shown[row, : len(tokens)] = torch.tensor(tokens)
        state[row, : len(tokens) + 1] = int(SlotState.TOKEN)
        wanted[row, len(tokens)] = True
    before = torch.tensor([count for count, _ in rows])
    positions = before[:, None] + torch.arange(width)

    found = denoiser.score_causal(context, RegionStream(shown, state, positions), before, wanted)

    for row, (count, tokens) in enumerate(rows):
        logits, _ = denoiser.extend(denoiser.causal_prefix(context, count), torch.tensor([tokens]))
        assert (found[row].softmax(-1) - logits[0, -1].softmax(-1)).abs().max() <= tolerance


def check_only_present_tokens_are_judged(denoiser: Denoiser, tolerance: float) -> None:
    context, base, _ = a_context(denoiser)
    state = denoiser.causal_prefix(context, base)
    tokens = torch.tensor([denoiser.codec.encode(" the plan and")])
    present = torch.ones_like(tokens, dtype=torch.bool)
    some = present.clone()
    some[0, 1] = False

    all_of_them = denoiser.causal_logprobs(state, tokens, present)
    fewer = denoiser.causal_logprobs(state, tokens, some)

    assert fewer[0, 1] == 0
    assert (fewer[some] - all_of_them[some]).abs().max() <= tolerance


def check_denoiser(denoiser: Denoiser, tolerance: float) -> None:
    """Run every check."""
    assert isinstance(denoiser, Denoiser)
    check_codec(denoiser)
    check_scores_have_a_row_for_each_wanted_slot(denoiser)
    check_rows_do_not_depend_on_each_other(denoiser, tolerance)
    check_scoring_twice_is_the_same(denoiser)
    check_causal_forms_agree(denoiser, tolerance)
    check_causal_rows_are_steps_of_the_base(denoiser, tolerance)
    check_only_present_tokens_are_judged(denoiser, tolerance)
