"""The kubenet network on a node of its own, with Debian's programs."""

import json
import subprocess

import pytest
from hyperkube_network.kubenet import Kubenet

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.network import NetworkFailed, PodNetworkRequest, PortMapping
from hyperkube.machinery.errors import UsageError


def build(folder, programs, **settings):
    fixed = {"cni_bin_dir": (programs,), "cni_cache_dir": str(folder / "c"), "addresses_dir": str(folder / "a")}
    return Kubenet(PluginContext(name="kubenet", settings={**fixed, **settings})).network_build()


def request(path, number=1, **fields):
    return PodNetworkRequest("ns", f"p{number}", f"u{number}", f"sandbox{number}", path, **fields)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def inside(path, *command):
    return run("nsenter", f"--net={path}", *command)


def test_without_a_range_it_is_not_ready(tmp_path):
    network = build(tmp_path, "/nowhere")

    assert network.status().endswith(
        "network plugin is not ready: Kubenet does not have netConfig. This is most likely due to lack of PodCIDR"
    )
    with pytest.raises(NetworkFailed, match=r'networkPlugin kubenet failed to set up pod "p1_ns" network: Kubenet'):
        network.setup(request("/proc/self/ns/net"))


def test_an_unknown_hairpin_mode_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"--hairpin-mode: unknown value 'both' \(known: promiscuous-bridge, "):
        build(tmp_path, "/nowhere", hairpin_mode="both")


def test_pods_hang_on_the_bridge(tmp_path, debian, namespace):
    network = build(tmp_path, debian, hairpin_mode="hairpin-veth", network_plugin_mtu=1400)
    network.set_pod_cidr("10.77.1.0/24,fd00:77:1::/64")
    network.set_pod_cidr("10.78.1.0/24")
    paths = [namespace(), namespace()]
    ports = (PortMapping(host_port=8080, container_port=80),)

    first = network.setup(request(paths[0], 1, port_mappings=ports))
    second = network.setup(request(paths[1], 2))

    assert (first.ips, second.ips) == (("10.77.1.2", "fd00:77:1::2"), ("10.77.1.3", "fd00:77:1::3"))
    assert network.status() == ""
    assert inside(paths[0], "busybox", "ping", "-c1", "-W5", "10.77.1.3")
    assert "mtu 1400" in inside(paths[0], "ip", "link", "show", "eth0")
    nat = run("iptables-save", "-t", "nat")
    assert (
        '-A POSTROUTING ! -d 10.0.0.0/8 -m comment --comment "kubenet: SNAT for outbound traffic from cluster"'
        " -m addrtype ! --dst-type LOCAL -j MASQUERADE"
    ) in nat
    assert "--dport 8080" in nat
    ports_of_bridge = json.loads(run("bridge", "-j", "-d", "link", "show"))
    assert {port["hairpin"] for port in ports_of_bridge if port["ifname"].startswith("veth")} == {True}

    for number, path in enumerate(paths, 1):
        network.teardown(PodNetworkRequest("", "", "", f"sandbox{number}", path))
    assert "--dport 8080" not in run("iptables-save", "-t", "nat")
    assert "veth" not in run("ip", "-o", "link")
