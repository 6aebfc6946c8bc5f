"""The parts of a range of the cluster: which is which, how they are taken and given back, and what is counted.

Source: kubernetes ``pkg/controller/nodeipam/ipam/cidrset/cidr_set_test.go``, ``ipam/range_allocator_test.go``.
"""

from ipaddress import ip_network

import pytest
from hyperkube_controller.nodeipam import CidrMetrics, CidrSet, Nodeipam

from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.controller_rig import ControllerRig


def parts(cluster, mask, metrics=None):
    return CidrSet(ip_network(cluster, strict=False), mask, metrics)


def network(text):
    return ip_network(text, strict=False)


@pytest.mark.parametrize("cluster", ["127.123.234.0/30", "beef:1234::/30"])
def test_one_part(cluster):
    one = parts(cluster, 30)
    given = one.allocate_next()
    assert given == network(cluster)
    assert one.allocate_next() is None

    one.release(given)

    assert one.allocate_next() == network(cluster)
    assert one.allocate_next() is None


@pytest.mark.parametrize(
    ("cluster", "mask", "index", "expected"),
    [
        ("127.123.3.0/16", 24, 0, "127.123.0.0/24"),
        ("127.123.0.0/16", 24, 15, "127.123.15.0/24"),
        ("192.168.5.219/28", 32, 5, "192.168.5.213/32"),
        ("2001:0db8:1234:3::/48", 64, 0, "2001:db8:1234::/64"),
        ("2001:0db8:1234::/48", 64, 15, "2001:db8:1234:f::/64"),
        ("2001:0db8:85a3::8a2e:0370:7334/50", 63, 6425, "2001:db8:85a3:3232::/63"),
        ("2001:0db8::/32", 48, 0, "2001:db8::/48"),
        ("2001:0db8::/32", 48, 15, "2001:db8:f::/48"),
        ("2001:0db8:85a3::8a2e:0370:7334/32", 48, 6425, "2001:db8:1919::/48"),
        ("2001:0db8:1234:ff00::/56", 72, 0, "2001:db8:1234:ff00::/72"),
        ("2001:0db8:1234:ff00::/56", 72, 15, "2001:db8:1234:ff00:f00::/72"),
        ("2001:0db8:1234:ff00::0370:7334/56", 72, 6425, "2001:db8:1234:ff19:1900::/72"),
        ("2001:0db8:1234:0:1234::/80", 96, 0, "2001:db8:1234:0:1234::/96"),
        ("2001:0db8:1234:0:1234::/80", 96, 15, "2001:db8:1234:0:1234:f::/96"),
        ("2001:0db8:1234:ff00::0370:7334/80", 96, 6425, "2001:db8:1234:ff00:0:1919::/96"),
        ("127.0.0.0/8", 16, 123, "127.123.0.0/16"),
        ("be00::/8", 16, 0xEF, "beef::/16"),
        ("127.0.0.0/8", 16, 168, "127.168.0.0/16"),
        ("be00::/8", 16, 0x68, "be68::/16"),
        ("127.0.0.0/8", 16, 224, "127.224.0.0/16"),
        ("be00::/8", 16, 0x24, "be24::/16"),
        ("192.168.0.0/16", 24, 12, "192.168.12.0/24"),
        ("beef::/16", 24, 0x12, "beef:1200::/24"),
        ("192.168.0.0/16", 24, 151, "192.168.151.0/24"),
        ("beef::/16", 24, 0x97, "beef:9700::/24"),
    ],
)
def test_an_index_and_its_part(cluster, mask, index, expected):
    every = parts(cluster, mask)

    part = every._part(index)

    assert str(part) == expected
    assert list(every._parts(part)) == [index]


@pytest.mark.parametrize(
    ("cluster", "other"), [("192.168.0.0/16", "127.168.224.0/24"), ("beef::/16", "2001:db00::/24")]
)
def test_a_range_outside(cluster, other):
    assert not parts(cluster, 24)._parts(network(other))


