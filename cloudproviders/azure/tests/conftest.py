"""Azure as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import pytest
from hyperkube_testing.beside import module_beside

microsoft = module_beside(__file__, "microsoft")
storage = module_beside(__file__, "microsoft_storage")


@pytest.fixture
def double():
    return storage.MicrosoftStorage()


@pytest.fixture
def built(double, tmp_path):
    return microsoft.built(double, tmp_path)


@pytest.fixture
def cloud(built):
    """Return what the plugin offers."""
    return microsoft.provider(built)
