"""Which node answers."""

import pytest
from hyperkube_addon.load_balancer_announcer.speakers import addresses, own_addresses, speaker

NODES = ["n1", "n2", "n3"]
MANY = [f"198.51.100.{number}" for number in range(1, 101)]


def service(*ips, mode="VIP", kind="LoadBalancer", **spec):
    return {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"type": kind, **spec},
        "status": {"loadBalancer": {"ingress": [{"ip": ip, "ipMode": mode} for ip in ips]}},
    }


def test_one_node_answers_for_each_address_and_each_has_some():
    chosen = [speaker(address, NODES) for address in MANY]

    assert set(chosen) == set(NODES)
    assert speaker("198.51.100.1", []) == ""


def test_only_the_addresses_of_a_node_that_goes_move():
    before = {address: speaker(address, NODES) for address in MANY}
    after = {address: speaker(address, ["n1", "n3"]) for address in MANY}

    assert all(after[address] == node for address, node in before.items() if node != "n2")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (service("198.51.100.1", "2001:db8::1"), ["198.51.100.1", "2001:db8::1"]),
        (service("198.51.100.1", mode="Proxy"), []),
        (service("198.51.100.1", kind="ClusterIP"), []),
        (service(), []),
    ],
    ids=["both-families", "a-proxy-answers-itself", "no-balancer-any-more", "not-yet"],
)
def test_addresses_of_a_service(made, expected):
    assert addresses(made) == expected


def test_local_traffic_goes_to_nodes_with_endpoints_only():
    made = service("198.51.100.1", externalTrafficPolicy="Local")
    rows = [{"nodeName": "n1", "conditions": {"ready": False}}, {"nodeName": "n3"}, {"nodeName": "gone"}]
    slices = {"default/web": [{"endpoints": rows}]}

    owners = [node for node in NODES if own_addresses(node, NODES, [made], slices)]

    assert owners == ["n3"]
    assert not any(own_addresses(node, NODES, [made], {}) for node in NODES)
