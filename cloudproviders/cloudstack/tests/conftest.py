"""CloudStack as a double plays it, and the provider that talks to it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("cloudstack_stack", Path(__file__).with_name("stack.py"))
stack = importlib.util.module_from_spec(_spec)
sys.modules["cloudstack_stack"] = stack
_spec.loader.exec_module(stack)


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
