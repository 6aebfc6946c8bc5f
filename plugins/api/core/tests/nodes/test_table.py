"""The table of nodes."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.nodes.table import node_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


def ready(status):
    return {"conditions": [{"type": "MemoryPressure", "status": "True"}, {"type": "Ready", "status": status}]}


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({}, {}, "Unknown"),
        ({}, ready("True"), "Ready"),
        ({}, ready("False"), "NotReady"),
        ({}, ready("Unknown"), "NotReady"),
        ({"unschedulable": True}, {}, "Unknown,SchedulingDisabled"),
        ({"unschedulable": True}, ready("True"), "Ready,SchedulingDisabled"),
        ({"unschedulable": True}, ready("False"), "NotReady,SchedulingDisabled"),
    ],
)
def test_a_node_row_shows_whether_it_may_be_used(spec, status, shown):
    assert node_cells({"metadata": META, "spec": spec, "status": status}, NOW)[1] == shown


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ({}, "<none>"),
        ({"node-role.kubernetes.io/worker": ""}, "worker"),
        ({"kubernetes.io/role": "storage"}, "storage"),
        ({"kubernetes.io/role": "", "node-role.kubernetes.io/": "x"}, "<none>"),
        ({"node-role.kubernetes.io/b": "", "node-role.kubernetes.io/a": "x", "kubernetes.io/role": "b"}, "a,b"),
    ],
)
def test_a_node_row_shows_the_roles(labels, shown):
    assert node_cells({"metadata": {**META, "labels": labels}}, NOW)[2] == shown


def test_a_wide_node_row_shows_what_runs_there():
    info = {
        "kubeletVersion": "v1.36.2",
        "osImage": "Fedora",
        "kernelVersion": "6.0",
        "containerRuntimeVersion": "containerd://2.0",
    }
    addresses = [{"type": "ExternalIP", "address": "1.1.1.1"}, {"type": "InternalIP", "address": "2.2.2.2"}]
    obj = {"metadata": META, "status": {"nodeInfo": info, "addresses": [*addresses, {"type": "InternalIP"}]}}

    assert node_cells(obj, NOW)[3:] == ["5m", "v1.36.2", "2.2.2.2", "1.1.1.1", "Fedora", "6.0", "containerd://2.0"]
    assert node_cells({"metadata": META}, NOW)[4:] == ["", "<none>", "<none>", *["<unknown>"] * 3]


def test_a_wide_node_row_shows_the_architecture_behind_the_kernel():
    info = {"kernelVersion": "6.1", "architecture": "amd64"}

    assert node_cells({"metadata": META, "status": {"nodeInfo": info}}, NOW)[8] == "6.1 (amd64)"


def addresses(*texts):
    return [{"ip": text} for text in texts]
