"""The table rows of Deployments."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.apps.deployments.table import deployment_cells

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
