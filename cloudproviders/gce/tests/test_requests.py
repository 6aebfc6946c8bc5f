"""What Google is asked for each shape of Service: a table, beside which Kubernetes' provider can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyperkube_testing.beside import module_beside
from hyperkube_testing.rest_cloud import common_shapes, conversation, read_table, shape

google = module_beside(__file__, "google")

TABLE = Path(__file__).with_name("requests.txt")
INTERNAL = {"networking.gke.io/load-balancer-type": "Internal"}
PREFIX = f"/compute/v1/projects/{google.PROJECT}/"


def shapes():
    """Return the Services: those that any cloud meets, and those with words that Google's provider reads."""
    local = {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
    own = [
        shape("internal", annotations=INTERNAL),
        shape("internal-old-words", annotations={"cloud.google.com/load-balancer-type": "internal"}),
        shape("internal-class", loadBalancerClass="networking.gke.io/l4-regional-internal-legacy"),
        shape(
            "external-class", annotations=INTERNAL, loadBalancerClass="networking.gke.io/l4-regional-external-legacy"
        ),
        shape("internal-udp", (53, "UDP"), annotations=INTERNAL),
        shape("internal-local", annotations=INTERNAL, **local),
        shape("internal-six-ports", *((port, "TCP") for port in range(81, 87)), annotations=INTERNAL),
        shape(
            "internal-global",
            annotations=INTERNAL | {"networking.gke.io/internal-load-balancer-allow-global-access": "true"},
        ),
        shape("internal-subnet", annotations=INTERNAL | {"networking.gke.io/internal-load-balancer-subnet": "inner"}),
        shape("internal-shared", annotations=INTERNAL | {"alpha.cloud.google.com/load-balancer-backend-share": "true"}),
        shape("internal-address", annotations=INTERNAL, loadBalancerIP="10.128.0.77"),
        shape("internal-sticky", annotations=INTERNAL, sessionAffinity="ClientIP"),
        shape("standard-tier", annotations={"cloud.google.com/network-tier": "Standard"}),
        shape("unknown-tier", annotations={"cloud.google.com/network-tier": "Gold"}),
        shape("backend-services", annotations={"cloud.google.com/l4-rbs": "enabled"}),
        shape("reserved-address", loadBalancerIP="203.0.113.99"),
    ]
    return {**common_shapes(), **{each["metadata"]["name"]: each for each in own}}


def told(wanted, folder):
    """Return what the provider asks for one Service, in a cluster of two zones."""
    double = google.Google()
    double.subnet("inner", "10.9.0.0/24")
    double.things[f"regions/{google.REGION}/addresses/mine"] = {
        "name": "mine",
        "address": "203.0.113.99",
        "networkTier": "PREMIUM",
    }
    nodes = [double.machine("node-1"), double.machine("node-2", google.ZONES[1])]
    balancers = google.provider(google.built(double, folder)).load_balancers
    asked = conversation(double, balancers, wanted, nodes)
    return (
        asked.replace(f"{google.HOST}/projects/{google.PROJECT}/", "@")
        .replace(PREFIX, "")
        .replace(google.CLUSTER_ID, "ID")
    )


@pytest.mark.parametrize("name", shapes())
def test_it_asks_what_the_table_says(name, tmp_path):
    assert told(shapes()[name], tmp_path) == read_table(TABLE.read_text())[name]


def test_the_table_has_every_shape():
    assert list(read_table(TABLE.read_text())) == list(shapes())
    assert len(shapes()) >= 30
