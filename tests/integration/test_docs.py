"""What pages show and nothing else runs: the tests about the pytest fixture, the program of the walk through the client."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "how-to" / "use-the-pytest-fixture.md"
WALK = DOCS / "explanation" / "from-the-source" / "client.md"


def blocks(page):
    """Return the Python code that a page shows."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def shown():
    """Return every test function of the page."""
    for block in blocks(PAGE):
        namespace: dict[str, object] = {}
        exec(compile(block, str(PAGE), "exec"), namespace)
        for name, function in namespace.items():
            if name.startswith("test_"):
                yield pytest.param(function, id=name)


@pytest.mark.parametrize("function", list(shown()))
def test_what_the_page_shows_passes(function, request):
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]

    function(*(request.getfixturevalue(name) for name in arguments))


def test_the_program_of_the_walk_counts_the_pods_and_misses_one(hyperkube_cluster, monkeypatch, capsys):
    (program,) = blocks(WALK)
    monkeypatch.setattr("sys.argv", ["count-pods", str(hyperkube_cluster.kubeconfig)])

    exec(compile(program, str(WALK), "exec"), {})

    assert capsys.readouterr().out == (
        "There are 0 pods in the cluster\nPod example-xxxxx in namespace default not found\n"
    )
