"""The tests that the how-to about the pytest fixture shows, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "use-the-pytest-fixture.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def shown():
    """Return every test function of the page."""
    for block in BLOCKS:
        namespace: dict[str, object] = {}
        exec(compile(block, str(PAGE), "exec"), namespace)
        for name, function in namespace.items():
            if name.startswith("test_"):
                yield pytest.param(function, id=name)


@pytest.mark.parametrize("function", list(shown()))
def test_what_the_page_shows_passes(function, request):
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]

    function(*(request.getfixturevalue(name) for name in arguments))