@pytest.mark.parametrize("cluster", ["127.123.234.0/16", "beef:1234::/16"])
def test_all_are_given_again_in_the_same_turn(cluster):
    every = parts(cluster, 24)
    first = [every.allocate_next() for _ in range(256)]
    assert every.allocate_next() is None
    for each in first:
        every.release(each)

    assert [every.allocate_next() for _ in range(256)] == first
    assert every.allocate_next() is None

    for each in first:
        every.release(each)
    for each in [*first[128:], first[128]]:
        every.occupy(each)
    assert [every.allocate_next() for _ in range(128)] == first[:128]
    assert every.allocate_next() is None


def test_what_is_taken_twice_counts_once():
    every = parts("10.42.0.0/16", 24)
    for do, text, taken in (
        (every.occupy, "10.42.5.0/24", 1),
        (every.occupy, "10.42.9.0/24", 2),
        (every.occupy, "10.42.8.0/22", 5),
        (every.occupy, "10.42.9.0/24", 5),
        (every.release, "10.42.9.0/24", 4),
        (every.release, "10.42.9.0/24", 4),
        (every.release, "10.42.4.0/22", 3),
    ):
        do(network(text))
        assert len(every._taken) == taken, text

    assert None not in [every.allocate_next() for _ in range(253)]
    assert every.allocate_next() is None


@pytest.mark.parametrize(
    ("cluster", "mask", "occupied", "first", "last"),
    [
        ("127.0.0.0/8", 16, "127.0.0.0/8", 0, 255),
        ("2001:beef:1200::/40", 48, "2001:beef:1200::/40", 0, 255),
        ("127.0.0.0/8", 16, "127.0.0.0/2", 0, 255),
        ("2001:beef:1200::/40", 48, "2001:beef:1234::/34", 0, 255),
        ("127.0.0.0/8", 16, "127.0.0.0/16", 0, 0),
        ("2001:beef:1200::/40", 48, "2001:beef:1200::/48", 0, 0),
        ("127.0.0.0/8", 32, "127.0.0.0/16", 0, 65535),
        ("2001:beef:1200::/48", 64, "2001:beef:1200::/48", 0, 65535),
        ("127.0.0.0/7", 16, "127.0.0.0/15", 256, 257),
        ("2001:beef:7f00::/39", 48, "2001:beef:7f00::/47", 256, 257),
        ("127.0.0.0/7", 15, "127.0.0.0/15", 128, 128),
        ("2001:beef:7f00::/39", 47, "2001:beef:7f00::/47", 128, 128),
        ("127.0.0.0/7", 18, "127.0.0.0/15", 1024, 1031),
        ("2001:beef:7f00::/39", 50, "2001:beef:7f00::/47", 1024, 1031),
    ],
)
def test_occupied_parts(cluster, mask, occupied, first, last):
    every = parts(cluster, mask)

    every.occupy(network(occupied))

    assert every._taken == set(range(first, last + 1))


def test_counts():
    metrics = CidrMetrics()
    every = parts("10.0.0.0/16", 24, metrics)
    label = ("10.0.0.0/16",)

    def counted():
        usage, taken = metrics.usage.rows.get(label), metrics.allocations.rows.get(label)
        return usage, taken, metrics.releases.rows.get(label, 0), metrics.tries.cumulated(label)[1]

    for number in range(1, 257):
        every.allocate_next()
        assert counted() == (number / 256, number, 0, 0)
    every.release(every.cluster)
    assert counted() == (0, 256, 256, 0)
    every.occupy(every.cluster)
    assert counted() == (1, 512, 256, 0)
    assert metrics.most.rows == {label: 256}


def test_tries_are_counted():
    metrics = CidrMetrics()
    every = parts("10.0.0.0/16", 24, metrics)
    every.occupy(network("10.0.0.0/17"))

    every.allocate_next()

    label = ("10.0.0.0/16",)
    assert metrics.usage.rows == {label: 129 / 256}
    assert metrics.tries.cumulated(label)[1] == 128


