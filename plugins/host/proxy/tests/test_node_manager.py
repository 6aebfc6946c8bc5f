"""What the proxy knows of its node."""

import pytest
from hyperkube_host.proxy.node_manager import proxy_node


def node(*addresses, **spec):
    rows = [{"type": kind, "address": address} for kind, address in addresses]
    return {
        "metadata": {"labels": {"topology.kubernetes.io/zone": "a"}},
        "spec": spec,
        "status": {"addresses": rows},
    }


@pytest.mark.parametrize(
    ("addresses", "bind_address", "ips"),
    [
        pytest.param([("InternalIP", "192.0.2.7"), ("InternalIP", "2001:db8::7")], "0.0.0.0", ("192.0.2.7", "2001:db8::7"), id="both"),
        pytest.param([("ExternalIP", "203.0.113.1"), ("InternalIP", "192.0.2.7")], "::", ("192.0.2.7", "::1"), id="internal-first"),
        pytest.param([("InternalIP", "192.0.2.7")], "192.0.2.9", ("192.0.2.9", "::1"), id="bind-address"),
        pytest.param([("Hostname", "here")], "0.0.0.0", ("127.0.0.1", "::1"), id="none"),
    ],
)  # fmt: skip
def test_a_node_has_one_address_per_family(addresses, bind_address, ips):
    assert proxy_node(node(*addresses), "here", bind_address).ips == ips


def test_zone_and_pod_ranges_are_the_nodes():
    found = proxy_node(node(podCIDR="10.1.0.0/24", podCIDRs=["10.1.0.0/24", "fd01::/64"]), "here", "")

    assert (found.name, found.zone, found.pod_cidrs) == ("here", "a", ("10.1.0.0/24", "fd01::/64"))
    assert proxy_node(node(podCIDR="10.1.0.0/24"), "here", "").pod_cidrs == ("10.1.0.0/24",)
    assert proxy_node(None, "here", "").zone == ""
