"""Rules of the source that no linter knows: where time comes from, where asyncio lives, how long a file is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from source_tree import imports_of, tree_of
from workspace import ROOT, distributions

SOURCES = sorted(path for member in distributions() for path in member.source.rglob("*.py"))
CLOCK = ROOT / "core/src/hyperkube/machinery/clock.py"
ASYNCIO_ALLOWED = (
    "plugins/lib/serving/src/hyperkube_lib/serving/",
    "plugins/lib/http2/src/hyperkube_lib/http2/",
    "plugins/proxier/userspace/",
)
TYPE_TABLES = "plugins/api/"
SHIM = "plugins/runtime/process/"
"""The shim of a container is a process of its own, without a clock object."""
LONGEST = 400
"""Lines of a file; a longer one is two ideas. Tables of API types and generated stubs excepted."""
LONGEST_FUNCTION = 60


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> set[str]:
    return {each.name.split(".")[0] for each in imports_of(tree_of(path), ())}


def test_time_comes_from_the_clock_object_only():
    wrong = [relative(path) for path in SOURCES if path != CLOCK and "time" in imports(path) and SHIM not in str(path)]

    assert wrong == []


def test_asyncio_lives_in_the_serving_edge_and_the_userspace_proxier_only():
    wrong = [
        relative(path)
        for path in SOURCES
        if "asyncio" in imports(path) and not relative(path).startswith(ASYNCIO_ALLOWED)
    ]

    assert wrong == []


def test_no_file_is_two_ideas():
    long = {relative(path) for path in SOURCES if len(path.read_text().splitlines()) > LONGEST}
    wrong = {name for name in long if not (name.startswith(TYPE_TABLES) or "/stubs/" in name)}

    assert wrong == set()


def test_no_function_is_long():
    wrong = {
        f"{relative(path)} {node.name}"
        for path in SOURCES
        if "/stubs/" not in str(path)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > LONGEST_FUNCTION
    }

    assert wrong == set()


@pytest.mark.parametrize("word", ["http://pypi", "files.pythonhosted", "deb.debian", "registry.npmjs"])
def test_no_address_of_a_package_index_is_in_the_tree(word):
    wrong = [relative(path) for path in SOURCES if word in path.read_text()]

    assert wrong == []
