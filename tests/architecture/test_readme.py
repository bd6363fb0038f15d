"""The README tells the truth about settings and tree."""

from __future__ import annotations

import re

import pytest

from editor.settings import EditorSettings
from engine.settings import EngineSettings
from tests.architecture.sources import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("settings", [EditorSettings, EngineSettings])
def test_every_setting_is_in_the_table_with_its_words(settings):
    for name, field in settings.model_fields.items():
        rows = [r for r in README.splitlines() if r.startswith(f"| `TIDELINE_{name.upper()}`")]
        assert len(rows) == 1, name
        assert field.description in rows[0], name


def test_table_lists_no_setting_that_does_not_exist():
    listed = set(re.findall(r"^\| `TIDELINE_([A-Z_]+)`", README, re.MULTILINE))
    known = {n.upper() for s in (EditorSettings, EngineSettings) for n in s.model_fields}

    assert listed == known


def test_tree_lists_every_package_and_only_those():
    tree = README.split("## Where things are")[1].split("## ")[0]
    for package in ("editor", "engine"):
        block = re.split(rf"\n    {package}/ ", tree)[1]
        block = re.split(r"\n    \S", block)[0]
        listed = set(re.findall(r"^ {6}(\w+)/ ", block, re.MULTILINE))
        present = {p.parent.name for p in (ROOT / package).glob("*/__init__.py")}
        assert listed == present, package


def test_pictures_exist():
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / picture).is_file(), picture
