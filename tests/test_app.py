"""The command line, run as a user runs it, with the denoiser that needs no weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTE = (
    "Allergies: [___].\nThe visit is on {{date}} at 09:30. \u00e9\U0001f469\u200d\u2695\ufe0f end\n"
)


@pytest.fixture
def run(tmp_path):
    environment = os.environ | {
        "TIDELINE_DENOISER": "scripted",
        "TIDELINE_DATA_DIR": str(tmp_path / "data"),
        "TIDELINE_CACHE_DIR": str(tmp_path / "cache"),
    }

    def call(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "app.py"), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=environment,
            timeout=120,
            check=False,
        )

    return call


def test_fill_json_has_the_documented_shape_and_keeps_what_is_outside(run):
    done = run("fill", "-", "--json", "--compare", "autoregressive", stdin=NOTE)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report.keys() >= {
        "text",
        "regions",
        "passes",
        "tokens_per_pass",
        "stop_reason",
        "timings",
        "run_card",
    }
    assert report["timings"].keys() >= {"load_ms", "encode_ms", "first_stable_ms", "complete_ms"}
    assert report["run_card"]["fact_checked"] is False
    rebuilt, place = "", 0
    for region in report["regions"]:
        assert NOTE[region["from"] : region["to"]] == region["original"]
        assert region["text"] == region["alternatives"][0]["text"]
        rebuilt += NOTE[place : region["from"]] + region["text"]
        place = region["to"]
    assert rebuilt + NOTE[place:] == report["text"]
    assert [r["original"] for r in report["regions"]] == ["[___]", "{{date}}"]


def test_fill_prints_the_text_and_nothing_else(run):
    done = run("fill", "-", stdin=NOTE)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Allergies: ")
    assert done.stdout.endswith(" \u00e9\U0001f469\u200d\u2695\ufe0f end\n")
    assert "[___]" not in done.stdout


def test_fill_writes_the_output_file(run, tmp_path):
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text(NOTE, encoding="utf-8")

    done = run("fill", str(source), "-o", str(target))

    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "{{date}}" not in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "text", "words"),
    [
        (["fill", "-"], "No blank here.", "region"),
        (["fill", "-", "--region", "5:900"], "Too short.", "900"),
        (["fill", "-", "--region", "x"], "Text.", "A:B"),
        (["fill", "-", "--preset", "huge"], NOTE, "balanced"),
        (["fill", "/no/such/file"], "", "/no/such/file"),
        (["fill", "-", "--region", "4:10", "--lock", "8:12"], "Give 5 mg of it.", "lock"),
        (["fill", "-", "--region", "1:2"], "a\r\nbb", "grapheme"),
        (["fill", "/"], "", "directory"),
        (["--port", "99999"], "", "TIDELINE_PORT"),
        (["model", "info", "gpt-9"], "", "gpt-9"),
        (["bench", "speed"], "", "latency"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_status_2(run, arguments, text, words):
    done = run(*arguments, stdin=text)

    assert done.returncode == 2, (done.stdout, done.stderr)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_import_then_verify_then_export(run, tmp_path):
    source = tmp_path / "note.txt"
    source.write_text(NOTE, encoding="utf-8")

    imported = json.loads(run("import", str(source), "--json").stdout)
    verified = run("verify", "--json")
    exported = run("export", imported["id"])

    assert json.loads(verified.stdout)["is_sound"] is True
    assert verified.returncode == 0
    assert exported.stdout == NOTE


def test_database_commands_tell_the_schema(run):
    upgraded = json.loads(run("db", "upgrade", "--json").stdout)
    current = json.loads(run("db", "current", "--json").stdout)

    assert current["current"] == current["newest"] == upgraded["current"]


def test_models_are_listed_with_licence_and_checksum(run):
    models = json.loads(run("model", "list", "--json").stdout)["models"]

    assert models[0]["licence"] == "Apache-2.0"
    assert len(models[0]["sha256"]) == 64
    assert models[0]["is_cached"] is False


def test_backup_is_a_sound_copy_and_purge_leaves_no_text(run, tmp_path):
    source, copy = tmp_path / "note.txt", tmp_path / "copy.db"
    source.write_text(NOTE, encoding="utf-8")
    document = json.loads(run("import", str(source), "--json").stdout)["id"]

    backed_up = run("db", "backup", str(copy), "--json")
    again = run("db", "backup", str(copy))
    purged = json.loads(run("db", "purge", document, "--json").stdout)

    assert json.loads(backed_up.stdout)["is_sound"] is True
    assert again.returncode == 2
    assert "exists" in again.stderr
    assert purged["document_id"] == document
    assert run("export", document).returncode == 2
    assert run("verify").returncode == 0
    assert NOTE.encode()[:20] in copy.read_bytes()
