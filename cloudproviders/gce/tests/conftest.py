"""Google as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import pytest
from hyperkube_testing.beside import module_beside

google = module_beside(__file__, "google")


@pytest.fixture
def double():
    return google.Google()


@pytest.fixture
def built(double, tmp_path):
    return google.built(double, tmp_path)


@pytest.fixture
def cloud(built):
    """Return what the plugin offers."""
    return google.provider(built)
