"""Which of a guest's addresses its node gets."""

import pytest
from hyperkube_cloud.vsphere.addresses import Card, addresses
from hyperkube_cloud.vsphere.config import Nodes

from hyperkube.hookspecs.cloud import CloudFailed

INNER = Card(network="Inner", addresses=("fe80::1%eth0", "127.0.0.1", "10.0.0.5", "fd00::5"))
OUTER = Card(network="Outer", addresses=("203.0.113.5", "2001:db8::5", "nonsense"))
GUESTS_OWN = Card(network="", addresses=("172.17.0.1",), is_virtual=True)
CARDS = [GUESTS_OWN, INNER, OUTER]


@pytest.mark.parametrize(
    ("nodes", "families", "inner", "outer"),
    [
        ({}, ("ipv4",), ["10.0.0.5"], ["10.0.0.5"]),
        ({}, ("ipv6", "ipv4"), ["fd00::5", "10.0.0.5"], ["fd00::5", "10.0.0.5"]),
        ({"internal_network_subnet_cidr": ("203.0.113.0/24",)}, ("ipv4",), ["203.0.113.5"], []),
        ({"internal_network_subnet_cidr": ("192.0.2.0/24", "10.0.0.0/8"), "external_vm_network_name": "outer"}, ("ipv4",),
         ["10.0.0.5"], ["203.0.113.5"]),
        ({"internal_vm_network_name": "INNER", "external_vm_network_name": "outer"}, ("ipv4",), ["10.0.0.5"], ["203.0.113.5"]),
        ({"internal_vm_network_name": "gone", "external_vm_network_name": "outer"}, ("ipv4",), [], ["203.0.113.5"]),
        ({"exclude_internal_network_subnet_cidr": ("10.0.0.0/8",)}, ("ipv4",), ["203.0.113.5"], ["10.0.0.5"]),
        ({"exclude_external_network_subnet_cidr": ("0.0.0.0/0",)}, ("ipv4",), ["10.0.0.5"], []),
    ],
)  # fmt: skip
def test_the_rules_choose(nodes, families, inner, outer):
    rows = addresses(CARDS, Nodes(**nodes), families)

    assert [row["address"] for row in rows if row["type"] == "InternalIP"] == inner
    assert [row["address"] for row in rows if row["type"] == "ExternalIP"] == outer


def test_one_network_may_give_all_addresses():
    rows = addresses(CARDS, Nodes(), ("ipv4",), "Outer")

    assert [(row["type"], row["address"]) for row in rows] == [
        ("ExternalIP", "203.0.113.5"), ("InternalIP", "203.0.113.5"), ("ExternalIP", "2001:db8::5"), ("InternalIP", "2001:db8::5")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cards", "nodes", "families"),
    [
        ([GUESTS_OWN], {}, ("ipv4",)),
        ([INNER], {"internal_vm_network_name": "a", "external_vm_network_name": "b"}, ("ipv4",)),
        ([Card(network="n", addresses=("10.0.0.1",))], {}, ("ipv4", "ipv6")),
    ],
    ids=["no card of the host's", "neither network", "not of both families"],
)
def test_a_machine_whose_addresses_do_not_fit_is_refused(cards, nodes, families):
    with pytest.raises(CloudFailed, match="unable to find suitable IP address for node"):
        addresses(cards, Nodes(**nodes), families)


def test_a_guest_that_tells_nothing_yet_has_no_addresses():
    assert addresses([], Nodes(), ("ipv4",)) == []
