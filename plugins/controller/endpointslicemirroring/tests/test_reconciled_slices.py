"""How many slices endpoints get and how many writes that takes, case by case.

Source: kubernetes ``pkg/controller/endpointslicemirroring/reconciler_test.go``.
"""

import pytest
from hyperkube_controller.endpointslicemirroring import CONTROLLER, PREFIX, MirroringMetrics, decide, wanted_slices
from prometheus_client import CollectorRegistry

from hyperkube.client.actions import Create, Delete, Emit, Update

HTTP = [{"name": "http", "port": 80, "protocol": "TCP"}]
FIRST = [*HTTP, {"name": "https", "port": 443, "protocol": "UDP"}]
SECOND = [{"name": "http", "port": 3000, "protocol": "TCP"}, {"name": "https", "port": 3001, "protocol": "UDP"}]


def address(ip, number):
    return {"ip": ip, "hostname": f"pod-{number}", "nodeName": f"node-{number}"}


def subset(ports, *ips):
    return {"ports": ports, "addresses": [address(ip, number) for number, ip in enumerate(ips, 1)]}


def shown(ip, number):
    return {
        "addresses": [ip],
        "conditions": {"ready": True},
        "hostname": f"pod-{number}",
        "nodeName": f"node-{number}",
    }


def present(*entries):
    labels = {"kubernetes.io/service-name": "test-ep", "endpointslice.kubernetes.io/managed-by": CONTROLLER}
    meta = {"name": "test-ep-1", "namespace": "test", "uid": "u", "labels": labels}
    return {"kind": "EndpointSlice", "metadata": meta, "addressType": "IPv4", "ports": FIRST, "endpoints": [*entries]}


TWO = [subset(FIRST, "10.0.0.1", "10.0.0.2"), subset(SECOND, "10.0.1.1", "10.0.1.2", "10.0.1.3")]
SOME = [
    {"addresses": ["10.0.0.2"], "hostname": "pod-2"},
    {"addresses": ["10.0.0.1", "10.0.0.3"], "hostname": "pod-1"},
]


@pytest.mark.parametrize(
    ("subsets", "slices", "limit", "counts", "shown_count", "skipped", "changed"),
    [
        ([], [], 1000, (0, 0, 0), 0, 0, (0, 0, 0)),
        ([{"ports": HTTP}], [], 1000, (0, 0, 0), 0, 0, (0, 0, 0)),
        ([subset(HTTP, "10.0.0.1")], [], 1000, (1, 0, 0), 1, 0, (1, 0, 0)),
        ([subset(FIRST, "10.0.0.1", "10.0.0.2")], [], 1000, (1, 0, 0), 2, 0, (2, 0, 0)),
        (TWO, [], 1000, (2, 0, 0), 5, 0, (5, 0, 0)),
        (TWO, [present()], 1000, (1, 1, 0), 5, 0, (5, 0, 0)),
        (TWO, [present(*SOME)], 1000, (1, 1, 0), 5, 0, (4, 1, 1)),
        (TWO, [present(shown("10.0.0.1", 1), shown("10.0.0.2", 2))], 1000, (1, 0, 0), 5, 0, (3, 0, 0)),
        (
            [subset(FIRST, "2001:db8::1", "10.0.0.2"), subset(SECOND, "10.0.1.1", "10.0.1.2", "2001:db8::2")],
            [],
            1000,
            (4, 0, 0),
            5,
            0,
            (5, 0, 0),
        ),
        (
            [subset(FIRST, "2001:db8::1", "2001:db8::2"), subset(SECOND, "2001:db8::3", "2001:db8::4", "2001:db8::5")],
            [],
            1000,
            (2, 0, 0),
            5,
            0,
            (5, 0, 0),
        ),
        (
            [subset(FIRST, "2001:db8::1", "no-ip"), subset(SECOND, "no-ip-either", "2001:db8::4", "2001:db8::5")],
            [],
            1000,
            (2, 0, 0),
            3,
            2,
            (3, 0, 0),
        ),
        ([subset(FIRST, "no1", "no2"), subset(SECOND, "no3", "no4", "no5")], [], 1000, (0, 0, 0), 0, 5, (0, 0, 0)),
        (TWO, [], 2, (2, 0, 0), 4, 1, (4, 0, 0)),
        ([], [present(*SOME)], 1000, (0, 0, 1), 0, 0, (0, 0, 2)),
    ],
    ids=[
        "no-subsets",
        "no-addresses",
        "one",
        "two-ports-two-addresses",
        "two-subsets",
        "an-empty-slice",
        "a-slice-with-some",
        "a-slice-that-fits",
        "two-families",
        "ipv6-only",
        "some-invalid",
        "all-invalid",
        "beyond-the-limit",
        "slices-of-nothing",
    ],
)
def test_reconciled(subsets, slices, limit, counts, shown_count, skipped, changed):
    endpoints = {"kind": "Endpoints", "metadata": {"name": "test-ep", "namespace": "test"}, "subsets": subsets}

    actions = decide(endpoints, slices, limit)

    wanted = wanted_slices(endpoints, limit)
    assert tuple(sum(isinstance(each, kind) for each in actions) for kind in (Create, Update, Delete)) == counts
    assert sum(len(each["endpoints"]) for each in wanted.slices.values()) == shown_count
    assert wanted.skipped == skipped
    assert any(isinstance(each, Emit) for each in actions) == bool(skipped)

    metrics = MirroringMetrics(limit)
    metrics.planned("test/test-ep", slices, actions, wanted)
    metrics.written(actions)
    registry = CollectorRegistry()
    registry.register(metrics)

    def value(name, **labels):
        return registry.get_sample_value(PREFIX + name, labels) or 0

    assert tuple(value(f"endpoints_{what}_per_sync_sum") for what in ("added", "updated", "removed")) == changed
    assert value("addresses_skipped_per_sync_sum") == skipped
    assert value("endpoints_desired") == shown_count
    assert value("num_endpoint_slices") == value("desired_endpoint_slices") == len(wanted.slices)
    assert tuple(value("changes", operation=what) for what in ("create", "update", "delete")) == counts
