"""From settings to a loaded denoiser: device, precision, files, checksums."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from engine.denoisers.adapter import MATRICES, Adapter
from engine.denoisers.base import Denoiser
from engine.denoisers.codec import BytePairCodec
from engine.denoisers.fetch import Progress, ensure_model, file_sha256
from engine.denoisers.infill import InfillDenoiser
from engine.denoisers.llama import LayerWeights, Shape, Weights
from engine.settings import EngineSettings

__all__ = ["SHIPPED_ADAPTER", "choose_device", "choose_precision", "load_base", "load_denoiser"]

SHIPPED_ADAPTER = Path(__file__).parent / "weights" / "infill-smollm2-135m.safetensors"

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def choose_device(wanted: str) -> torch.device:
    """Return the device to compute on: CUDA if present and wanted, else the CPU."""
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(wanted)


def choose_precision(wanted: str, device: torch.device) -> str:
    """Return fp32 or bf16; auto takes bf16 where the hardware multiplies it natively."""
    if wanted != "auto":
        return wanted
    if device.type == "cuda":
        return "bf16"
    capable = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return "bf16" if capable else "fp32"


def load_base(
    weights: Path, *, device: torch.device, dtype: torch.dtype
) -> tuple[Weights, Shape, frozenset[int]]:
    """Read dequantised weights; return them, their shape and the ids never to be produced."""
    with safe_open(weights, framework="pt", device=str(device)) as file:
        metadata = file.metadata()
        tensors: dict[str, Tensor] = {
            name: file.get_tensor(name)
            for name in file.keys()  # noqa: SIM118  (the file object is no mapping)
        }
    shape = Shape(
        heads=int(metadata["heads"]),
        kv_heads=int(metadata["kv_heads"]),
        norm_epsilon=float(metadata["norm_epsilon"]),
        rope_theta=float(metadata["rope_theta"]),
        max_positions=int(metadata["max_positions"]),
    )
    layers: list[LayerWeights] = []
    while (prefix := f"layers.{len(layers)}.") + "attention.qkv" in tensors:
        matrices = (tensors[prefix + name].to(dtype) for name in MATRICES)
        norms = (tensors[prefix + name].float() for name in ("attention_norm", "mlp_norm"))
        layers.append(LayerWeights(*matrices, *norms))
    base = Weights(tensors["embed"].to(dtype), tuple(layers), tensors["final_norm"].float())
    specials = frozenset(int(item) for item in metadata["specials"].split(",") if item)
    return base, shape, specials


def load_denoiser(settings: EngineSettings, progress: Progress | None = None) -> Denoiser:
    """Return the denoiser that `settings` name, fetching the base if it is not in the cache.

    Raises: UnknownModel, ModelMissing, ChecksumMismatch, DiskFull.
    """
    device = choose_device(settings.device)
    precision = choose_precision(settings.precision, device)
    adapter_path = settings.adapter or SHIPPED_ADAPTER
    adapter = Adapter.load(adapter_path)  # before the download: a wrong path fails at once
    files = ensure_model(settings.model, settings.cache_dir, progress)
    base, shape, specials = load_base(files.weights, device=device, dtype=DTYPES[precision])
    placed = Adapter({name: tensor.to(device) for name, tensor in adapter.tensors.items()})
    return InfillDenoiser(
        base,
        placed,
        shape,
        BytePairCodec.load(files.tokenizer, specials),
        identity=(
            files.model.name,
            files.model.sha256,
            adapter_path.name,
            file_sha256(adapter_path),
        ),
        precision=precision,
    )
