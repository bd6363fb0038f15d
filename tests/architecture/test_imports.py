"""Layer rules, and the web process's promise to load no model library."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT

WEB_SIDE = ("app", "editor.app_factory", "editor.headless", "engine.client", "engine.contract")


def test_import_rules_hold():
    """The contracts of [tool.importlinter] in pyproject.toml."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"

    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("module", WEB_SIDE)
def test_web_side_loads_no_model_library(module):
    code = (
        f"import sys, {module}; "
        "print([n for n in ('torch', 'transformers', 'safetensors.torch') if n in sys.modules])"
    )

    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == "[]"
