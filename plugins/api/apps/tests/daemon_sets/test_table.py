"""The table rows of DaemonSets."""

from datetime import UTC, datetime

from hyperkube_api.apps.daemon_sets.table import daemon_set_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2025-12-30T09:00:00Z"}
TEMPLATE = {
    "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}], "nodeSelector": {"k": "v"}}
}
SELECTOR = {"matchLabels": {"b": "2", "a": "1"}}
WIDE = ["c,d", "i,j"]


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
