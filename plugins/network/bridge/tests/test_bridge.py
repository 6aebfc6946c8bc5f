"""What the bridge network writes, and which routes it decides on."""

import json

import pytest
from hyperkube_network.bridge import Bridge
from hyperkube_network.bridge.routes import Route, commands, hardware_address, wanted_routes

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.network import ConnectsNamespaces, ForwardsHostPorts, PreparesNode


def node(name, *addresses, cidrs=()):
    entries = [{"type": "InternalIP", "address": address} for address in addresses]
    return {
        "metadata": {"name": name},
        "spec": {"podCIDRs": list(cidrs)} if cidrs else {},
        "status": {"addresses": [*entries, {"type": "Hostname", "address": name}]},
    }


def near(address):
    return address.startswith(("10.0.0.", "fd00::"))


NODES = [
    node("self", "10.0.0.1", cidrs=["10.1.1.0/24"]),
    node("near", "10.0.0.2", "fd00::2", cidrs=["10.1.2.0/24", "fd01:2::/64"]),
    node("far", "10.9.0.3", cidrs=["10.1.3.0/24"]),
    node("mixed", "10.0.0.4", cidrs=["fd01:4::/64"]),
    node("new", "10.0.0.5"),
    node("homeless", cidrs=["10.1.6.0/24"]),
]


def test_each_node_has_its_way():
    assert wanted_routes(NODES, "self", near) == {
        Route("10.1.2.0/24", "10.0.0.2"),
        Route("fd01:2::/64", "fd00::2"),
        Route("10.1.3.0/24", "10.9.0.3", tunnel=True),
        Route("fd01:4::/64", "10.0.0.4", tunnel=True),
    }


def test_a_change_is_made_by_what_differs():
    before = frozenset({Route("10.1.2.0/24", "10.0.0.2"), Route("10.1.3.0/24", "10.9.0.3", tunnel=True)})
    after = frozenset({Route("10.1.2.0/24", "10.0.0.2"), Route("10.1.4.0/24", "10.0.0.4")})

    assert [" ".join(line) for line in commands(before, after)] == [
        "ip route del 10.1.3.0/24 proto 114",
        "ip neigh del 10.1.3.0 lladdr 0a:58:0a:09:00:03 dev hyperkube.vxlan nud permanent",
        "bridge fdb del 0a:58:0a:09:00:03 dev hyperkube.vxlan dst 10.9.0.3 self permanent",
        "ip route replace 10.1.4.0/24 via 10.0.0.4 proto 114",
    ]
    assert commands(after, after) == []


def test_the_tunnel_is_told_where_a_node_is():
    after = frozenset({Route("10.1.3.0/24", "10.9.0.3", tunnel=True)})

    assert [" ".join(line) for line in commands(frozenset(), after)] == [
        "ip neigh replace 10.1.3.0 lladdr 0a:58:0a:09:00:03 dev hyperkube.vxlan nud permanent",
        "bridge fdb replace 0a:58:0a:09:00:03 dev hyperkube.vxlan dst 10.9.0.3 self permanent",
        "ip route replace 10.1.3.0/24 via 10.1.3.0 dev hyperkube.vxlan onlink proto 114",
    ]


@pytest.mark.parametrize(("ip", "mac"), [("10.9.0.3", "0a:58:0a:09:00:03"), ("fd00::1:2", "0a:58:00:01:00:02")])
def test_nodes_know_one_anothers_hardware_address(ip, mac):
    assert hardware_address(ip) == mac


def test_the_configuration_follows_the_ranges(tmp_path, monkeypatch):
    monkeypatch.setattr("hyperkube_network.bridge.bridge_network.ensure_masquerade", lambda _cidr: True)
    settings = {
        "cni_conf_dir": str(tmp_path / "net.d"),
        "cni_cache_dir": str(tmp_path / "c"),
        "network_plugin_mtu": 1400,
    }
    network = Bridge(PluginContext(name="bridge", settings=settings)).network_build()
    file = tmp_path / "net.d" / "10-hyperkube.conflist"

    assert network.status().endswith("cni config uninitialized")
    network.set_pod_cidr("10.1.1.0/24")
    written = file.stat().st_ino
    network.set_pod_cidr("10.1.1.0/24")
    assert file.stat().st_ino == written
    assert network.status() == ""

    network.set_pod_cidr("10.1.1.0/24,fd01:1::/64")
    bridge = json.loads(file.read_text())["plugins"][0]
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.1.1.0/24"}], [{"subnet": "fd01:1::/64"}]]
    assert bridge["mtu"] == 1400
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_it_says_what_it_is(tmp_path):
    network = Bridge(PluginContext(name="bridge", settings={"cni_conf_dir": str(tmp_path)})).network_build()

    assert isinstance(network, PreparesNode | ConnectsNamespaces | ForwardsHostPorts)
    assert network.prepares_node and network.needs_namespaces and network.forwards_host_ports  # noqa: PT018  one fact
