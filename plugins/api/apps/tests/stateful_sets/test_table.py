"""The table rows of StatefulSets."""

from datetime import UTC, datetime

from hyperkube_api.apps.stateful_sets.table import stateful_set_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2025-12-30T09:00:00Z"}
TEMPLATE = {
    "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}], "nodeSelector": {"k": "v"}}
}
WIDE = ["c,d", "i,j"]


def test_a_stateful_set_row():
    obj = {"metadata": META, "spec": {"replicas": 5, "template": TEMPLATE}, "status": {"readyReplicas": 4}}

    assert stateful_set_cells(obj, NOW) == ["a", "4/5", "2d3h", *WIDE]
