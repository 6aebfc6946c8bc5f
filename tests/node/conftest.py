"""Nodes with containers: one laboratory for the whole session, one cluster on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyperkube_testing.lab import missing_for_places
from hyperkube_testing.lab.cluster import missing_for_clusters

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Mark what is in this folder; without root or kubectl there is nothing to test it with."""
    reason = missing_for_places() or missing_for_clusters()
    for item in items:
        if Path(item.path).is_relative_to(FOLDER):
            item.add_marker(pytest.mark.root)
            item.add_marker(pytest.mark.slow)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))
