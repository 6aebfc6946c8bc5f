"""A vCenter as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import pytest
from hyperkube_testing.beside import module_beside

module_beside(__file__, "wire")
module_beside(__file__, "inventory")
vmware = module_beside(__file__, "vmware")
module_beside(__file__, "token_service")


@pytest.fixture
def double():
    return vmware.furnished()


@pytest.fixture
def built(double, tmp_path):
    return vmware.built(double, tmp_path)


@pytest.fixture
def cloud(built):
    """Return what the plugin offers."""
    return vmware.provider(built)
