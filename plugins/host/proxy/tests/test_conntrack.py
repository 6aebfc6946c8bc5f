"""Which tracked connections of UDP are stale, and the kernel's settings."""

import os
import socket

import pytest
from hyperkube_host.proxy.conntrack.cleanup import stale_entries
from hyperkube_host.proxy.conntrack.netlink import ConntrackTable, Entry
from hyperkube_host.proxy.conntrack.sysctls import ConntrackOptions, set_up

from hyperkube.hookspecs.proxier import Endpoint, ServicePort, ServicePortName


def port(*endpoints, protocol="UDP", **fields):
    name = ServicePortName("default", "dns", "dns")
    return ServicePort(name=name, protocol=protocol, cluster_ip="10.96.0.9", port=53, endpoints=endpoints, **fields)


def entry(destination, number, reply, reply_port=5353):
    return Entry(destination, number, reply, reply_port, b"")


SERVES = Endpoint("10.0.0.1", 5353)


@pytest.mark.parametrize(
    ("seen", "is_stale"),
    [
        pytest.param(entry("10.96.0.9", 53, "10.0.0.1"), False, id="an-endpoint"),
        pytest.param(entry("10.96.0.9", 53, "10.0.0.2"), True, id="no-endpoint"),
        pytest.param(entry("10.96.0.9", 53, "10.0.0.1", 53), True, id="another-target-port"),
        pytest.param(entry("10.96.0.9", 54, "10.0.0.2"), False, id="another-port"),
        pytest.param(entry("192.0.2.1", 53, "10.0.0.2"), True, id="external-ip"),
        pytest.param(entry("192.168.0.1", 30053, "10.0.0.2"), True, id="node-port"),
        pytest.param(entry("8.8.8.8", 53, "8.8.8.8", 53), False, id="nothing-of-ours"),
    ],
)
def test_entries_that_lead_to_no_endpoint_are_stale(seen, is_stale):
    service = port(SERVES, node_port=30053, external_ips=("192.0.2.1",))

    assert stale_entries([seen], [service]) == ([seen] if is_stale else [])


def test_without_endpoints_and_with_tcp_connections_stay():
    seen = entry("10.96.0.9", 53, "10.0.0.2")
    not_serving = SERVES._replace(ready=False, serving=False)

    assert stale_entries([seen], [port(not_serving)]) == []
    assert stale_entries([seen], [port(SERVES, protocol="TCP")]) == []


def test_the_limits_follow_the_cores_and_zero_leaves_the_kernels():
    made = {}
    options = ConntrackOptions(
        max_per_core=1000, minimum=1500, tcp_established_seconds=86400.0, tcp_close_wait_seconds=0.0,
        tcp_be_liberal=True, udp_seconds=0.0, udp_stream_seconds=30.0,
    )  # fmt: skip

    set_up(options, lambda name, value: made.update({name.rpartition("conntrack_")[2]: value}) or True)

    assert options.most_connections(1) == 1500
    assert options.most_connections(4) == 4000
    assert made == {
        "max": options.most_connections(os.cpu_count()),
        "tcp_timeout_established": 86400,
        "tcp_be_liberal": 1,
        "udp_timeout_stream": 30,
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees tracked connections")
def test_the_kernels_table_can_be_read():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12):
        assert isinstance(ConntrackTable().udp_entries("IPv4"), list)
