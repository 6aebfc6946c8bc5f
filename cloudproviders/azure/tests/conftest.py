"""Azure as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


def _loaded(name, file):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(file))
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


microsoft = _loaded("azure_microsoft", "microsoft.py")
storage = _loaded("azure_microsoft_storage", "microsoft_storage.py")


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
