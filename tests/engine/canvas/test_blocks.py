from hypothesis import given, settings
from hypothesis import strategies as st

from engine.canvas.blocks import BLOCK_TOKENS, cut_blank, cut_text
from engine.denoisers.scripted import ScriptedCodec

CODEC = ScriptedCodec()
SENTENCE = "we will review this plan again at our next meeting with all members of staff. "


def test_a_text_that_fits_is_one_block():
    assert cut_text(SENTENCE, 0, len(SENTENCE), CODEC, longest=256) == ((0, len(SENTENCE)),)


def test_blocks_end_with_sentences_where_they_can():
    text = (SENTENCE * 30).strip()

    blocks = cut_text(text, 0, len(text), CODEC, longest=256)

    assert len(blocks) > 1
    assert all(text[end - 1] == "." for _, end in blocks)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["plan", " ", "\n", ".", "x" * 300, "é", " staff"]), max_size=400))
def test_blocks_are_in_order_fit_and_leave_out_white_space_only(pieces):
    text = "".join(pieces)

    blocks = cut_text(text, 0, len(text), CODEC, longest=256)

    position = 0
    for start, end in blocks:
        assert not text[position:start].strip()
        assert start < end or len(blocks) == 1
        core = text[start:end].strip()
        assert len(CODEC.encode(core)) <= 256
        position = end
    assert position == len(text)


@given(st.integers(1, 20), st.integers(1, 4096))
def test_a_blank_is_shared_out_to_blocks_that_fit(size, length):
    blocks = cut_blank(5, 5 + size, length)

    if blocks is None:
        assert length > size * BLOCK_TOKENS
        return
    assert sum(share for _, _, share in blocks) == length
    assert all(start < end and 1 <= share <= BLOCK_TOKENS for start, end, share in blocks)
    assert [blocks[0][0], *(end for _, end, _ in blocks)] == [
        *(start for start, _, _ in blocks),
        5 + size,
    ]
