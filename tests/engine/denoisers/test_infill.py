"""Twins and laws of the embedded denoiser, on a tiny random model built here."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from engine.denoisers.base import SlotState
from engine.denoisers.llama import KeyValue, causal_stream, region_layer, rms_norm, rotary_tables
from tests.engine.denoisers.tiny import (
    LAYERS,
    SHAPE,
    VOCAB,
    WIDTH,
    a_stream,
    tiny_adapter,
    tiny_denoiser,
    tiny_weights,
)

LEFT = torch.tensor([5, 17, 99, 42, 7])
RIGHT = torch.tensor([61, 62, 250, 8])


def encode(denoiser, length, right=RIGHT):
    tokens = torch.cat([LEFT, right])
    places = torch.cat([torch.arange(5), torch.arange(5 + length, 5 + length + len(right))])
    return denoiser.encode_context(tokens, places)


def wanted_all(stream):
    wanted = stream.state != SlotState.ABSENT
    wanted[:, 0] = False
    return wanted


def test_base_equals_transformers_llama():
    """The causal stream is the published architecture, weight for weight."""
    from transformers import LlamaConfig, LlamaForCausalLM

    base = tiny_weights()
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=SHAPE.heads,
        num_key_value_heads=SHAPE.kv_heads,
        rms_norm_eps=SHAPE.norm_epsilon,
        rope_parameters={"rope_type": "default", "rope_theta": SHAPE.rope_theta},
        max_position_embeddings=512,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config).eval()
    state = {"model.embed_tokens.weight": base.embed, "model.norm.weight": base.final_norm}
    for index, layer in enumerate(base.layers):
        prefix = f"model.layers.{index}."
        query, key, value = layer.qkv.split([48, 16, 16])
        gate, up = layer.gate_up.chunk(2)
        parts = {"q": query, "k": key, "v": value, "o": layer.o}
        state |= {f"{prefix}self_attn.{n}_proj.weight": t for n, t in parts.items()}
        parts = {"gate": gate, "up": up, "down": layer.down}
        state |= {f"{prefix}mlp.{n}_proj.weight": t for n, t in parts.items()}
        state[prefix + "input_layernorm.weight"] = layer.attention_norm
        state[prefix + "post_attention_layernorm.weight"] = layer.mlp_norm
    model.load_state_dict(state, strict=False)
    tokens = torch.arange(10, 40)[None]

    with torch.no_grad():
        expected = model(tokens).logits
        hidden, _ = causal_stream(tokens, torch.arange(30)[None], base, SHAPE)

    torch.testing.assert_close(hidden @ base.embed.T, expected, atol=2e-4, rtol=1e-4)


def test_adapter_off_and_causal_mask_give_base_logits():
    """With a zero adapter, a region read causally after its context is the base itself."""
    denoiser = tiny_denoiser(scale=0.0)
    context = denoiser.encode_context(LEFT, torch.arange(5))
    region = torch.tensor([[70, 71, 72]])
    base = tiny_weights()
    hidden, _ = causal_stream(
        torch.cat([LEFT, region[0]])[None], torch.arange(8)[None], base, SHAPE
    )

    x = base.embed[region]
    bias = torch.zeros(1, 3, 8)
    bias[0, :, 5:] = torch.full((3, 3), float("-inf")).triu(1)
    updated = tiny_adapter(base, scale=0.0).merged(base)
    rotary = rotary_tables(torch.arange(5, 8)[None], 8, SHAPE.rope_theta)
    for layer, shared in zip(updated.layers, context.layers, strict=True):
        x, _ = region_layer(x, rotary, shared, None, bias, layer=layer, shape=SHAPE)

    result = rms_norm(x, updated.final_norm, SHAPE.norm_epsilon)
    torch.testing.assert_close(result, hidden[:, 5:], atol=1e-4, rtol=1e-4)


def test_cached_context_equals_recomputed_context_in_every_pass():
    """A pass over a cached context equals one whose context is encoded afresh, exactly."""
    denoiser = tiny_denoiser()
    stream = a_stream(["?a??"], anchor=7, start=5)
    cached = encode(denoiser, 4)
    denoiser.score(cached, stream, wanted_all(stream))

    again = denoiser.score(cached, stream, wanted_all(stream))
    fresh = denoiser.score(encode(denoiser, 4), stream, wanted_all(stream))

    assert torch.equal(again, fresh)


def test_shared_context_equals_context_copied_to_each_row():
    """The folded product over a shared context is the plain attention over copies."""
    base = tiny_weights()
    x = torch.randn(3, 4, WIDTH, generator=torch.Generator().manual_seed(3))
    shared = KeyValue(torch.randn(2, 6, 8), torch.randn(2, 6, 8))
    copies = KeyValue(*(t.expand(3, -1, -1, -1).clone() for t in (shared.key, shared.value)))
    rotary = rotary_tables(torch.arange(4).expand(3, 4), 8, SHAPE.rope_theta)
    bias = torch.zeros(3, 1, 10)
    bias[1, 0, 9] = float("-inf")

    fast, _ = region_layer(x, rotary, shared, None, bias, layer=base.layers[0], shape=SHAPE)
    slow, _ = region_layer(x, rotary, copies, None, bias, layer=base.layers[0], shape=SHAPE)

    torch.testing.assert_close(fast, slow, atol=1e-5, rtol=1e-5)


def test_editing_right_context_leaves_what_precedes_it():
    """Only keys and values behind an edit change; the left context's stay bit for bit."""
    denoiser = tiny_denoiser()
    before, after = encode(denoiser, 4), encode(denoiser, 4, right=torch.tensor([61, 200, 250, 8]))

    for old, new in zip(before.layers, after.layers, strict=True):
        torch.testing.assert_close(old.key[:, :6], new.key[:, :6], atol=1e-6, rtol=1e-6)
        assert not torch.allclose(old.value[:, 6:], new.value[:, 6:])


