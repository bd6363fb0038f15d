"""Names that say nothing are refused (style sheet, rules 2 to 4)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture.sources import functions, modules

BANNED_MODULES = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "base2"}
BANNED_FUNCTIONS = re.compile(r"^_?(get|process|handle|do)_")
BANNED_SUFFIXES = re.compile(r"(_v2|_new|_fast|_old|2)$")

ALLOWED_FUNCTIONS = {
    "handle_starttag": "html.parser calls it by this name",
    "handle_endtag": "html.parser calls it by this name",
    "handle_data": "html.parser calls it by this name",
    "get_logger": "structlog's own word",
}


def test_modules_are_named_after_what_they_own():
    named = {path for path, _, _ in modules() if Path(path).stem in BANNED_MODULES}

    assert not named


def test_functions_are_named_after_what_they_do():
    named = [
        f"{path}:{function.name}"
        for path, tree, _ in modules()
        for function in functions(tree)
        if (BANNED_FUNCTIONS.match(function.name) or BANNED_SUFFIXES.search(function.name))
        and function.name not in ALLOWED_FUNCTIONS
    ]

    assert not named


def test_only_settings_read_the_environment():
    """Rule 10: settings are read once, in settings modules; elsewhere os.environ is refused.

    Passing the environment on to a child process is no reading of a setting.
    """
    allowed = {
        "engine/denoisers/fetch.py": "hands the environment to pip",
        "engine/spawn.py": "hands the environment to the worker",
    }
    reading = {
        path
        for path, tree, _ in modules("editor", "engine")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    }

    assert reading <= allowed.keys()


def test_every_public_module_says_what_it_owns():
    silent = [path for path, tree, _ in modules() if not ast.get_docstring(tree)]

    assert not silent


def test_no_print_outside_programs():
    """A program is a module with a __main__ block, or the command line."""
    allowed = {"editor/app_factory.py": "prints the link that opens the editor"}
    printing = [
        path
        for path, tree, text in modules("editor", "engine")
        if "__main__" not in text and not path.endswith("__main__.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]

    assert set(printing) <= allowed.keys()
