"""Local traffic and node port addresses."""

import pytest
from hyperkube_lib.proxy_rules.interface_addresses import interface_addresses
from hyperkube_lib.proxy_rules.local_detector import LocalDetectorSettings, local_detector
from hyperkube_lib.proxy_rules.node_port_addresses import node_port_addresses

from hyperkube.hookspecs.proxier import ProxyNode
from hyperkube.machinery.errors import UsageError

NODE = ProxyNode("here", "a", ("192.0.2.7", "2001:db8::7"), ("10.1.0.0/24", "fd01::/64"))


@pytest.mark.parametrize(
    ("settings", "family", "iptables", "nft"),
    [
        ({"cluster_cidr": ("10.0.0.0/8", "fd00::/8")}, "IPv4", "! -s 10.0.0.0/8", "ip saddr != 10.0.0.0/8"),
        ({"cluster_cidr": ("10.0.0.0/8", "fd00::/8")}, "IPv6", "! -s fd00::/8", "ip6 saddr != fd00::/8"),
        ({"detect_local_mode": "NodeCIDR"}, "IPv6", "! -s fd01::/64", "ip6 saddr != fd01::/64"),
        (
            {"detect_local_mode": "BridgeInterface", "pod_bridge_interface": "cni0"},
            "IPv4", "! -i cni0", 'iifname != "cni0"',
        ),
        (
            {"detect_local_mode": "InterfaceNamePrefix", "pod_interface_name_prefix": "veth"},
            "IPv4", "! -i veth+", 'iifname != "veth*"',
        ),
    ],
)  # fmt: skip
def test_local_traffic_is_told_by_range_or_interface(settings, family, iptables, nft):
    detector = local_detector(LocalDetectorSettings(**settings), NODE, family)

    assert detector
    assert (detector.iptables(local=False), detector.nft(local=False)) == (iptables, nft)
    assert detector.iptables(local=True) == iptables.removeprefix("! ")


def test_without_a_range_local_traffic_cannot_be_told():
    assert not local_detector(LocalDetectorSettings(), NODE, "IPv4")
    assert not local_detector(LocalDetectorSettings(detect_local_mode="NodeCIDR"), ProxyNode(), "IPv4")


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"detect_local_mode": "Magic"}, "is not one of"), ({"cluster_cidr": ("pods",)}, "'pods' is no range"), ({"detect_local_mode": "BridgeInterface"}, "pod-bridge-interface")],
)  # fmt: skip
def test_a_mode_that_cannot_be_is_refused(settings, why):
    with pytest.raises(UsageError, match=why):
        LocalDetectorSettings(**settings).check()


OWN = ["127.0.0.1", "192.0.2.7", "10.1.0.1", "169.254.20.10", "::1", "2001:db8::7", "fe80::7"]


@pytest.mark.parametrize(
    ("values", "family", "addresses", "match_all", "loopback"),
    [
        ([], "IPv4", ["127.0.0.1", "192.0.2.7", "10.1.0.1", "169.254.20.10"], True, True),
        (["primary"], "IPv4", ["192.0.2.7"], False, False),
        (["primary"], "IPv6", ["2001:db8::7"], False, False),
        (["10.0.0.0/8", "127.0.0.0/8"], "IPv4", ["127.0.0.1", "10.1.0.1"], False, True),
        (["10.0.0.0/8"], "IPv6", ["::1", "2001:db8::7", "fe80::7"], True, False),
        (["169.254.0.0/16"], "IPv4", ["169.254.20.10"], False, False),
        (["fe80::/10"], "IPv6", ["fe80::7"], False, False),
    ],
)
def test_node_ports_are_open_where_the_flag_says(values, family, addresses, match_all, loopback):
    where = node_port_addresses(values, NODE, family)

    assert where.addresses(OWN) == addresses
    assert (where.match_all, where.contains_ipv4_loopback) == (match_all, loopback)


def test_programs_do_not_listen_on_link_local_addresses_of_ipv6(monkeypatch):
    monkeypatch.setattr("hyperkube_lib.proxy_rules.node_port_addresses.interface_addresses", lambda _family: OWN)

    assert node_port_addresses(["fe80::/10", "2001:db8::/32"], NODE, "IPv6").listen_addresses() == ["2001:db8::7"]
    assert node_port_addresses(["169.254.0.0/16"], NODE, "IPv4").listen_addresses() == ["169.254.20.10"]


def test_what_is_no_range_is_refused():
    with pytest.raises(UsageError, match="'eth0' is neither"):
        node_port_addresses(["eth0"], NODE, "IPv4")


def test_the_machine_has_loopback():
    assert "127.0.0.1" in interface_addresses("IPv4")
