"""The table rows of CSINodes."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.storage.csi_nodes import csi_node_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize("drivers", [None, [{}, {}]])
def test_a_node_row_counts_drivers(drivers):
    assert csi_node_cells({"metadata": META, "spec": {"drivers": drivers}}, NOW) == ["a", len(drivers or ()), "5m"]
