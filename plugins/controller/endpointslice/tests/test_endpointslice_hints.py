"""Hints of endpoint slices: of trafficDistribution, and of topology aware routing."""

import re

import pytest
from hyperkube_controller.endpointslice import Endpointslice
from hyperkube_controller.endpointslice.reconciler import SlicePlan
from hyperkube_controller.endpointslice.topologycache import (
    ABOVE_THRESHOLD,
    Allocation,
    TopologyCache,
    Unallocatable,
    allocations,
    cpu_ratios,
    giving_and_receiving_zones,
    is_overloaded,
)
from hyperkube_controller.endpointslice.trafficdist import reconcile_hints

from hyperkube.kinds.resources import ENDPOINT_SLICES, EVENTS, NODES, PODS, SERVICES
from hyperkube.testing.controller_rig import ControllerRig

ZONES = {"za": 2, "zb": 3, "zc": 1}
AUTO = {"service.kubernetes.io/topology-mode": "Auto"}


def node(name, zone, *, cpu="1", ready="True", **labels):
    labels = labels | ({"topology.kubernetes.io/zone": zone} if zone else {})
    status = {"conditions": [{"type": "Ready", "status": ready}], "allocatable": {"cpu": cpu}}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def pod(number, node_name, *, ready=True):
    ip = f"10.1.0.{number}"
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    meta = {"name": f"p{number}", "namespace": "d", "uid": f"u-{number}", "labels": {"app": "web"}}
    status = {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [condition]}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {"nodeName": node_name}, "status": status}


def service(annotations=None, **spec):
    meta = {"name": "web", "namespace": "d", "uid": "u-web", "annotations": annotations or {}}
    spec = {"selector": {"app": "web"}, "clusterIP": "10.0.0.1", "ports": [{"port": 80}], **spec}
    return {"kind": "Service", "apiVersion": "v1", "metadata": meta, "spec": spec}


def world(of, *pods):
    rig = ControllerRig(Endpointslice)
    rig.client.seed(NODES, *(node(f"n-{zone}", zone) for zone in ("za", "zb", "zc")))
    rig.client.seed(SERVICES, of)
    rig.client.seed(PODS, *pods)
    rig.settle()
    return rig


def hints(rig):
    (slice_,) = rig.client.objects(ENDPOINT_SLICES)
    return {entry["targetRef"]["name"]: entry.get("hints") for entry in slice_["endpoints"]}


def zones(rig):
    return {name: each["forZones"][0]["name"] for name, each in hints(rig).items() if each}


def events(rig):
    rig.plugins[0]._recorder.flush()
    return [(event["type"], event["reason"], event["message"]) for event in rig.client.objects(EVENTS)]


ZONE_A, NODE_A = {"forZones": [{"name": "za"}]}, {"forNodes": [{"name": "n-za"}]}


@pytest.mark.parametrize(
    ("distribution", "hint"),
    [("PreferClose", ZONE_A), ("PreferSameZone", ZONE_A), ("PreferSameNode", ZONE_A | NODE_A), ("other.io/x", None)],
)
def test_ready_endpoints_are_for_where_they_run(distribution, hint):
    rig = world(service(trafficDistribution=distribution), pod(1, "n-za"), pod(2, "n-za", ready=False))

    assert hints(rig) == {"p1": hint, "p2": None}


def test_hints_follow_the_service():
    rig = world(service(trafficDistribution="PreferSameNode"), pod(1, "n-za"))

    seen = []
    for value in ("PreferClose", None):
        rig.client.patch(SERVICES, "web", {"spec": {"trafficDistribution": value}}, "d")
        rig.settle()
        seen.append(hints(rig)["p1"])

    assert seen == [ZONE_A, None]


def test_the_annotation_outweighs_the_field():
    rig = world(service(AUTO, trafficDistribution="PreferClose"), pod(1, "n-za"))

    assert hints(rig) == {"p1": None}


