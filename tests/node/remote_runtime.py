"""Whether the runtime for containers is there."""

from __future__ import annotations

import importlib.metadata

import pytest


def needs_remote():
    """Skip where the runtime for containers is not installed."""
    runtimes = {entry.name for entry in importlib.metadata.entry_points(group="hyperkube.runtime")}
    if "remote" not in runtimes:
        pytest.skip("the runtime plugin 'remote' is not installed")
