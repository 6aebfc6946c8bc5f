"""The table rows of ResourceSlices."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.resource.resource_slices.table import resource_slice_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T12:00:00Z"}


@pytest.mark.parametrize(("node", "shown"), [(None, ""), ("n", "n")])
def test_a_slice_row_shows_whose_devices_it_lists(node, shown):
    spec = {"nodeName": node, "driver": "d.example.com", "pool": {"name": "p"}}

    assert resource_slice_cells({"metadata": META, "spec": spec}, NOW) == ["a", shown, "d.example.com", "p", "0s"]
