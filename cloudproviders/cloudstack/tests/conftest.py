"""CloudStack as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import pytest
from hyperkube_testing.beside import module_beside

stack = module_beside(__file__, "stack")


@pytest.fixture
def double():
    return stack.Stack()


@pytest.fixture
def built(double, tmp_path):
    return stack.built(double, tmp_path)


@pytest.fixture
def cloud(built):
    """Return what the plugin offers."""
    return stack.provider(built)
