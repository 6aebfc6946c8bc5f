"""How the API server serves CSIStorageCapacities."""

from datetime import UTC, datetime

from hyperkube_api.storage.csi_storage_capacities import CSIStorageCapacityStrategy, csi_storage_capacity_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'


def test_a_capacity_row_shows_when_it_was_made():
    assert csi_storage_capacity_cells({"metadata": META}, NOW) == ["a", "2026-01-01T11:55:00Z"]


def test_a_capacity_whose_topology_uses_labels_that_will_go():
    topology = {"matchExpressions": [{"key": ZONE}], "matchLabels": {ZONE: "x"}}

    assert CSIStorageCapacityStrategy().warnings(None, {"nodeTopology": topology}, None) == [
        f"nodeTopology.matchExpressions[0].key: {ZONE} is {OLD}",
        f"nodeTopology.matchLabels.{ZONE}: {OLD}",
    ]
