"""The rows of workloads in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.apps.controller_revisions import controller_revision_cells
from hyperkube_api.apps.daemon_sets.table import daemon_set_cells
from hyperkube_api.apps.deployments.table import deployment_cells
from hyperkube_api.apps.replica_sets import replica_set_cells
from hyperkube_api.apps.stateful_sets.table import stateful_set_cells

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

    assert deployment_cells(obj, NOW) == ["a", "3/5", 2, 1, "2d3h", *WIDE, shown]


@pytest.mark.parametrize(
    ("selector", "shown"),
    [(SELECTOR, "a=1,b=2"), ({}, "<none>"), ({"matchExpressions": [{"key": "a", "operator": "Odd"}]}, "<error>")],
    ids=["labels", "all", "wrong"],
)
def test_a_replica_set_row(selector, shown):
    status = {"replicas": 2, "readyReplicas": 1}
    obj = {"metadata": META, "spec": {"replicas": 5, "template": TEMPLATE, "selector": selector}, "status": status}

    assert replica_set_cells(obj, NOW) == ["a", 5, 2, 1, "2d3h", *WIDE, shown]


def test_a_daemon_set_row():
    status = {
        "desiredNumberScheduled": 5,
        "currentNumberScheduled": 4,
        "numberReady": 3,
        "updatedNumberScheduled": 2,
        "numberAvailable": 1,
    }
    obj = {"metadata": META, "spec": {"template": TEMPLATE, "selector": SELECTOR}, "status": status}

    assert daemon_set_cells(obj, NOW) == ["a", 5, 4, 3, 2, 1, "k=v", "2d3h", *WIDE, "a=1,b=2"]


def test_a_daemon_set_row_without_a_node_selector():
    assert daemon_set_cells({"metadata": {"name": "a"}}, NOW)[6:8] == ["<none>", "<unknown>"]


def test_a_stateful_set_row():
    obj = {"metadata": META, "spec": {"replicas": 5, "template": TEMPLATE}, "status": {"readyReplicas": 4}}

    assert stateful_set_cells(obj, NOW) == ["a", "4/5", "2d3h", *WIDE]


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

    assert controller_revision_cells(obj, NOW) == ["a", shown, 7, "2d3h"]