@pytest.mark.parametrize(
    ("entry", "changes"),
    [
        ({"conditions": {"ready": True}, "zone": "za"}, True),
        ({"conditions": {"ready": True}, "zone": "za", "hints": ZONE_A}, False),
        ({"conditions": {"ready": True}, "zone": "zb", "hints": ZONE_A}, True),
        ({"conditions": {"ready": True}, "hints": ZONE_A}, True),
        ({"conditions": {"ready": False}, "zone": "zb", "hints": ZONE_A}, False),
        ({"conditions": {"ready": True}, "zone": "za", "nodeName": "n-za", "hints": ZONE_A | NODE_A}, True),
    ],
    ids=["missing", "right", "other-zone", "zone-unknown", "not-ready", "stale-node"],
)
def test_a_slice_is_written_again_only_for_its_hints_of_ready_endpoints(entry, changes):
    plan = SlicePlan("IPv4", unchanged=[{"endpoints": [entry]}])

    reconcile_hints(plan, "PreferClose")

    assert bool(plan.update) is changes
    assert bool(plan.unchanged) is not changes


def test_auto_spreads_endpoints_by_the_cpu_of_zones():
    rig = world(service(AUTO), *(pod(number, "n-za") for number in range(1, 4)))

    assert sorted(zones(rig).values()) == ["za", "zb", "zc"]
    assert events(rig) == [
        ("Normal", "TopologyAwareHintsEnabled", "Topology Aware Hints has been enabled, addressType: IPv4")
    ]


@pytest.mark.parametrize(
    ("pods", "text"),
    [
        ([pod(1, "n-za")], "Insufficient number of endpoints (1 endpoints, 3 zones), addressType: IPv4"),
        (
            [pod(1, "n-za"), pod(2, "n-none"), pod(3, "n-zc")],
            "One or more endpoints do not have a zone specified, addressType: IPv4",
        ),
    ],
    ids=["few", "no-zone"],
)
def test_auto_says_why_there_are_no_hints(pods, text):
    rig = ControllerRig(Endpointslice)
    rig.client.seed(NODES, *(node(f"n-{zone}", zone) for zone in ("za", "zb", "zc")))
    rig.client.seed(NODES, node("n-none", "", ready="False"))
    rig.client.seed(SERVICES, service(AUTO))
    rig.client.seed(PODS, *pods)

    rig.settle()

    assert zones(rig) == {}
    assert ("Warning", "TopologyAwareHintsDisabled", text) in events(rig)


def test_hints_go_with_the_annotation():
    rig = world(service(AUTO), *(pod(number, f"n-z{zone}") for number, zone in enumerate("abc")))

    rig.client.patch(SERVICES, "web", {"metadata": {"annotations": {next(iter(AUTO)): None}}}, "d")
    rig.settle()

    assert zones(rig) == {}
    text = "Topology Aware Hints has been disabled, addressType: IPv4"
    assert events(rig)[-1] == ("Warning", "TopologyAwareHintsDisabled", text)


def test_a_node_that_goes_takes_hints_with_it():
    rig = world(service(AUTO), *(pod(number, f"n-z{zone}") for number, zone in enumerate("abc")))
    before = zones(rig)

    rig.client.delete(NODES, "n-zb")
    rig.settle()
    rig.client.delete(NODES, "n-zc")
    rig.advance(5)

    assert len(before) == 3
    assert zones(rig) == {}


@pytest.mark.parametrize(
    ("nodes", "ratios"),
    [
        ([node("a", "za", cpu="1"), node("b", "zb", cpu="3")], {"za": 0.25, "zb": 0.75}),
        ([node("a", "za"), node("b", "zb"), node("c", "zc", ready="False")], {"za": 0.5, "zb": 0.5}),
        (
            [node("a", "za"), node("b", "zb"), node("c", "zc", **{"node-role.kubernetes.io/master": ""})],
            {"za": 0.5, "zb": 0.5},
        ),
        ([node("a", "za"), node("b", "")], None),
        ([node("a", "za"), node("b", "zb", cpu="0")], None),
        ([node("a", "za"), node("b", "za")], None),
        ([], None),
    ],
    ids=["shares", "not-ready", "control-plane", "no-zone", "no-cpu", "one-zone", "none"],
)
def test_zones_share_the_cpu_of_ready_nodes(nodes, ratios):
    assert cpu_ratios(nodes) == ratios


