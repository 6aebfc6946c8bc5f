"""What a cluster of 500 nodes at rest asks its cloud: no more often than Kubernetes' controllers do, and in their batches."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest
from hyperkube_controller.cloud_node import CloudNode
from hyperkube_controller.cloud_node_lifecycle import CloudNodeLifecycle
from hyperkube_controller.route import Route as RouteController
from hyperkube_controller.service import Service as ServiceController

from hyperkube.hookspecs.cloud import Cloud, InstanceMetadata, Route
from hyperkube.kinds.resources import NODES, SERVICES
from hyperkube.testing.controller_rig import ControllerRig

COUNT = 500
MINUTES = 10
ROUTES = {"configure_cloud_routes": True, "allocate_node_cidrs": True, "cluster_cidr": "10.64.0.0/10"}


class Counting:
    """A cloud that has all it is asked for, and counts the questions."""

    def __init__(self):
        self.asked = Counter()
        self.instances = SimpleNamespace(metadata=self.metadata, exists=self.exists, is_shut_down=self.exists)
        self.routes = SimpleNamespace(list=self.routes_listed, create=self.changed, delete=self.changed)
        self.balancers = SimpleNamespace(
            get=self.ensured, ensure=self.ensured, update=self.changed, ensure_deleted=self.changed
        )

    def metadata(self, node):
        self.asked["metadata"] += 1
        name = node["metadata"]["name"]
        return InstanceMetadata(
            f"test://{name}", "large", ({"type": "InternalIP", "address": address(name)},), "z1", "r1"
        )

    def exists(self, node):
        self.asked["exists"] += 1
        return True

    def routes_listed(self, cluster):
        self.asked["routes"] += 1
        return [Route(f"r{number}", f"n{number}", block(number)) for number in range(COUNT)]

    def ensured(self, cluster, service, nodes=()):
        self.asked["balancers"] += 1
        return {"ingress": [{"ip": "192.0.2.1"}]}

    def changed(self, *_arguments):
        self.asked["changes"] += 1


def address(name):
    number = int(name[1:])
    return f"10.0.{number // 256}.{number % 256}"


def block(number):
    return f"10.{64 + number // 256}.{number % 256}.0/24"


def service():
    return {
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default", "uid": "u"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 30080}]},
        "status": {"loadBalancer": {}},
    }


def node(number):
    name = f"n{number}"
    conditions = [{"type": "Ready", "status": "True"}, {"type": "NetworkUnavailable", "status": "False"}]
    return {
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "creationTimestamp": "2020-01-01T00:00:00Z", "labels": {}},
        "spec": {"providerID": f"test://{name}", "podCIDR": block(number), "podCIDRs": [block(number)]},
        "status": {"conditions": conditions, "addresses": [{"type": "InternalIP", "address": address(name)}]},
    }


@pytest.fixture
def cloud(monkeypatch):
    cloud = Counting()
    made = Cloud(name="test", instances=cloud.instances, routes=cloud.routes, load_balancers=cloud.balancers)
    host = SimpleNamespace(hook=SimpleNamespace(cloud_provider=lambda: made), close=lambda: None)
    monkeypatch.setattr("hyperkube_lib.cloud_provider.provider.load", lambda *_: host)
    return cloud


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plugin", "settings", "question", "first", "most"),
    [
        pytest.param(CloudNode, {}, "metadata", COUNT, COUNT * MINUTES / 5, id="a node each 5 minutes"),
        pytest.param(CloudNodeLifecycle, {}, "exists", 0, 0, id="no node that is ready"),
        pytest.param(RouteController, ROUTES, "routes", 1, MINUTES * 6, id="all routes in one call each 10 s"),
        pytest.param(ServiceController, {}, "balancers", 1, 0, id="no balancer"),
    ],
)
def test_a_cloud_is_asked_no_more_often_than_by_kubernetes(cloud, plugin, settings, question, first, most):
    """See `--node-status-update-frequency` and `--route-reconciliation-period` for the periods."""
    rig = ControllerRig(plugin, settings={"cloud_provider": "test", **settings})
    rig.clock.sleep = rig.clock.advance  # the circuit lets calls wait for their turn
    rig.client.seed(NODES, *(node(number) for number in range(COUNT)))
    rig.client.seed(SERVICES, service())
    for _ in range(12):  # two minutes: all is known, the balancer is made
        rig.advance(10)
    known = Counter(cloud.asked)
    cloud.asked.clear()

    for _ in range(MINUTES * 6):
        rig.advance(10)

    assert known[question] >= first
    assert cloud.asked[question] <= most
    assert cloud.asked.keys() <= {question}
