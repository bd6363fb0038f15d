"""Checkpoints: everything a run needs to go on exactly, and the adapter it would release."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from engine.training.trainer import TrainConfig, Trainer

__all__ = ["export_adapter", "resume", "save"]


def save(trainer: Trainer, path: Path) -> None:
    """Write parameters, average, optimiser and counters, replacing `path` at the end."""
    state = {
        "step_index": trainer.step_index,
        "region_tokens": trainer.region_tokens,
        "config": asdict(trainer.config),
        "parameters": {name: p.detach() for name, p in trainer.parameters.items()},
        "averaged": trainer.averaged,
        "optimiser": trainer.optimiser.state_dict(),
    }
    partial = path.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(path)


def resume(trainer: Trainer, path: Path) -> None:
    """Load a checkpoint into a fresh trainer.

    Raises: ValueError when it was made with another configuration, since data and randomness are
    functions of it.
    """
    state = torch.load(path, map_location=trainer.device, weights_only=True)
    differences = _differences(state["config"], asdict(trainer.config))
    if differences:
        raise ValueError(
            f"{path.name} was made with other settings: {'; '.join(differences)}. Use the same, or "
            "start from its adapter with --init"
        )
    with torch.no_grad():
        for name, parameter in trainer.parameters.items():
            parameter.copy_(state["parameters"][name])
            trainer.averaged[name].copy_(state["averaged"][name])
    trainer.optimiser.load_state_dict(state["optimiser"])
    trainer.step_index = state["step_index"]
    trainer.region_tokens = state["region_tokens"]


def _differences(stored: dict[str, Any], asked: dict[str, Any]) -> list[str]:
    """Name the settings that differ; one the checkpoint does not know had its default."""
    found = []
    defaults = asdict(TrainConfig())
    for name, value in asked.items():
        was = stored.get(name, defaults[name])
        if isinstance(value, dict):
            was = defaults[name] | was
        if was != value:
            found.append(f"{name} {was}, asked for {value}")
    return found


def export_adapter(trainer: Trainer, path: Path) -> None:
    """Write the averaged weights as a half-precision adapter file with its origin as metadata."""
    tensors = {
        name: tensor.to(torch.bfloat16).contiguous() for name, tensor in trainer.averaged.items()
    }
    metadata = {
        "step": str(trainer.step_index),
        "region_tokens": str(trainer.region_tokens),
        "config": json.dumps(repr(trainer.config)),
    }
    partial = path.with_suffix(".partial")
    save_file(tensors, partial, metadata=metadata)
    partial.replace(path)
