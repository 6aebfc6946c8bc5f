"""Fixtures for tests that need a cluster: installed with core, imported by pytest, free until used.

Nothing heavy is imported here: a test run that uses no cluster pays nothing for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from hyperkube_testing.cluster.cluster import ControlPlane
    from hyperkube_testing.cluster.cluster_snapshot import ClusterSnapshot

ClusterFactory: TypeAlias = Callable[..., "ControlPlane"]
"""Takes the arguments of `hyperkube_testing.cluster.cluster.ControlPlane`; returns it running."""


@pytest.fixture
def hyperkube_cluster_factory() -> Iterator[ClusterFactory]:
    """Start clusters as a test needs them; they are stopped when the test ends, the last one first."""
    from hyperkube_testing.cluster.cluster import ControlPlane

    with contextlib.ExitStack() as running:

        def start(**arguments: Any) -> ControlPlane:
            return running.enter_context(ControlPlane(**arguments))

        yield start


@pytest.fixture
def hyperkube_cluster(hyperkube_cluster_factory: ClusterFactory) -> ControlPlane:
    """Start a cluster with one simulated node, the built-in controllers and the default scheduler."""
    return hyperkube_cluster_factory(hollow_nodes=1)


@pytest.fixture(scope="session")
def hyperkube_seed() -> ClusterSnapshot[ControlPlane]:
    """Take the snapshot that every `hyperkube_fork` of the run begins with: one simulated node, nothing else.

    Define a fixture of the same name and scope to begin with more: fill a cluster and return its ``snapshot()``.
    """
    from hyperkube_testing.cluster.cluster import ControlPlane

    with ControlPlane(hollow_nodes=1) as cluster:
        return cluster.snapshot()


@pytest.fixture
def hyperkube_fork(hyperkube_seed: ClusterSnapshot[ControlPlane]) -> Iterator[ControlPlane]:
    """Start a cluster that begins as `hyperkube_seed` is; what the test does in it no other test sees."""
    with hyperkube_seed.cluster() as cluster:
        yield cluster
