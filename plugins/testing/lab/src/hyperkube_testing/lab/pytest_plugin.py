"""Fixtures for tests that need nodes with containers: imported by pytest, free until used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hyperkube_testing.lab.lab import Lab


@pytest.fixture(scope="session")
def hyperkube_lab() -> Iterator[Lab]:
    """The laboratory of the test run; its nodes start when they are first asked for.

    Skips where there is no root, no containerd or no cgroup v1, and says so.
    """
    from hyperkube_testing.lab import Lab, missing_for_nodes

    if reason := missing_for_nodes():
        pytest.skip(reason)
    with Lab() as lab:
        yield lab


@pytest.fixture(scope="session")
def hyperkube_places() -> Iterator[Lab]:
    """A laboratory for tests of networks alone: namespaces, no containerd; it needs root."""
    from hyperkube_testing.lab import Lab, missing_for_places

    if reason := missing_for_places():
        pytest.skip(reason)
    with Lab() as lab:
        yield lab
