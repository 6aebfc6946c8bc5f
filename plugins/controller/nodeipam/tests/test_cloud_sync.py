"""IPAMFromCluster and IPAMFromCloud: nodes and machines in step, whichever of the two gives the ranges.

Source: kubernetes 1.30 ``pkg/controller/nodeipam/ipam/sync/sync_test.go``.
"""

import pytest

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceNotFound
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.resources import EVENTS, NODES
from hyperkube.machinery.errors import InternalError, UsageError

CLUSTER, CLOUD = "IPAMFromCluster", "IPAMFromCloud"


def ranges(rig):
    return {each["metadata"]["name"]: each["spec"].get("podCIDR") for each in rig.client.objects(NODES)}


def told(rig):
    rig.wait_for_events()
    return [(event["type"], event["reason"], event["message"]) for event in rig.client.objects(EVENTS)]


def is_available(rig, name):
    found = condition(rig.client.get(NODES, name).get("status") or {}, "NetworkUnavailable")
    return found is not None and (found["status"], found["reason"]) == ("False", "RouteCreated")


@pytest.mark.parametrize("kind", [CLUSTER, CLOUD])
@pytest.mark.parametrize("own", ["", "10.8.1.0/24"], ids=["node without", "node with"])
@pytest.mark.parametrize("alias", ["", "10.8.1.0/24"], ids=["machine without", "machine with"])
def test_one_side_gives_and_the_other_is_told(nimbus, kind, own, alias):
    rig = nimbus(kind, nimbus.machine("a", *([own] if own else [])), given={"a": [alias] if alias else []})

    refusals = {
        (CLUSTER, "", "10.8.1.0/24"): 'Cannot sync from cloud in mode "SyncFromCluster"',
        (CLOUD, "10.8.1.0/24", ""): 'Cannot sync to cloud in mode "SyncFromCloud"',
        (CLOUD, "", ""): 'Cannot allocate CIDRs in mode "SyncFromCloud"',
    }
    refusal = refusals.get((kind, own, alias))
    if refusal:
        assert told(rig) == [("Normal", "CloudCIDRAllocatorInvalidMode", refusal)]
        assert (ranges(rig)["a"] or "", rig.machines.given["a"]) == (own, [alias] if alias else [])
        assert not is_available(rig, "a")
        return
    wanted = own or alias or "10.8.0.0/24"
    assert (ranges(rig)["a"], rig.machines.given["a"]) == (wanted, [wanted])
    assert is_available(rig, "a")
    assert told(rig) == []


@pytest.mark.parametrize("kind", [CLUSTER, CLOUD])
def test_what_differs_is_told_and_left_to_people(nimbus, kind):
    rig = nimbus(kind, nimbus.machine("a", "10.8.1.0/24"), given={"a": ["10.8.2.0/24"]})

    text = "Node.Spec.PodCIDR != cloud alias (10.8.1.0/24 != 10.8.2.0/24)"
    assert told(rig) == [("Normal", "CloudCIDRAllocatorMismatch", text)]
    assert (ranges(rig), rig.machines.given) == ({"a": "10.8.1.0/24"}, {"a": ["10.8.2.0/24"]})


def test_no_range_is_given_twice_and_that_of_a_node_that_is_gone_is_free(nimbus):
    rig = nimbus(CLUSTER, nimbus.machine("a", "10.8.0.0/24"), nimbus.machine("b"), cluster_cidr="10.8.0.0/23")
    assert ranges(rig) == {"a": "10.8.0.0/24", "b": "10.8.1.0/24"}

    rig.client.seed(NODES, nimbus.machine("c"))
    rig.settle()
    assert ranges(rig)["c"] is None
    assert [reason for _, reason, _ in told(rig)] == ["CIDRNotAvailable"]
    rig.client.delete(NODES, "a")
    rig.settle()
    rig.advance(10)

    assert ranges(rig) == {"b": "10.8.1.0/24", "c": "10.8.0.0/24"}


@pytest.mark.parametrize("refusal", [CloudUnavailable("away"), CloudFailed("no"), InstanceNotFound("gone")], ids=repr)
def test_a_cloud_that_refuses_is_asked_again_for_the_same_range(nimbus, refusal):
    rig = nimbus(CLUSTER)
    rig.machines.refusals.append(refusal)
    rig.client.seed(NODES, nimbus.machine("a"))
    rig.informers.refresh()
    rig.controllers[0].drain()
    rig.client.seed(NODES, nimbus.machine("b"))
    rig.settle()
    rig.advance(0.25)

    assert rig.machines.given == {"a": ["10.8.0.0/24"], "b": ["10.8.1.0/24"]}
    assert ranges(rig) == {"a": "10.8.0.0/24", "b": "10.8.1.0/24"}


def test_a_machine_that_was_told_before_its_node_could_be_is_caught_up_with(nimbus):
    rig = nimbus(CLUSTER)
    rig.client.fail_next("patch", "nodes", InternalError("the store is away"))
    rig.client.seed(NODES, nimbus.machine("a"))
    rig.settle()
    rig.advance(1)

    assert (ranges(rig), rig.machines.given) == ({"a": "10.8.0.0/24"}, {"a": ["10.8.0.0/24"]})
    assert is_available(rig, "a")
    assert told(rig) == []


def test_a_node_whose_range_alone_was_written_is_told_that_its_network_is_there(nimbus):
    assert is_available(nimbus(CLUSTER, nimbus.machine("a", "10.8.1.0/24"), given={"a": ["10.8.1.0/24"]}), "a")


def test_a_machine_that_changes_by_itself_is_seen_within_half_a_minute(nimbus):
    rig = nimbus(CLOUD, nimbus.machine("a"), given={"a": ["10.8.1.0/24"]})
    rig.machines.given["a"] = ["10.8.2.0/24"]

    rig.advance(29)
    assert told(rig) == []
    rig.advance(1)
    assert [reason for _, reason, _ in told(rig)] == ["CloudCIDRAllocatorMismatch"]


def test_a_range_outside_the_clusters_is_not_used(nimbus):
    rig = nimbus(CLOUD, nimbus.machine("a"), given={"a": ["192.0.2.0/24"]})

    assert ranges(rig) == {"a": None}


def test_addresses_of_services_are_not_given(nimbus):
    assert ranges(nimbus(CLUSTER, nimbus.machine("a"), service_cluster_ip_range="10.8.0.0/22")) == {"a": "10.8.4.0/24"}


def test_services_that_take_all_are_a_mistake(nimbus):
    with pytest.raises(UsageError, match="failed after occupy serviceCIDR"):
        nimbus(CLUSTER, service_cluster_ip_range="10.0.0.0/8")


def test_a_node_of_which_its_cloud_has_said_nothing_waits(nimbus):
    node = nimbus.machine("a")
    del node["spec"]["providerID"]

    assert ranges(nimbus(CLUSTER, node)) == {"a": None}
