"""Cluster IPs that are no addresses of the machine: root makes them so while they are served, others are told."""

from __future__ import annotations

import errno
import socket

import pytest
from hyperkube_proxier.userspace import UserspaceProxier, UserspaceSettings
from hyperkube_proxier.userspace.node_addresses import LABEL, NodeAddresses, remove_all
from hyperkube_testing.node_contracts.proxier import answering, read

from hyperkube.hookspecs.proxier import Endpoint, ProxyState, ServicePort, ServicePortName, UnservedPort

IP = "198.51.100.77"
"""Of the range for documentation (RFC 5737)."""
PORT = ServicePort(
    name=ServicePortName("default", "web", "http"), protocol="TCP", cluster_ip=IP, port=8080,
    endpoints=(Endpoint("127.0.0.1", 9, True),),
)  # fmt: skip


def may_add_addresses():
    """Tell whether this process has the right: root in a container often has not."""
    probe = NodeAddresses()
    try:
        probe.add("198.51.100.78")
    except PermissionError:
        return False
    probe.keep(())
    return True


as_root = pytest.mark.skipif(not may_add_addresses(), reason="only root may add addresses")


def local(ip):
    """Tell whether an address is one of this machine."""
    with socket.socket(socket.AF_INET6 if ":" in ip else socket.AF_INET) as probe:
        return _binds(probe, ip)


def _binds(probe, ip):
    try:
        probe.bind((ip, 0))
    except OSError:
        return False
    return True


@pytest.fixture
def proxier():
    built = UserspaceProxier(UserspaceSettings(nodeport_addresses=("127.0.0.1",)), lambda: 0.0)
    yield built
    built.cleanup()


@as_root
def test_a_cluster_ip_is_served_and_gone_with_its_service(proxier):
    assert not local(IP)
    with answering(b"hello") as backend:
        port = ServicePort(name=PORT.name, protocol="TCP", cluster_ip=IP, port=8080, endpoints=(backend,))
        assert proxier.sync(ProxyState("IPv4", {port.name: port})) == []
        assert read(IP, 8080) == b"hello"

    proxier.sync(ProxyState("IPv4", {}))

    assert not local(IP)


@as_root
def test_the_end_of_the_proxier_takes_them_away(proxier):
    proxier.sync(ProxyState("IPv4", {PORT.name: PORT}))
    assert local(IP)

    proxier.close()

    assert not local(IP)


@as_root
@pytest.mark.parametrize("ip", [IP, "2001:db8::77"])
def test_an_address_that_was_there_before_stays(ip):
    if ":" in ip and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    before = NodeAddresses()
    before.add(ip)
    again = NodeAddresses()
    again.add(ip)

    again.keep(())
    there = local(ip)
    before.keep(())

    assert there
    assert not local(ip)


@as_root
def test_clean_up_finds_what_a_killed_proxy_left():
    NodeAddresses().add(IP)
    assert len(LABEL) < 16

    remove_all()

    assert not local(IP)


def test_without_the_right_the_service_is_told_what_would_help(proxier, monkeypatch):
    def refuse(self, ip):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(NodeAddresses, "add", refuse)

    (unserved,) = proxier.sync(ProxyState("IPv4", {PORT.name: PORT}))

    assert unserved == UnservedPort(
        PORT.name,
        f"cannot listen on TCP {IP}:8080: the address is not one of this machine (kube-proxy adds it when it runs as"
        " root; an ordinary user needs a --service-cluster-ip-range within 127.0.0.0/8)",
    )