def test_rows_do_not_depend_on_each_other():
    """A row scored alone equals the same row beside others (float order apart: 1e-5)."""
    denoiser = tiny_denoiser()
    context = encode(denoiser, 4)
    together = a_stream(["?a??", "??b_", "?..."], anchor=7, start=5)
    logits = denoiser.score(context, together, wanted_all(together))

    alone = a_stream(["??b_"], anchor=7, start=5)
    expected = denoiser.score(context, alone, wanted_all(alone))

    torch.testing.assert_close(logits[4:8], expected, atol=1e-5, rtol=1e-5)


def test_absent_slots_change_nothing():
    """A short region beside unused columns equals the region without them."""
    denoiser = tiny_denoiser()
    context = encode(denoiser, 4)
    padded = a_stream(["??.."], anchor=7, start=5)
    exact = a_stream(["??"], anchor=7, start=5)

    torch.testing.assert_close(
        denoiser.score(context, padded, wanted_all(padded)),
        denoiser.score(context, exact, wanted_all(exact)),
        atol=1e-5,
        rtol=1e-5,
    )


def test_masked_slot_ignores_the_token_it_hides():
    """A mask is a state: the token id behind it must not leak."""
    denoiser = tiny_denoiser()
    context = encode(denoiser, 4)
    stream = a_stream(["?a??"], anchor=7, start=5)
    leaky = dataclasses.replace(
        stream, tokens=torch.where(stream.state == SlotState.MASK, 123, stream.tokens)
    )

    assert torch.equal(
        denoiser.score(context, stream, wanted_all(stream)),
        denoiser.score(context, leaky, wanted_all(leaky)),
    )


@pytest.mark.parametrize("prefix_length", [0, 1, 5])
def test_causal_logprobs_equal_a_plain_forward(prefix_length):
    """The judge's batched score is the base's own log-probability of the same tokens."""
    denoiser = tiny_denoiser()
    state = denoiser.causal_prefix(encode(denoiser, 4), prefix_length)
    rows = torch.tensor([[70, 71, 72], [80, 81, 0]])
    present = torch.tensor([[True, True, True], [True, True, False]])

    scored = denoiser.causal_logprobs(state, rows, present)

    opening = LEFT[:prefix_length] if prefix_length else torch.tensor([0])
    for row, length in ((0, 3), (1, 2)):
        tokens = torch.cat([opening, rows[row, :length]])
        hidden, _ = causal_stream(
            tokens[None], torch.arange(len(tokens))[None], tiny_weights(), SHAPE
        )
        logprobs = (hidden[0] @ tiny_weights().embed.T).log_softmax(-1)
        expected = [logprobs[len(opening) - 1 + i, rows[row, i]].item() for i in range(length)]
        assert scored[row, :length].tolist() == pytest.approx(expected, abs=1e-4)
    assert scored[1, 2] == 0.0


def test_extend_token_by_token_equals_at_once():
    """Growing a state one token at a time gives the logits of one long step."""
    denoiser = tiny_denoiser()
    start = denoiser.causal_prefix(encode(denoiser, 4), 5)
    tokens = torch.tensor([[70, 71, 72]])

    at_once, _ = denoiser.extend(start, tokens)
    state, parts = start, []
    for column in range(3):
        logits, state = denoiser.extend(state, tokens[:, column : column + 1])
        parts.append(logits)

    torch.testing.assert_close(torch.cat(parts, dim=1), at_once, atol=1e-4, rtol=1e-4)
