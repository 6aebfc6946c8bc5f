"""A vCenter as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


def _loaded(name):
    spec = importlib.util.spec_from_file_location(f"vsphere_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"vsphere_{name}"] = module
    spec.loader.exec_module(module)
    return module


_loaded("wire")
_loaded("inventory")
vmware = _loaded("vmware")


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
