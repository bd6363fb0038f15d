"""Caps of the style sheet, rule 5. An exception names its reason and may only be removed."""

from __future__ import annotations

from tests.architecture.sources import functions, modules

MODULE_LINES, FUNCTION_LINES, PARAMETERS, POSITIONAL = 500, 60, 5, 6

# path:function -> why it may be longer or take more.
LONG_FUNCTIONS: dict[str, str] = {}
MANY_POSITIONAL: dict[str, str] = {}


def test_no_module_is_longer_than_the_cap():
    long = {
        path: text.count("\n") for path, _, text in modules() if text.count("\n") > MODULE_LINES
    }

    assert not long


def test_no_function_is_longer_than_the_cap():
    long = {
        f"{path}:{function.name}": function.end_lineno - function.lineno + 1
        for path, tree, _ in modules()
        for function in functions(tree)
        if function.end_lineno - function.lineno + 1 > FUNCTION_LINES
    }

    assert long.keys() == LONG_FUNCTIONS.keys()


def test_no_function_takes_too_many_positional_parameters():
    many = {
        f"{path}:{function.name}"
        for path, tree, _ in modules()
        for function in functions(tree)
        if len(function.args.args) + len(function.args.posonlyargs) > POSITIONAL
    }

    assert many == MANY_POSITIONAL.keys()
