"""The route controller: the cloud has the routes that nodes need, and the nodes say so."""

import ipaddress
from types import SimpleNamespace
from typing import ClassVar

import pytest
from hyperkube_controller.route import Route, compare

from hyperkube.hookspecs.cloud import Cloud
from hyperkube.hookspecs.cloud import Route as CloudRoute
from hyperkube.kinds.resources import EVENTS, NODES
from hyperkube.machinery.errors import HyperkubeError, UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

SETTINGS = {"cloud_provider": "test", "allocate_node_cidrs": True, "cluster_cidr": "10.244.0.0/16,fd00::/56"}
RANGES = [ipaddress.ip_network("10.244.0.0/16"), ipaddress.ip_network("fd00::/56")]


class Table:
    """The routes of a cloud, which may be full."""

    def __init__(self):
        self.rows = {}
        self.full = False

    def list(self, cluster):
        return list(self.rows.values())

    def create(self, cluster, route):
        if self.full:
            raise HyperkubeError("RouteLimitExceeded")
        self.rows[route.name] = route

    def delete(self, cluster, route):
        self.rows.pop(route.name)


@pytest.fixture(autouse=True)
def table(monkeypatch):
    found = Table()
    host = SimpleNamespace(hook=SimpleNamespace(cloud_provider=lambda: Cloud(name="test", routes=found)))
    monkeypatch.setattr("hyperkube_lib.cloud_provider.provider.load", lambda *_: host)
    return found


def node(name, *ranges):
    return {
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"podCIDRs": list(ranges)} if ranges else {},
        "status": {},
    }


class TestContract(ControllerContract):
    plugin = Route
    settings: ClassVar = SETTINGS

    def populate(self, rig):
        rig.client.seed(NODES, node("n", "10.244.1.0/24"))


def rig_with(*nodes):
    rig = ControllerRig(Route, settings=SETTINGS)
    rig.client.seed(NODES, *nodes)
    rig.settle()
    return rig


def network(rig, name):
    found = rig.client.get(NODES, name)["status"].get("conditions") or []
    return [(each["status"], each["reason"], each["message"]) for each in found if each["type"] == "NetworkUnavailable"]


def test_each_range_of_a_node_gets_a_route_and_the_node_says_so(table):
    rig = rig_with(node("a", "10.244.1.0/24"), node("b", "10.244.2.0/24", "fd00:0:0:2::/64"), node("c"))

    made = {(route.name, route.target, route.destination) for route in table.rows.values()}
    assert made == {
        ("uid-a", "a", "10.244.1.0/24"),
        ("uid-b-10-244-2-0-24", "b", "10.244.2.0/24"),
        ("uid-b-fd00-0-0-2---64", "b", "fd00:0:0:2::/64"),
    }
    assert network(rig, "a") == [("False", "RouteCreated", "RouteController created a route")]
    assert network(rig, "c") == []


def test_a_route_goes_with_its_node(table):
    rig = rig_with(node("a", "10.244.1.0/24"), node("b", "10.244.2.0/24"))

    rig.client.delete(NODES, "a")
    rig.settle()

    assert [route.target for route in table.rows.values()] == ["b"]


def test_a_full_table_is_told_on_the_node_and_tried_again_after_the_period(table):
    table.full = True
    rig = rig_with(node("a", "10.244.1.0/24"))
    refused = network(rig, "a")
    [event] = rig.client.objects(EVENTS)

    table.full = False
    rig.advance(10)

    assert refused == [("True", "NoRouteCreated", "RouteController failed to create a route")]
    assert event["message"] == "Could not create route uid-a 10.244.1.0/24 for node a: RouteLimitExceeded"
    assert [status for status, _, _ in network(rig, "a")] == ["False"]


@pytest.mark.parametrize(
    ("destination", "goes"),
    [
        ("10.244.9.0/24", True),
        ("10.0.0.0/8", True),
        ("192.168.0.0/24", False),
        ("fd00:0:0:9::/64", True),
        ("pl-1", False),
    ],
    ids=["of the cluster", "around it", "another's", "IPv6", "no range"],
)
def test_only_routes_into_the_clusters_ranges_are_deleted(destination, goes):
    stranger = CloudRoute("r", "gone", destination)

    assert compare([], [stranger], RANGES).superfluous == ((stranger,) if goes else ())


def test_without_the_clusters_range_it_does_not_start():
    with pytest.raises(UsageError, match="--cluster-cidr must be set"):
        ControllerRig(Route, settings={**SETTINGS, "cluster_cidr": ""})


@pytest.mark.parametrize("off", ["allocate_node_cidrs", "configure_cloud_routes"])
def test_it_rests_where_it_is_switched_off(table, off):
    rig = ControllerRig(Route, settings={**SETTINGS, off: False})
    rig.client.seed(NODES, node("a", "10.244.1.0/24"))
    rig.settle()

    assert table.rows == {}
