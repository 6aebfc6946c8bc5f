"""The classes of the cluster's own components: they are there from the start, and stay."""

import pytest
from hyperkube_api.scheduling.resources import SchedulingApi

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.schema import compile_schema


@pytest.fixture
def classes():
    return SchedulingApi(PluginContext(name="scheduling", clock=FakeClock())).api_bootstrap_objects()


def test_every_cluster_starts_with_two(classes):
    values = {entry["metadata"]["name"]: entry["value"] for entry in classes}

    assert values == {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def test_they_fit_their_type(classes):
    schema = compile_schema("hyperkube_api.scheduling.v1:PriorityClass")

    assert [schema.decode(entry)[1] for entry in classes] == [[], []]
