"""Azure as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("azure_microsoft", Path(__file__).with_name("microsoft.py"))
microsoft = importlib.util.module_from_spec(_spec)
sys.modules["azure_microsoft"] = microsoft
_spec.loader.exec_module(microsoft)


@pytest.fixture
def double():
    return microsoft.Microsoft()


@pytest.fixture
def built(double, tmp_path):
    return microsoft.built(double, tmp_path)


@pytest.fixture
def cloud(built):
    """Return what the plugin offers."""
    return microsoft.provider(built)
