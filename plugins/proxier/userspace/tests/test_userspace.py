"""The userspace proxier relays, balances, and says what it cannot bind."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack, contextmanager, suppress

import pytest
from hyperkube_proxier.userspace import UserspaceProxier, UserspaceSettings, listeners
from hyperkube_proxier.userspace.balancer import Balancer
from hyperkube_proxier.userspace.listeners import ListenAddress, Listeners
from hyperkube_testing.node_contracts.proxier import ProxierContract

from hyperkube.hookspecs.proxier import Endpoint, ProxyState, ServicePort, ServicePortName, UnservedPort
from hyperkube.testing.waiting import eventually

SETTINGS = UserspaceSettings(nodeport_addresses=("127.0.0.1",), unprivileged_port_offset=0)


@pytest.fixture
def proxier():
    built = UserspaceProxier(SETTINGS, lambda: 0.0)
    yield built
    built.close()


class TestContract(ProxierContract):
    def build(self):
        return UserspaceProxier(SETTINGS, lambda: 0.0)


def test_a_privileged_port_is_reported_with_its_service(proxier, monkeypatch):
    def refuse(address):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("hyperkube_proxier.userspace.listeners._bind", refuse)
    port = ServicePort(
        name=ServicePortName("default", "web", "http"), protocol="TCP", cluster_ip="127.99.0.1", port=80,
        endpoints=(Endpoint("127.0.0.1", 9, True),),
    )  # fmt: skip

    unserved = proxier.sync(ProxyState("IPv4", {port.name: port}))

    text = "cannot listen on TCP 127.99.0.1:80 without privilege (ports below 1024 need it)"
    assert unserved == [UnservedPort(port.name, text)]


def test_udp_answers_come_back_to_the_client(proxier):
    backend = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    backend.bind(("127.0.0.1", 0))

    def echo():
        data, client = backend.recvfrom(100)
        backend.sendto(data.upper(), client)

    threading.Thread(target=echo, daemon=True).start()
    name = ServicePortName("default", "dns", "")
    port = ServicePort(
        name=name, protocol="UDP", cluster_ip="127.98.0.1", port=5353,
        endpoints=(Endpoint(*backend.getsockname(), True),),
    )  # fmt: skip
    assert proxier.sync(ProxyState("IPv4", {name: port})) == []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(5)
        client.sendto(b"hello", ("127.98.0.1", 5353))

        answer = client.recv(100)

    backend.close()
    assert answer == b"HELLO"


def test_a_client_with_affinity_stays_until_it_has_been_silent_for_long():
    now = [0.0]
    balancer = Balancer(lambda: now[0])
    balancer.update([("a", 1), ("b", 1)], 60)

    first = balancer.choose("client")
    now[0] = 60.0
    again = balancer.choose("client")
    now[0] = 121.0
    later = balancer.choose("client")

    assert again == first
    assert later != first


def test_backends_take_turns():
    balancer = Balancer(lambda: 0.0)
    balancer.update([("a", 1), ("b", 1), ("c", 1)], 0)

    chosen = {balancer.choose("client") for _ in range(3)}

    assert chosen == {("a", 1), ("b", 1), ("c", 1)}


@pytest.fixture
def unprivileged(monkeypatch):
    """Let no port below 1024 be bound, also by root."""

    def bind(address):
        if address.port < 1024:
            raise PermissionError(13, "Permission denied")
        return listeners_bind(address)

    listeners_bind = listeners._bind
    monkeypatch.setattr(listeners, "_bind", bind)
    built = UserspaceProxier(SETTINGS.replace(unprivileged_port_offset=10000), lambda: 0.0)
    yield built
    built.close()


def test_a_privileged_port_is_served_at_a_higher_one_and_told_once(unprivileged):
    with socket.create_server(("127.0.0.1", 0)) as backend:
        name = ServicePortName("default", "web", "http")
        port = ServicePort(
            name=name, protocol="TCP", cluster_ip="127.99.0.1", port=81,
            endpoints=(Endpoint(*backend.getsockname(), True),),
        )  # fmt: skip

        first, second = (
            unprivileged.sync(ProxyState("IPv4", {name: port})),
            unprivileged.sync(ProxyState("IPv4", {name: port})),
        )
        with socket.create_connection(("127.99.0.1", 10081), timeout=60) as client:
            connected, _ = backend.accept()
            with connected:
                connected.sendall(b"web")
                answer = client.recv(10)

    text = "cannot listen on TCP 127.99.0.1:81 without privilege (ports below 1024 need it)"
    assert first == [UnservedPort(name, f"{text}: it is served at TCP 127.99.0.1:10081")]
    assert second == []
    assert answer == b"web"


@contextmanager
def held_below_a_free_port():
    """Hold a port that another one follows which nothing takes: the kernel gives those to no connection."""
    with ExitStack() as held:
        for low in range(20000, 30000, 2):
            with suppress(OSError), socket.create_server(("0.0.0.0", low + 1)):
                held.enter_context(socket.create_server(("0.0.0.0", low)))
                break
        yield low


def test_external_addresses_are_listened_for_in_the_range_of_ports():
    with held_below_a_free_port() as low:
        high = low + 1
        built = Listeners(SETTINGS.replace(proxy_port_range=f"{low}-{high}"), [].append, with_portals=True)
        built.start()
        first, second = (ListenAddress("TCP", f"198.51.100.{last}", 80) for last in (7, 8))

        failed = built.converge({first: Balancer(lambda: 0.0), second: Balancer(lambda: 0.0)})
        portals = dict(built.portals)
        built.close()

    assert portals == {first: high}
    assert failed == {second: f"cannot listen on {second}: no port of --proxy-port-range={low}-{high} is free"}


def test_a_client_of_udp_that_was_silent_is_a_new_one():
    name = ServicePortName("default", "dns", "dns")
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as backend,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
    ):
        backend.bind(("127.0.0.1", 0))
        backend.settimeout(5)
        port = ServicePort(
            name=name, protocol="UDP", cluster_ip="127.99.0.1", port=10053,
            endpoints=(Endpoint(*backend.getsockname(), True),),
        )  # fmt: skip
        built = UserspaceProxier(SETTINGS.replace(udp_timeout=0.01), lambda: 0.0)
        built.sync(ProxyState("IPv4", {name: port}))

        def sender():
            client.sendto(b"?", ("127.99.0.1", 10053))
            return backend.recvfrom(10)[1]

        first = sender()
        again = eventually(lambda: sender() != first)
        built.close()

    assert again
