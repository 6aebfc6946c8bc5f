"""What Amazon is asked for each shape of Service: a table, beside which Kubernetes' provider can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyperkube_testing.rest_cloud import common_shapes, conversation, read_table, shape

TABLE = Path(__file__).with_name("requests.txt")
PREFIX = "service.beta.kubernetes.io/aws-load-balancer-"


def asked(name, *ports, **annotations):
    """Return a Service with Amazon's annotations."""
    words = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    return shape(name, *ports, annotations=words)


def local(name, **annotations):
    made = asked(name, **annotations)
    made["spec"] |= {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
    return made


def shapes():
    """Return the Services: those that any cloud meets, and those with words that Amazon's provider reads."""
    certificate = {"ssl_cert": "arn:aws:acm:us-east-1:1:certificate/c"}
    own = [
        asked("internal", internal="true"),
        asked("proxy-protocol", proxy_protocol="*"),
        asked("tls", (443, "TCP"), **certificate),
        asked("tls-one-port", (80, "TCP"), (443, "TCP"), ssl_ports="443", backend_protocol="http", **certificate),
        asked("idle", connection_idle_timeout="120", cross_zone_load_balancing_enabled="true"),
        asked("draining", connection_draining_enabled="true", connection_draining_timeout="40"),
        asked("logs", access_log_enabled="true", access_log_s3_bucket_name="logs", access_log_emit_interval="5"),
        asked("tags", additional_resource_tags="team=shop,cost=7"),
        asked("health", healthcheck_interval="20", healthcheck_timeout="3", healthcheck_unhealthy_threshold="4"),
        asked("own-group", security_groups="sg-0123456789abcdef0"),
        asked("network", type="nlb"),
        asked("network-two-ports", (80, "TCP"), (443, "TCP"), type="nlb"),
        asked("network-udp", (53, "UDP"), type="nlb"),
        asked("network-internal", type="nlb", internal="true"),
        local("network-local", type="nlb"),
        asked("network-tls", (443, "TCP"), type="nlb", **certificate),
        asked("of-another-controller", type="external"),
    ]
    return {**common_shapes(), **{each["metadata"]["name"]: each for each in own}}


def told(wanted, cloud, double):
    """Return what the provider asks for one Service, in a cluster of two zones."""
    from aws_wire import without_ids

    nodes = [cloud.machine(0), cloud.machine(1)]
    return without_ids(conversation(double, cloud.provider().load_balancers, wanted, nodes))


@pytest.mark.parametrize("name", shapes())
def test_it_asks_what_the_table_says(name, cloud, double):
    assert told(shapes()[name], cloud, double) == read_table(TABLE.read_text())[name]


def test_the_table_has_every_shape():
    assert list(read_table(TABLE.read_text())) == list(shapes())
    assert len(shapes()) >= 30
