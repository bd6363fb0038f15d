from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.denoisers.adapter import Adapter
from engine.denoisers.base import SlotState
from engine.training import checkpoint
from engine.training.corpus import Corpus, prepare_corpus
from engine.training.corruption import CorruptionConfig
from engine.training.heldout import HeldoutCase, measure
from engine.training.objective import infill_loss
from engine.training.trainer import TrainConfig, Trainer, make_batch, second_look
from tests.engine.denoisers.tiny import SHAPE, VOCAB, tiny_adapter, tiny_codec, tiny_weights

CONFIG = TrainConfig(
    batch=3,
    learning_rate=3e-3,
    warmup_steps=2,
    corruption=CorruptionConfig(context_tokens=24, stream_slots=20, max_regions=4, max_gap=4),
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "prose").mkdir()
    text = "\n\n<|doc|>\n\n".join(f"the hen number {n} saw a fox and ran. " * 8 for n in range(9))
    (folder / "prose" / "hens.txt").write_text(text)
    prepare_corpus(folder, folder / "tokens", tiny_codec())
    return Corpus.open(folder / "tokens")


def a_trainer(corpus: Corpus) -> Trainer:
    base = tiny_weights()
    return Trainer(base, SHAPE, tiny_adapter(base, scale=0.02), corpus, CONFIG)


