"""What OpenStack is asked for each shape of Service: a table, beside which Kubernetes' provider can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyperkube_testing.beside import module_beside
from hyperkube_testing.rest_cloud import common_shapes, conversation, read_table, shape

stack = module_beside(__file__, "stack")

TABLE = Path(__file__).with_name("requests.txt")
PREFIX = "loadbalancer.openstack.org/"
INTERNAL = {"service.beta.kubernetes.io/openstack-internal-load-balancer": "true"}
CLASS = """
[LoadBalancerClass "dmz"]
floating-network-id = outer
floating-subnet = public-*
"""


def shapes():
    """Return the Services: those that any cloud meets, and those with words that OpenStack's provider reads."""

    def asking(name, *ports, also=None, spec=None, **words):
        annotations = {PREFIX + key.replace("_", "-"): value for key, value in words.items()}
        return shape(name, *ports, annotations=annotations | (also or {}), **(spec or {}))

    local = {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
    own = [
        asking("internal", also=INTERNAL),
        asking("internal-address", also=INTERNAL, spec={"loadBalancerIP": "10.0.9.77"}),
        asking("monitored", enable_health_monitor="true"),
        asking("monitored-udp", (53, "UDP"), enable_health_monitor="true"),
        asking("monitored-local", spec=local, enable_health_monitor="true", health_monitor_delay="7"),
        asking("forwarded-for", x_forwarded_for="true"),
        asking("proxy-protocol", proxy_protocol="true"),
        asking("both-ways-to-tell", proxy_protocol="true", x_forwarded_for="true"),
        asking("tls", (443, "TCP"), default_tls_container_ref="https://barbican.example/v1/containers/c-1"),
        asking("limits", connection_limit="100", timeout_client_data="7000", timeout_tcp_inspect="5"),
        asking("class", **{"class": "dmz"}),
        asking("no-such-class", **{"class": "none"}),
        asking("floating-subnet", floating_network_id="outer", floating_subnet_id="s-public-2"),
        asking("own-network", network_id="n-7"),
        asking("own-subnet-and-flavor", subnet_id="s-7", flavor_id="f-1", availability_zone="az1"),
        asking("own-port", port_id="p-7"),
    ]
    return {**common_shapes(), **{each["metadata"]["name"]: each for each in own}}


def told(wanted, folder):
    """Return what the provider asks for one Service with two nodes."""
    double = stack.Stack()
    nodes = [double.machine("node-1"), double.machine("node-2")]
    balancers = stack.provider(stack.built(double, folder, CLASS)).load_balancers
    return conversation(double, balancers, wanted, nodes)


@pytest.mark.parametrize("name", shapes())
def test_it_asks_what_the_table_says(name, tmp_path):
    assert told(shapes()[name], tmp_path) == read_table(TABLE.read_text())[name]


def test_the_table_has_every_shape():
    assert list(read_table(TABLE.read_text())) == list(shapes())
    assert len(shapes()) >= 30