def test_two_ranges_are_counted_apart():
    metrics = CidrMetrics()
    both = [parts("10.0.0.0/16", 24, metrics), parts("2001:db8::/48", 64, metrics)]
    for each in both:
        each.occupy(each.cluster)

    assert metrics.allocations.rows == {("10.0.0.0/16",): 256, ("2001:db8::/48",): 65536}
    assert set(metrics.usage.rows.values()) == {1}

    for each in both:
        each.release(each.cluster)
    assert metrics.releases.rows == {("10.0.0.0/16",): 256, ("2001:db8::/48",): 65536}
    assert set(metrics.usage.rows.values()) == {0}


def given(node=None, **options):
    """Return the ranges that a node without any gets."""
    rig = ControllerRig(Nodeipam, settings={"allocate_node_cidrs": True, **options})
    for number, ranges in enumerate(node or []):
        rig.client.seed(NODES, {"kind": "Node", "metadata": {"name": f"has{number}"}, "spec": {"podCIDRs": ranges}})
    rig.client.seed(NODES, {"kind": "Node", "metadata": {"name": "new"}, "spec": {}})
    rig.settle()
    return rig.client.get(NODES, "new")["spec"].get("podCIDRs")


SMALL = {"cluster_cidr": "127.123.234.0/24", "node_cidr_mask_size": 30}
SERVICES = {**SMALL, "service_cluster_ip_range": "127.123.234.0/26"}


@pytest.mark.parametrize(
    ("options", "nodes", "expected"),
    [
        (SMALL, [], ["127.123.234.0/30"]),
        (SERVICES, [], ["127.123.234.64/30"]),
        (SERVICES, [[f"127.123.234.{last}/30"] for last in (64, 68, 72, 80)], ["127.123.234.76/30"]),
        (
            {"cluster_cidr": "10.10.0.0/22", "node_cidr_mask_size": 24},
            [["10.10.0.0/24"], ["10.10.2.0/24"]],
            ["10.10.1.0/24"],
        ),
        (
            {"cluster_cidr": "127.123.234.0/28", "node_cidr_mask_size": 30},
            [[f"127.123.234.{last}/30"] for last in (0, 4, 8, 12)],
            None,
        ),
        (
            {
                "cluster_cidr": "127.0.0.0/8,ace:cab:deca::/84",
                "node_cidr_mask_size_ipv4": 24,
                "node_cidr_mask_size_ipv6": 98,
                "service_cluster_ip_range": "127.123.234.0/26",
            },
            [],
            ["127.0.0.0/24", "ace:cab:deca::/98"],
        ),
        (
            {
                "cluster_cidr": "ace:cab:deca::/84,127.0.0.0/8",
                "node_cidr_mask_size_ipv4": 24,
                "node_cidr_mask_size_ipv6": 98,
            },
            [],
            ["ace:cab:deca::/98", "127.0.0.0/24"],
        ),
        ({"cluster_cidr": "127.0.0.0/8", "node_cidr_mask_size": 32}, [["127.0.0.0/32"]], ["127.0.0.1/32"]),
        (
            {"cluster_cidr": "2001:beef:1234:369b::/60", "node_cidr_mask_size": 64},
            [["2001:beef:1234:3690::/64"]],
            ["2001:beef:1234:3691::/64"],
        ),
    ],
    ids=["first", "services", "taken", "not-twice", "full", "two-4-6", "two-6-4", "many-ipv4", "few-ipv6"],
)
def test_a_new_node(options, nodes, expected):
    assert given(nodes, **options) == expected


def test_too_many_parts_of_ipv6():
    with pytest.raises(UsageError, match="too many parts"):
        given(cluster_cidr="beef:1234::/32", node_cidr_mask_size=49)
