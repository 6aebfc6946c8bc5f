"""oVirt as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("ovirt_engine", Path(__file__).with_name("engine.py"))
engine = importlib.util.module_from_spec(_spec)
sys.modules["ovirt_engine"] = engine
_spec.loader.exec_module(engine)


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
