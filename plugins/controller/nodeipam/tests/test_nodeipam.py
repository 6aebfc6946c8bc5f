"""The nodeipam controller: a range for each node, none twice."""

from ipaddress import ip_network

import pytest
from hyperkube_controller.nodeipam import CidrSet, Nodeipam

from hyperkube.kinds.resources import EVENTS, NODES
from hyperkube.machinery.errors import Conflict, InternalError, UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

OPTIONS = {"allocate_node_cidrs": True, "cluster_cidr": "10.244.0.0/16"}


def node(name, *ranges):
    spec = {"podCIDR": ranges[0], "podCIDRs": list(ranges)} if ranges else {}
    return {"kind": "Node", "metadata": {"name": name}, "spec": spec}


class TestContract(ControllerContract):
    plugin = Nodeipam
    settings = OPTIONS

    def populate(self, rig):
        rig.client.seed(NODES, node("a"), node("b"))


def run(*nodes, **options):
    rig = ControllerRig(Nodeipam, settings={**OPTIONS, **options})
    rig.client.seed(NODES, *nodes)
    rig.settle()
    return rig


def ranges(rig):
    return {each["metadata"]["name"]: each["spec"].get("podCIDRs") for each in rig.client.objects(NODES)}


def test_each_node_gets_its_own():
    rig = run(node("a"), node("b", "10.244.0.0/24"), node("c"))

    assert ranges(rig) == {"a": ["10.244.1.0/24"], "b": ["10.244.0.0/24"], "c": ["10.244.2.0/24"]}


def test_a_range_that_became_free_is_given_again_when_its_turn_comes():
    rig = run(node("a"), cluster_cidr="10.0.0.0/23")

    rig.client.delete(NODES, "a")
    rig.settle()
    given = []
    for name in ("b", "c"):
        rig.client.seed(NODES, node(name))
        rig.settle()
        given += ranges(rig)[name]

    assert given == ["10.0.1.0/24", "10.0.0.0/24"]


def test_addresses_of_services_are_not_given():
    rig = run(node("a"), cluster_cidr="10.0.0.0/16", service_cluster_ip_range="10.0.0.0/22,fd00::/108")

    assert ranges(rig) == {"a": ["10.0.4.0/24"]}


def test_a_write_that_failed_is_repeated_with_the_same_range():
    rig = ControllerRig(Nodeipam, settings=OPTIONS)
    rig.client.fail_next("patch", "nodes", Conflict("modified"))
    rig.client.seed(NODES, node("a"))
    rig.settle()
    rig.advance(1)
    rig.client.seed(NODES, node("b"))
    rig.settle()

    assert ranges(rig) == {"a": ["10.244.0.0/24"], "b": ["10.244.1.0/24"]}


def test_a_node_that_gets_another_range_from_elsewhere_frees_the_one_meant_for_it():
    rig = run(node("a"), cluster_cidr="10.0.0.0/23")

    rig.client.patch(NODES, "a", {"spec": {"podCIDR": "192.0.2.0/24", "podCIDRs": ["192.0.2.0/24"]}})
    rig.settle()
    rig.client.seed(NODES, node("b"), node("c"))
    rig.settle()

    assert sorted(ranges(rig)[name][0] for name in "bc") == ["10.0.0.0/24", "10.0.1.0/24"]


@pytest.mark.parametrize(
    ("cluster", "mask", "occupied", "given"),
    [
        ("127.123.234.0/24", 30, [], ["127.123.234.0/30", "127.123.234.4/30"]),
        ("127.123.234.0/24", 30, ["127.123.234.0/28"], ["127.123.234.16/30", "127.123.234.20/30"]),
        ("10.0.0.0/30", 31, ["10.0.0.0/8"], [None, None]),
        ("10.0.0.0/30", 31, ["10.0.1.0/24", "fd00::/64"], ["10.0.0.0/31", "10.0.0.2/31"]),
        ("beef:1234::/60", 64, ["beef:1234::/64"], ["beef:1234:0:1::/64", "beef:1234:0:2::/64"]),
    ],
    ids=["first", "occupied", "all-occupied", "outside", "ipv6"],
)
def test_parts_are_given_in_turn(cluster, mask, occupied, given):
    parts = CidrSet(ip_network(cluster), mask)
    for each in occupied:
        parts.occupy(ip_network(each))

    found = [parts.allocate_next() for _ in given]

    assert [each and str(each) for each in found] == given


def test_two_families():
    rig = run(node("a"), cluster_cidr="10.0.0.0/16,fd00::/48", node_cidr_mask_size_ipv4=28)

    assert ranges(rig) == {"a": ["10.0.0.0/28", "fd00::/64"]}


def test_when_all_are_taken_it_is_told():
    rig = run(node("a"), node("b"), cluster_cidr="10.0.0.0/24")
    rig.wait_for_events()

    assert sorted(ranges(rig).values(), key=bool) == [None, ["10.0.0.0/24"]]
    assert rig.client.objects(EVENTS)[0]["reason"] == "CIDRNotAvailable"


def test_nothing_is_given_unless_asked():
    assert ranges(run(node("a"), allocate_node_cidrs=False)) == {"a": None}


def test_a_range_that_could_not_be_written_is_told_and_kept_for_the_node():
    rig = ControllerRig(Nodeipam, settings=OPTIONS)
    rig.client.fail_next("patch", "nodes", InternalError("the store is away"))
    rig.client.seed(NODES, node("a"))

    rig.settle()
    rig.wait_for_events()
    (event,) = rig.client.objects(EVENTS)
    assert (event["type"], event["reason"]) == ("Normal", "CIDRAssignmentFailed")
    assert event["message"] == "Node a status is now: CIDRAssignmentFailed"

    rig.clock.advance(60)
    rig.settle()
    assert ranges(rig) == {"a": ["10.244.0.0/24"]}


TWO = "10.0.0.0/16,fd00::/48"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"cluster_cidr": ""}, "--cluster-cidr must be set"),
        ({"cluster_cidr": "10.0.0.0/16,10.1.0.0/16"}, "expected one range, or two of different families"),
        ({"node_cidr_mask_size": 8}, "does not fit into --cluster-cidr"),
        ({"cluster_cidr": "fd00::/32"}, "makes too many parts of --cluster-cidr 'fd00::/32': at most /48"),
        ({"cidr_allocator_type": "IPAMFromHere"}, "invalid CIDR allocator type: 'IPAMFromHere'"),
        ({"cluster_cidr": TWO, "node_cidr_mask_size": 24}, "is not allowed with dual-stack clusters"),
        ({"node_cidr_mask_size": 24, "node_cidr_mask_size_ipv4": 25}, "not allowed if --node-cidr-mask-size is set"),
        ({"node_cidr_mask_size_ipv6": 64}, "ipv6 is not allowed for a single-stack IPv4 cluster"),
        (
            {"cluster_cidr": "fd00::/48", "node_cidr_mask_size_ipv4": 24},
            "ipv4 is not allowed for a single-stack IPv6 cluster",
        ),
    ],
)
def test_options_that_do_not_fit(options, text):
    with pytest.raises(UsageError, match=text):
        run(**options)
