"""From whom a load balancer's addresses take traffic."""

import pytest
from hyperkube_lib.proxy_rules.source_ranges import allowed_sources

from hyperkube.hookspecs.proxier import ProxyNode, ServicePort, ServicePortName

PORT = ServicePort(
    name=ServicePortName("default", "web", "http"),
    protocol="TCP",
    cluster_ip="10.96.0.1",
    port=80,
    load_balancer_ips=("198.51.100.1",),
    source_ranges=("192.168.0.0/16", "203.0.113.0/24"),
)


@pytest.mark.parametrize(
    ("ips", "more"),
    [
        pytest.param(("192.168.77.2", "fd00::2"), ("198.51.100.1",), id="the-node-is-in-a-range"),
        pytest.param(("10.0.0.1",), (), id="the-node-is-outside"),
        pytest.param(("fd00::2",), (), id="no-address-of-the-family"),
        pytest.param((), (), id="not-known-yet"),
    ],
)
def test_the_balancer_itself_is_allowed_where_the_node_is(ips, more):
    assert allowed_sources(PORT, ProxyNode(ips=ips), "IPv4") == (*PORT.source_ranges, *more)
