"""The rows of workloads in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.apps import tables

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2025-12-30T09:00:00Z"}
TEMPLATE = {
    "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}], "nodeSelector": {"k": "v"}}
}
SELECTOR = {"matchLabels": {"b": "2", "a": "1"}}
WIDE = ["c,d", "i,j"]


@pytest.mark.parametrize(
    ("selector", "shown"),
    [
        (SELECTOR, "a=1,b=2"),
        ({}, ""),
        (None, ""),
        ({"matchExpressions": [{"key": "a", "operator": "Odd"}]}, "<invalid>"),
    ],
    ids=["labels", "all", "none", "wrong"],
)
def test_a_deployment_row(selector, shown):
    status = {"replicas": 10, "readyReplicas": 3, "updatedReplicas": 2, "availableReplicas": 1}
    obj = {"metadata": META, "spec": {"replicas": 5, "template": TEMPLATE, "selector": selector}, "status": status}

    assert tables.deployment(obj, NOW) == ["a", "3/5", 2, 1, "2d3h", *WIDE, shown]


@pytest.mark.parametrize(
    ("selector", "shown"),
    [(SELECTOR, "a=1,b=2"), ({}, "<none>"), ({"matchExpressions": [{"key": "a", "operator": "Odd"}]}, "<error>")],
    ids=["labels", "all", "wrong"],
)
def test_a_replica_set_row(selector, shown):
    status = {"replicas": 2, "readyReplicas": 1}
    obj = {"metadata": META, "spec": {"replicas": 5, "template": TEMPLATE, "selector": selector}, "status": status}

    assert tables.replica_set(obj, NOW) == ["a", 5, 2, 1, "2d3h", *WIDE, shown]


def test_a_daemon_set_row():
    status = {
        "desiredNumberScheduled": 5,
        "currentNumberScheduled": 4,
        "numberReady": 3,
        "updatedNumberScheduled": 2,
        "numberAvailable": 1,
    }
    obj = {"metadata": META, "spec": {"template": TEMPLATE, "selector": SELECTOR}, "status": status}

    assert tables.daemon_set(obj, NOW) == ["a", 5, 4, 3, 2, 1, "k=v", "2d3h", *WIDE, "a=1,b=2"]


def test_a_daemon_set_row_without_a_node_selector():
    assert tables.daemon_set({"metadata": {"name": "a"}}, NOW)[6:8] == ["<none>", "<unknown>"]


def test_a_stateful_set_row():
    obj = {"metadata": META, "spec": {"replicas": 5, "template": TEMPLATE}, "status": {"readyReplicas": 4}}

    assert tables.stateful_set(obj, NOW) == ["a", "4/5", "2d3h", *WIDE]


@pytest.mark.parametrize(
    ("owners", "shown"),
    [
        ([], "<none>"),
        ([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d"}], "<none>"),
        ([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True}], "daemonset.apps/d"),
        ([{"apiVersion": "v1", "kind": "Odd", "name": "d", "controller": True}], "odd/d"),
    ],
    ids=["nobody", "no-controller", "controller", "core"],
)
def test_a_revision_row_shows_whose_it_is(owners, shown):
    obj = {"metadata": {**META, "ownerReferences": owners}, "revision": 7}

    assert tables.controller_revision(obj, NOW) == ["a", shown, 7, "2d3h"]
