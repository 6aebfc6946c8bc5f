"""Google as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("gce_google", Path(__file__).with_name("google.py"))
google = importlib.util.module_from_spec(_spec)
sys.modules["gce_google"] = google
_spec.loader.exec_module(google)


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
