"""Imports of the whole tree: no module needs itself, not even through an import inside a function or for types."""

from __future__ import annotations

import ast

import pytest
from source_tree import circles, imports_of, modules


def test_no_modules_import_each_other():
    assert _circles() == []


def _circles() -> list[list[str]]:
    everything = modules()
    graph = {
        name: {each.module for each in module.imports if each.module in everything and each.module != name}
        for name, module in everything.items()
    }
    return circles(graph)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": ["b"], "b": []}, []),
        ({"a": ["b"], "b": ["a"]}, [["a", "b"]]),
        ({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}, [["a", "b", "c"]]),
        ({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"]}, [["c", "d"], ["a", "b"]]),
    ],
    ids=["chain", "pair", "triangle with a tail", "two pairs"],
)
def test_circles_are_strongly_connected_components(graph, expected):
    assert circles(graph) == expected


def test_imports_inside_functions_and_for_types_are_seen():
    source = "import a\nif TYPE_CHECKING:\n    import a.b\ndef f():\n    from a import c, b\n"

    found = [(each.name, each.module, each.top) for each in imports_of(ast.parse(source), {"a", "a.b"})]

    assert found == [("a", "a", True), ("a.b", "a.b", False), ("a.c", "a", False), ("a.b", "a.b", False)]
