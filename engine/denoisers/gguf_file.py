"""Read a Llama-family GGUF file into bfloat16 safetensors and a tokenizer file.

Dequantisation is the gguf package's; what is ours is the naming (row-stacked qkv and gate/up)
and undoing llama.cpp's interleaved layout of the rotary halves.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from safetensors.torch import save_file

from engine.denoisers.codec import build_tokenizer

__all__ = ["read_gguf"]


def read_gguf(
    source: Path, weights: Path, tokenizer: Path, report: Callable[[str, int, int], None]
) -> None:
    """Write `weights` (bfloat16, metadata holds the shape of the model) and `tokenizer`.

    Tensors: embed [V, D]; per layer i attention.qkv [(Hq + 2 Hkv) 64, D], attention.o, mlp.gate_up
    [2 F, D], mlp.down, attention_norm, mlp_norm [D]; final_norm [D]. Rotary halves are split
    (first half, second half), as in the published checkpoint.
    """
    reader = GGUFReader(source)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    raw = {tensor.name: tensor for tensor in reader.tensors}
    total = sum(int(tensor.n_elements) for tensor in reader.tensors)
    done = 0

    def read(name: str) -> torch.Tensor:
        nonlocal done
        tensor = raw[name]
        values = np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        done += int(tensor.n_elements)
        report("dequantise", done, total)
        return torch.from_numpy(values.copy())

    heads = int(fields["llama.attention.head_count"])
    kv_heads = int(fields["llama.attention.head_count_kv"])
    state = {"embed": read("token_embd.weight"), "final_norm": read("output_norm.weight")}
    for layer in range(int(fields["llama.block_count"])):
        block, ours = f"blk.{layer}.", f"layers.{layer}."
        query = _split_halves(read(block + "attn_q.weight"), heads)
        key = _split_halves(read(block + "attn_k.weight"), kv_heads)
        state[ours + "attention.qkv"] = torch.cat([query, key, read(block + "attn_v.weight")])
        state[ours + "attention.o"] = read(block + "attn_output.weight")
        gate, up = read(block + "ffn_gate.weight"), read(block + "ffn_up.weight")
        state[ours + "mlp.gate_up"] = torch.cat([gate, up])
        state[ours + "mlp.down"] = read(block + "ffn_down.weight")
        state[ours + "attention_norm"] = read(block + "attn_norm.weight")
        state[ours + "mlp_norm"] = read(block + "ffn_norm.weight")
    metadata = {
        "heads": str(heads),
        "kv_heads": str(kv_heads),
        "norm_epsilon": repr(float(fields["llama.attention.layer_norm_rms_epsilon"])),
        "rope_theta": repr(float(fields["llama.rope.freq_base"])),
        "max_positions": str(int(fields["llama.context_length"])),
        "specials": ",".join(
            str(i) for i, kind in enumerate(fields["tokenizer.ggml.token_type"]) if kind != 1
        ),
    }
    _save(state, weights, metadata)
    partial = tokenizer.with_suffix(".partial")
    build_tokenizer(fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.merges"]).save(
        str(partial)
    )
    partial.replace(tokenizer)


def _save(state: dict[str, torch.Tensor], weights: Path, metadata: dict[str, str]) -> None:
    partial = weights.with_suffix(".partial")
    half = {name: tensor.to(torch.bfloat16).contiguous() for name, tensor in state.items()}
    save_file(half, partial, metadata=metadata)
    partial.replace(weights)


def _split_halves(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Undo the interleaving of rotary pairs: rows (head, pair, half) to (head, half, pair)."""
    rows, width = weight.shape
    return weight.view(heads, rows // heads // 2, 2, width).transpose(1, 2).reshape(rows, width)
