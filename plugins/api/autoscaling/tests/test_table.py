"""The table rows of autoscalers."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.autoscaling.table import horizontal_pod_autoscaler_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def metric(kind, name="", **target):
    member = kind[0].lower() + kind[1:]
    return {"type": kind, member: {"name": name, "target": target}}


def measured(kind, **current):
    return {"type": kind, kind[0].lower() + kind[1:]: {"current": current}}


EXTERNAL = metric("External", value="100")
AVERAGE = metric("External", averageValue="100")
PODS = metric("Pods", averageValue="100")
OBJECT = metric("Object", value="100")
CPU = metric("Resource", "cpu", averageUtilization=80)
MEMORY = metric("Resource", "memory", averageValue="100")
CONTAINER = metric("ContainerResource", "cpu", averageUtilization=80)


@pytest.mark.parametrize(
    ("metrics", "current", "shown"),
    [
        ([], [], "<none>"),
        ([EXTERNAL], [], "<unknown>/100"),
        ([EXTERNAL], [measured("External", value="50")], "50/100"),
        ([EXTERNAL], [measured("External", averageValue="50")], "<nil>/100"),
        ([AVERAGE], [], "<unknown>/100 (avg)"),
        ([AVERAGE], [measured("External", averageValue="50")], "50/100 (avg)"),
        ([AVERAGE], [measured("External", value="50")], "<unknown>/100 (avg)"),
        ([PODS], [], "<unknown>/100"),
        ([PODS], [measured("Pods", averageValue="50")], "50/100"),
        ([OBJECT], [], "<unknown>/100"),
        ([OBJECT], [measured("Object", value="50")], "50/100"),
        ([metric("Object", averageValue="100")], [measured("Object", averageValue="50")], "50/100 (avg)"),
        ([MEMORY], [], "memory: <unknown>/100"),
        ([MEMORY], [measured("Resource", averageValue="50")], "memory: 50/100"),
        ([CPU], [], "cpu: <unknown>/80%"),
        ([CPU], [measured("Resource", averageUtilization=50, averageValue="40")], "cpu: 50%/80%"),
        ([CPU], [measured("Resource", averageUtilization=0)], "cpu: 0%/80%"),
        ([metric("Resource", "cpu")], [], "cpu: <unknown>/<auto>"),
        ([metric("ContainerResource", "cpu", averageValue="9")], [measured("ContainerResource", averageValue="5")],
         "cpu: 5/9"),
        ([CONTAINER], [measured("ContainerResource", averageUtilization=50)], "cpu: 50%/80%"),
        ([CONTAINER], [{"type": ""}], "cpu: <unknown>/80%"),
        ([{"type": "Odd"}], [], "<unknown type>"),
        ([PODS, OBJECT], [measured("Pods", averageValue="50")], "50/100, <unknown>/100"),
        ([PODS, OBJECT, CPU, MEMORY], [measured("Pods", averageValue="50")], "50/100, <unknown>/100 + 2 more..."),
    ],
)  # fmt: skip
def test_a_row_shows_what_was_measured(metrics, current, shown):
    obj = {"metadata": {"name": "a"}, "spec": {"metrics": metrics}, "status": {"currentMetrics": current}}

    assert horizontal_pod_autoscaler_cells(obj, NOW)[2] == shown


def test_a_row_shows_the_bounds():
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "minReplicas": 0, "maxReplicas": 9}
    obj = {"metadata": {"name": "a"}, "spec": spec, "status": {"currentReplicas": 4}}

    assert horizontal_pod_autoscaler_cells(obj, NOW) == ["a", "Deployment/d", "<none>", "0", 9, 4, "<unknown>"]
    assert horizontal_pod_autoscaler_cells({"metadata": {"name": "a"}}, NOW)[3] == "<unset>"


def test_a_row_of_the_first_version_shows_the_share_of_the_processor():
    obj = {
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "a"},
        "spec": {"scaleTargetRef": {"kind": "D", "name": "d"}, "maxReplicas": 3, "targetCPUUtilizationPercentage": 80},
        "status": {"currentReplicas": 1, "desiredReplicas": 1, "currentCPUUtilizationPercentage": 50},
    }

    assert horizontal_pod_autoscaler_cells(obj, NOW)[2] == "cpu: 50%/80%"
