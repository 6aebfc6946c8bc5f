"""CloudAllocator: nodes have what the cloud has given to their machines."""

import pytest
from hyperkube_controller.nodeipam import Nodeipam

from hyperkube.hookspecs.cloud import CloudUnavailable, InstanceNotFound
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.resources import EVENTS, NODES
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.controller_rig import ControllerRig

KIND = "CloudAllocator"


def ranges(rig):
    return {each["metadata"]["name"]: each["spec"].get("podCIDRs") for each in rig.client.objects(NODES)}


def test_the_cloud_says_which_ranges_its_machines_have(nimbus):
    three = ["10.8.0.0/24", "fd00::/64", "10.9.0.0/24"]
    nodes = [nimbus.machine("a"), nimbus.machine("b", "10.1.0.0/24")]
    rig = nimbus(KIND, *nodes, given={"a": three, "b": ["10.8.1.0/24"]})

    found = {each["metadata"]["name"]: each for each in rig.client.objects(NODES)}

    assert ranges(rig) == {"a": three[:2], "b": ["10.8.1.0/24"]}
    assert [condition(each["status"], "NetworkUnavailable")["status"] for each in found.values()] == ["False", "False"]
    assert condition(found["a"]["status"], "NetworkUnavailable")["reason"] == "RouteCreated"


@pytest.mark.parametrize("answer", [[], CloudUnavailable("no route"), InstanceNotFound("gone")], ids=repr)
def test_a_machine_without_ranges_is_told_of_and_asked_for_again(nimbus, answer):
    rig = nimbus(KIND, nimbus.machine("a"), given={"a": answer})

    assert ranges(rig) == {"a": None}
    assert [event["reason"] for event in rig.client.objects(EVENTS)] == ["CIDRNotAvailable"]


def test_a_node_of_which_its_cloud_has_said_nothing_waits(nimbus):
    node = nimbus.machine("a")
    del node["spec"]["providerID"]
    rig = nimbus(KIND, node, given={"a": ["10.8.0.0/24"]})

    assert ranges(rig) == {"a": None}
    assert rig.client.objects(EVENTS) == []


@pytest.mark.parametrize("cloud", ["", "external", "fake"])
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (KIND, "CloudAllocator does not support cloud provider '{}'"),
        ("IPAMFromCluster", "cloud IPAM controller does not support '{}' provider"),
        ("IPAMFromCloud", "cloud IPAM controller does not support '{}' provider"),
    ],
)
def test_a_cloud_that_gives_no_ranges_is_refused(kind, text, cloud):
    pytest.importorskip("hyperkube_cloud.fake", reason="gives no ranges")
    options = {"allocate_node_cidrs": True, "cluster_cidr": "10.8.0.0/16", "cidr_allocator_type": kind}
    with pytest.raises(UsageError, match=text.format(cloud)):
        ControllerRig(Nodeipam, settings={**options, "cloud_provider": cloud})