def test_loss_and_gradient_equal_the_plain_cross_entropy():
    """The chunked loss that keeps no logits is torch's cross-entropy."""
    rng = torch.Generator().manual_seed(1)
    embed = torch.randn(VOCAB, 16, generator=rng)
    hidden = torch.randn(600, 16, generator=rng, requires_grad=True)
    pad = torch.randn(16, generator=rng, requires_grad=True)
    targets = torch.randint(0, VOCAB + 1, (600,), generator=rng)
    weight = torch.rand(600, generator=rng)

    fast, losses, _ = infill_loss(hidden, pad, embed, targets, weight)
    fast.backward()
    fast_grads = (hidden.grad.clone(), pad.grad.clone())
    hidden.grad = pad.grad = None
    logits = torch.cat([hidden @ embed.T, (hidden @ pad).unsqueeze(-1)], dim=-1)
    each = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    (each * weight).sum().backward()

    torch.testing.assert_close(losses, each.detach(), atol=1e-3, rtol=1e-4)
    torch.testing.assert_close(fast_grads[0], hidden.grad, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(fast_grads[1], pad.grad, atol=1e-3, rtol=1e-3)


def test_update_kept_apart_equals_update_merged():
    base = tiny_weights()
    adapter = tiny_adapter(base, scale=0.1)
    x = torch.randn(4, 48)
    apart, merged = adapter.apart(base).layers[0], adapter.merged(base).layers[0]

    from engine.denoisers.llama import multiply

    torch.testing.assert_close(
        multiply(x, apart.qkv), multiply(x, merged.qkv), atol=1e-4, rtol=1e-4
    )


def test_training_lowers_the_loss(corpus):
    trainer = a_trainer(corpus)

    losses = [trainer.step().loss for _ in range(40)]

    assert np.mean(losses[-8:]) < 0.8 * np.mean(losses[:8])


def test_gradients_of_pieces_add_up_to_their_mean(corpus):
    """Two pieces in one step give the mean of the gradients that each gives alone."""
    base = tiny_weights()

    def gradients(accumulate: int, numbers: list[int]) -> torch.Tensor:
        config = replace(CONFIG, accumulate=accumulate)
        trainer = Trainer(base, SHAPE, tiny_adapter(base, scale=0.02), corpus, config)
        for number in numbers:
            trainer._piece(number)
        return torch.cat([p.grad.flatten() for p in trainer.parameters.values()])

    torch.testing.assert_close(
        gradients(2, [0, 1]), (gradients(1, [0]) + gradients(1, [1])) / 2, atol=1e-6, rtol=1e-4
    )


def test_resumed_run_equals_uninterrupted_run(corpus, tmp_path):
    """Data, randomness, optimiser and average go on exactly."""
    whole = a_trainer(corpus)
    for _ in range(6):
        whole.step()
    first = a_trainer(corpus)
    for _ in range(3):
        first.step()
    checkpoint.save(first, tmp_path / "c.pt")

    second = a_trainer(corpus)
    checkpoint.resume(second, tmp_path / "c.pt")
    for _ in range(3):
        second.step()

    for name, parameter in whole.parameters.items():
        assert torch.equal(parameter, second.parameters[name]), name
        assert torch.equal(whole.averaged[name], second.averaged[name]), name
    assert whole.region_tokens == second.region_tokens


def test_checkpoint_of_another_configuration_is_refused(corpus, tmp_path):
    checkpoint.save(a_trainer(corpus), tmp_path / "c.pt")
    base = tiny_weights()
    config = replace(CONFIG, batch=5)
    other = Trainer(base, SHAPE, tiny_adapter(base, scale=0.02), corpus, config)

    with pytest.raises(ValueError, match=r"settings: batch 3, asked for 5\."):
        checkpoint.resume(other, tmp_path / "c.pt")


def test_checkpoint_that_lacks_a_newer_setting_had_its_default(corpus, tmp_path):
    checkpoint.save(a_trainer(corpus), tmp_path / "c.pt")
    state = torch.load(tmp_path / "c.pt", weights_only=True)
    del state["config"]["accumulate"], state["config"]["corruption"]["max_pad_ratio"]
    torch.save(state, tmp_path / "c.pt")

    checkpoint.resume(a_trainer(corpus), tmp_path / "c.pt")


def test_exported_adapter_loads_and_holds_the_average(corpus, tmp_path):
    trainer = a_trainer(corpus)
    trainer.step()
    checkpoint.export_adapter(trainer, tmp_path / "a.safetensors")

    loaded = Adapter.load(tmp_path / "a.safetensors")

    assert loaded.tensors.keys() == trainer.averaged.keys()
    torch.testing.assert_close(
        loaded.tensors["mask_embedding"].float(),
        trainer.averaged["mask_embedding"],
        atol=0.02,
        rtol=0.02,
    )


def test_second_look_shows_true_words_and_a_share_of_first_guesses(corpus):
    batch = make_batch(corpus, CONFIG, VOCAB, 0, torch.device("cpu"))
    guesses = torch.where(batch.state == SlotState.MASK, 77, -1)

    def look(share: float):
        return second_look(batch, guesses, share, np.random.default_rng(0))

    true, own = look(0.0), look(1.0)

    in_view = (true.state == SlotState.TOKEN) & (batch.targets >= 0)
    assert in_view.any()
    assert torch.equal(true.tokens[in_view], batch.targets[in_view])
    shown = own.tokens != true.tokens
    assert torch.equal(shown, in_view & (guesses == 77) & (batch.targets != 77))
    assert (own.weight[shown] == 1.0).all()
    assert torch.equal(own.targets, batch.targets)


def test_two_looks_score_every_hidden_word_of_a_part_masked_region(corpus):
    batch = make_batch(corpus, CONFIG, VOCAB, 0, torch.device("cpu"))
    hidden_once = (batch.state == SlotState.MASK) | (batch.other_state == SlotState.MASK)
    words = (batch.targets >= 0) & (batch.targets < VOCAB)

    assert (hidden_once & words).sum() / words.sum() > 0.9


def test_windows_follow_source_weights(tmp_path):
    """A source of weight 3 is read three times as often per token."""
    tokens = np.concatenate([np.zeros(5000), np.ones(5000)]).astype(np.uint16)
    corpus = Corpus(
        tokens, np.array([0.75, 1.0]), np.array([[0, 5000], [5000, 10000]], dtype=np.int64)
    )
    rng = np.random.default_rng(0)

    share = np.mean([corpus.choose_window(10, rng)[0] == 0 for _ in range(2000)])

    assert abs(share - 0.75) < 0.04


def test_held_out_scores_count_every_masked_slot_pad_included(corpus):
    windows = np.random.default_rng(0).integers(17, VOCAB, (5, 40))
    cases = [HeldoutCase("gap", 4, 1.0, context=12), HeldoutCase("pad", 4, 1.0, pad=6, context=12)]

    gap, pad = measure(a_trainer(corpus), windows, cases, rows=2)

    assert (gap.num_positions, pad.num_positions) == (20, 50)
    assert gap.cross_entropy > 0
    assert 0 <= pad.accuracy <= 1
