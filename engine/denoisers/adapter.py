"""The infill adapter: a low-rank update, norm deltas and two learned embeddings.

Owns the file format and its two uses: merged into a second set of weights (inference) or
kept apart from the frozen base (training). It must not know samplers or canvases.

Source of the format: shared notes of the prototype; see `engine/LOG.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from engine.denoisers.llama import LayerWeights, LowRank, Matrix, Weights
from engine.errors import ModelMissing, UnknownModel

__all__ = ["Adapter"]

MATRICES = ("attention.qkv", "attention.o", "mlp.gate_up", "mlp.down")


@dataclass(frozen=True, slots=True)
class Adapter:
    """Named tensors: layers.i.{matrix}.{A,B}, layers.i.*_norm.delta, final_norm.delta,
    mask_embedding [D] and pad_embedding [D] (input of PAD, and its output row)."""

    tensors: dict[str, Tensor]

    @classmethod
    def load(cls, path: Path) -> Adapter:
        """Read an adapter file. Raises: ModelMissing, UnknownModel when it is not an adapter."""
        if not path.exists():
            raise ModelMissing(f"no adapter at {path}; TIDELINE_ADAPTER names another file")
        try:
            tensors = load_file(path)
        except SafetensorError as error:
            raise UnknownModel(f"{path.name} is not a safetensors file: {error}") from error
        if "mask_embedding" not in tensors or "layers.0.attention.qkv.A" not in tensors:
            raise UnknownModel(f"{path.name} holds no infill adapter: mask_embedding is missing")
        return cls(tensors)

    @classmethod
    def initial(cls, base: Weights, rank: int, generator: torch.Generator) -> Adapter:
        """Make an adapter that changes nothing: B and deltas zero, A small and random."""
        width = base.embed.shape[1]
        mean = base.embed.float().mean(0)
        tensors = {"mask_embedding": mean, "pad_embedding": mean.clone()}
        tensors["final_norm.delta"] = torch.zeros(width)
        for index, layer in enumerate(base.layers):
            for name, matrix in zip(MATRICES, _matrices(layer), strict=True):
                assert isinstance(matrix, Tensor)
                rows, columns = matrix.shape
                a = torch.randn(rank, columns, generator=generator) * columns**-0.5
                tensors[f"layers.{index}.{name}.A"] = a
                tensors[f"layers.{index}.{name}.B"] = torch.zeros(rows, rank)
            for norm in ("attention_norm", "mlp_norm"):
                tensors[f"layers.{index}.{norm}.delta"] = torch.zeros(width)
        return cls(tensors)

    def merged(self, base: Weights) -> Weights:
        """Return full weights `W + B @ A` in the base's dtype; the embedding is shared."""
        return self._over(base, _merge)

    def apart(self, base: Weights) -> Weights:
        """Return weights that keep the update separate, so that it can be trained."""
        return self._over(base, _keep_apart)

    def _over(self, base: Weights, join: Callable[[Matrix, Tensor, Tensor], Matrix]) -> Weights:
        layers = []
        for index, layer in enumerate(base.layers):
            prefix = f"layers.{index}."
            qkv, o, gate_up, down = (
                join(matrix, self.tensors[f"{prefix}{name}.A"], self.tensors[f"{prefix}{name}.B"])
                for name, matrix in zip(MATRICES, _matrices(layer), strict=True)
            )
            attention_norm = layer.attention_norm + self._delta(prefix + "attention_norm")
            mlp_norm = layer.mlp_norm + self._delta(prefix + "mlp_norm")
            layers.append(LayerWeights(qkv, o, gate_up, down, attention_norm, mlp_norm))
        final_norm = base.final_norm + self._delta("final_norm")
        return Weights(base.embed, tuple(layers), final_norm)

    def _delta(self, norm: str) -> Tensor:
        return self.tensors[norm + ".delta"].float()


def _merge(base: Matrix, a: Tensor, b: Tensor) -> Matrix:
    assert isinstance(base, Tensor)
    return (base.float() + b.float() @ a.float()).to(base.dtype)


def _keep_apart(base: Matrix, a: Tensor, b: Tensor) -> Matrix:
    assert isinstance(base, Tensor)
    return LowRank(base, a, b)


def _matrices(layer: LayerWeights) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    return layer.qkv, layer.o, layer.gate_up, layer.down
