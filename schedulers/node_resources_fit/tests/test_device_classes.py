"""Extended resources that a device class stands for are left to DynamicResources, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/noderesources/fit_test.go``.
"""

import random

import pytest
from hyperkube_host.scheduler.framework.algorithm import Algorithm
from hyperkube_scheduler.node_resources_fit import GATE, NodeResourcesFit
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.base import PluginContext
from hyperkube.kinds.resources import DEVICE_CLASSES
from hyperkube.testing.waiting import eventually

BACKED, PLUGGED, UNKNOWN = "extended.resource.dra.io/something", "example.com/aaa", "example.com/bbb"
IMPLICIT = "deviceclass.resource.kubernetes.io/device-class-name"
CLASS = {"metadata": {"name": "device-class-name"}, "spec": {"extendedResourceName": BACKED}}


class World:
    """A cluster's device classes, and a plugin that knows of them."""

    def __init__(self, *classes, gate=True):
        self.client = FakeClient()
        for each in classes:
            self.client.create(DEVICE_CLASSES, each)
        self.informers = InformerFactory(self.client)
        self.informers.start()
        self.woken = []
        context = PluginContext(
            name="NodeResourcesFit", client=self.client, informers=self.informers, gates={GATE: gate}
        )
        self.plugin = NodeResourcesFit(context)
        self.plugin.connect(self.woken.append)


@pytest.fixture
def build():
    """Return what builds worlds, and end their informers."""
    built = []

    def build_one(*classes, gate=True):
        built.append(World(*classes, gate=gate))
        return built[-1]

    yield build_one
    for world in built:
        world.informers.stop()


def pod(resource, amount=1):
    row = {"name": "c", "resources": {"requests": {"cpu": "1m", resource: str(amount)}}}
    return {"spec": {"containers": [row]}}


@pytest.mark.parametrize(
    ("resource", "amount", "size", "gate", "expected"),
    [
        pytest.param(PLUGGED, 1, {PLUGGED: "5"}, True, "", id="a device plugin's"),
        pytest.param(BACKED, 1, {}, True, "", id="a class's"),
        pytest.param(BACKED, 1, {}, False, f"! Insufficient {BACKED}", id="a class's, the gate is off"),
        pytest.param(UNKNOWN, 1, {}, True, f"! Insufficient {UNKNOWN}", id="no class's"),
        pytest.param(BACKED, 1, {BACKED: "0"}, True, "", id="a device plugin's that left none"),
        pytest.param(BACKED, 5, {BACKED: "2"}, True, f"! Insufficient {BACKED}", id="a class's, but the node has some"),
        pytest.param(IMPLICIT, 1, {}, True, "", id="a class's by its own name"),
    ],
)
def test_where_a_node_has_none(build, resource, amount, size, gate, expected):
    plugin = build(CLASS, gate=gate).plugin
    nodes = table({"name": "n", **size})

    assert verdicts(plugin, pod_info(pod(resource, amount), nodes), nodes) == [expected]


def test_a_class_that_comes_later_is_seen_and_wakes_pods(build):
    world = build()
    nodes = table({"name": "n"})
    algorithm = Algorithm([("NodeResourcesFit", world.plugin)], [], random.Random(1))
    refused = algorithm.schedule(pod_info(pod(BACKED), nodes), nodes).node

    world.client.create(DEVICE_CLASSES, CLASS)
    eventually(lambda: world.woken)

    assert refused is None
    assert algorithm.schedule(pod_info(pod(BACKED), nodes), nodes).node == "n"
    assert set(world.woken) == {"deviceclasses"}
