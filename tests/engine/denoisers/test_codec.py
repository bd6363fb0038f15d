from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.denoisers.codec import byte_of_symbol
from tests.engine.denoisers.tiny import tiny_codec


def test_every_byte_has_one_symbol():
    assert sorted(byte_of_symbol().values()) == list(range(256))


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",))))
def test_decode_inverts_encode(text: str):
    codec = tiny_codec()

    assert codec.decode(codec.encode(text)) == text


@given(st.sampled_from(["[MASK]", "<|im_end|>", "<|endoftext|>", "<mask>", "[PAD]"]))
def test_text_that_spells_a_control_token_stays_text(text: str):
    codec = tiny_codec()

    tokens = codec.encode(f"a {text} b")

    assert not set(tokens) & codec.special_ids()
    assert codec.decode(tokens) == f"a {text} b"


def test_token_bytes_joined_are_the_text():
    codec = tiny_codec()
    text = "né 👩‍⚕️ ab"

    assert b"".join(codec.token_bytes(token) for token in codec.encode(text)) == text.encode()
