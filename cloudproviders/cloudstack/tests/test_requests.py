"""What CloudStack is asked for each shape of Service: a table, beside which its own controller can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyperkube_testing.beside import module_beside
from hyperkube_testing.rest_cloud import common_shapes, conversation, read_table, shape

stack = module_beside(__file__, "stack")
TABLE = Path(__file__).with_name("requests.txt")
PREFIX = "service.beta.kubernetes.io/cloudstack-load-balancer-"
TIER = "-on-a-tier"
SOURCES = ["192.0.2.0/24"]


def shapes():
    """Return the Services: those that any cloud meets, those with words that CloudStack's provider reads, and of both
    some whose nodes are on a VPC's tier."""

    def asking(name, *ports, spec=None, **words):
        annotations = {PREFIX + key.replace("_", "-"): value for key, value in words.items()}
        return shape(name, *ports, annotations=annotations, **(spec or {}))

    own = [
        asking("address", spec={"loadBalancerIP": "203.0.113.53"}),
        asking("proxy-protocol", proxy_protocol="true"),
        asking("proxy-protocol-udp", (53, "UDP"), proxy_protocol="true"),
        asking("proxy-protocol-off", proxy_protocol="false"),
        asking("hostname", hostname="lb.example.com"),
        asking("source-cidrs", source_cidrs="10.0.0.0/8, 192.168.1.0/24"),
        asking("source-cidrs-empty", source_cidrs=""),
        asking("source-cidrs-broken", source_cidrs="10.0.0.0/8,all"),
        asking("stickiness", stickiness_method_name="SourceBased"),
        asking(f"one-port{TIER}"),
        asking(f"udp{TIER}", (53, "UDP")),
        asking(f"two-ports{TIER}", (80, "TCP"), (443, "TCP")),
        asking(f"sources{TIER}", spec={"loadBalancerSourceRanges": SOURCES}),
        asking(f"proxy-protocol{TIER}", proxy_protocol="true"),
    ]
    return {**common_shapes(), **{each["metadata"]["name"]: each for each in own}}


def told(wanted, folder):
    """Return what the provider asks for one Service with two nodes."""
    double = stack.Stack()
    network = "n-2" if wanted["metadata"]["name"].endswith(TIER) else "n-1"
    nodes = [double.machine("node-1", network), double.machine("node-2", network)]
    balancers = stack.provider(stack.built(double, folder)).load_balancers
    return conversation(double, balancers, wanted, nodes)


@pytest.mark.parametrize("name", shapes())
def test_it_asks_what_the_table_says(name, tmp_path):
    assert told(shapes()[name], tmp_path) == read_table(TABLE.read_text())[name]


def test_the_table_has_every_shape():
    assert list(read_table(TABLE.read_text())) == list(shapes())
    assert len(shapes()) >= 30
