"""The network of a bridge, its rule of SNAT, and its MTU."""

import pytest
from hyperkube_lib.cni.bridge_network import BridgeNetwork, HairpinMode
from hyperkube_lib.cni.interfaces import least_mtu
from hyperkube_lib.cni.masquerade import ensure_masquerade


@pytest.mark.parametrize(
    ("mode", "veth", "promiscuous"),
    [(HairpinMode.HAIRPIN_VETH, True, False), (HairpinMode.PROMISCUOUS_BRIDGE, False, True), ("none", False, False)],
)
def test_it_has_a_range_per_family(mode, veth, promiscuous):
    network = BridgeNetwork(name="n", bridge="b", cidrs=("10.1.0.0/24", "fd00::/64"), mtu=1400, hairpin=mode).network()

    bridge = network.plugins[0]
    assert [plugin["type"] for plugin in network.plugins] == ["bridge", "portmap", "bandwidth"]
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.1.0.0/24"}], [{"subnet": "fd00::/64"}]]
    assert bridge["ipam"]["routes"] == [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]
    assert (bridge["mtu"], bridge["hairpinMode"], bridge["promiscMode"]) == (1400, veth, promiscuous)


@pytest.mark.parametrize(
    ("cidr", "there", "asked"),
    [
        ("10.0.0.0/8", True, ["iptables -C"]),
        ("10.0.0.0/8", False, ["iptables -C", "iptables -A"]),
        ("fd00::/8", False, ["ip6tables -C", "ip6tables -A"]),
        ("0.0.0.0/0", False, []),
    ],
)
def test_the_rule_is_appended_once(cidr, there, asked):
    lines = []

    def run(line):
        lines.append(f"{line[0]} {line[5]}")
        return there or line[5] == "-A"

    assert ensure_masquerade(cidr, run)
    assert lines == asked


def test_the_least_mtu_is_that_of_interfaces_to_others(tmp_path):
    for name, flags, mtu in (
        ("lo", "0x9", 65536),
        ("eth0", "0x1003", 1500),
        ("wg0", "0x91", 1280),
        ("eth1", "0x1002", 900),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "flags").write_text(flags)
        (folder / "mtu").write_text(str(mtu))

    assert least_mtu(tmp_path) == 1500
    assert least_mtu(tmp_path / "none") == 1460
