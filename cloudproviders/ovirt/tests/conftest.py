"""oVirt as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import pytest
from hyperkube_testing.beside import module_beside

engine = module_beside(__file__, "engine")


@pytest.fixture
def double():
    return engine.Engine()


@pytest.fixture
def built(double, tmp_path):
    return engine.built(double, tmp_path)


@pytest.fixture
def cloud(built):
    """Return what the plugin offers."""
    return engine.provider(built)
