"""Fixtures for tests that need a cluster: installed with core, imported by pytest, free until used.

Nothing heavy is imported here: a test run that uses no cluster pays nothing for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from hyperkube.testing.cluster import ControlPlane

ClusterFactory: TypeAlias = Callable[..., "ControlPlane"]
"""Takes the arguments of `hyperkube.testing.cluster.ControlPlane`; returns it running."""


@pytest.fixture
def hyperkube_cluster_factory() -> Iterator[ClusterFactory]:
    """Start clusters as a test needs them; they are stopped when the test ends, the last one first."""
    from hyperkube.testing.cluster import ControlPlane

    with contextlib.ExitStack() as running:

        def start(**arguments: Any) -> ControlPlane:
            return running.enter_context(ControlPlane(**arguments))

        yield start


@pytest.fixture
def hyperkube_cluster(hyperkube_cluster_factory: ClusterFactory) -> ControlPlane:
    """Start a cluster with one simulated node, the built-in controllers and the default scheduler."""
    return hyperkube_cluster_factory(hollow_nodes=1)