@pytest.mark.parametrize(
    ("count", "ratios", "bounds"),
    [
        (100, {"za": 0.4, "zb": 0.3, "zc": 0.3}, {"za": (34, 50), "zb": (25, 41), "zc": (25, 41)}),
        (50, {"za": 0.4, "zb": 0.3, "zc": 0.3}, {"za": (17, 24), "zb": (13, 20), "zc": (13, 20)}),
        (10, {"za": 0.5, "zb": 0.3, "zc": 0.2}, {"za": (5, 5), "zb": (3, 3), "zc": (2, 2)}),
    ],
)
def test_zones_have_a_least_and_a_most(count, ratios, bounds):
    found = allocations(ratios, count)

    assert {zone: (each.minimum, each.maximum) for zone, each in found.items()} == bounds


@pytest.mark.parametrize(
    ("count", "ratios", "text"),
    [
        (4, None, "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"),
        (2, {"za": 0.4, "zb": 0.3, "zc": 0.3}, "Insufficient number of endpoints (2 endpoints, 3 zones)"),
        (
            5,
            {"za": 0.4, "zb": 0.3, "zc": 0.3},
            f"{ABOVE_THRESHOLD} (5 endpoints, 3 zones)",
        ),
    ],
    ids=["nodes", "endpoints", "threshold"],
)
def test_what_cannot_be_spread_is_said(count, ratios, text):
    with pytest.raises(Unallocatable, match=f"^{re.escape(text)}$"):
        allocations(ratios, count)


@pytest.mark.parametrize(
    ("desired", "has", "giving", "receiving"),
    [
        ({}, {}, {}, {}),
        ({"za": 5, "zb": 5}, {"za": 5, "zb": 5}, {}, {}),
        ({"za": 5.5, "zb": 4.5}, {"za": 5, "zb": 5}, {}, {}),
        ({"za": 6, "zb": 4}, {"za": 5, "zb": 5}, {"zb": 1}, {"za": 1}),
        ({"za": 6.3, "zb": 4.1, "zc": 4.6}, {"za": 10, "zb": 0, "zc": 5}, {"za": 4}, {"zb": 4}),
    ],
    ids=["empty", "even", "less-than-one", "one", "several"],
)
def test_zones_give_what_others_lack(desired, has, giving, receiving):
    wanted = {zone: Allocation(0, 100, float(share)) for zone, share in desired.items()}

    assert giving_and_receiving_zones(wanted, has) == (giving, receiving)


@pytest.mark.parametrize(
    ("by_zone", "ratios", "overloaded"),
    [
        ({}, {}, False),
        ({"za": 5}, {}, True),
        ({"za": 10, "zb": 11}, {"za": 0.5, "zb": 0.5}, False),
        ({"za": 8, "zb": 11}, {"za": 0.5, "zb": 0.5}, False),
        ({"za": 7, "zb": 12}, {"za": 0.5, "zb": 0.5}, True),
        ({"za": 10}, {"za": 0.5, "zb": 0.5}, True),
    ],
)
def test_a_zone_short_of_endpoints_overloads_its_service(by_zone, ratios, overloaded):
    assert is_overloaded(by_zone, ratios) is overloaded


def test_services_with_a_zone_that_became_short_are_told():
    cache = TopologyCache()
    cache.set_nodes([node("a", "za"), node("b", "zb")])
    entries = [{"conditions": {"ready": True}, "zone": zone} for zone in ("za", "zb")]
    cache.add_hints("d/web", service(AUTO), SlicePlan("IPv4", create=[{"endpoints": entries}]))

    assert cache.set_nodes([node("a", "za"), node("b", "zb")]) == []
    assert cache.set_nodes([node("a", "za"), node("b", "zb"), node("c", "zc")]) == ["d/web"]
