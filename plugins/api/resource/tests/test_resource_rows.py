"""The rows of devices and claims of them in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.resource.device_classes import device_class_cells
from hyperkube_api.resource.resource_claim_templates import resource_claim_template_cells
from hyperkube_api.resource.resource_claims.table import resource_claim_cells
from hyperkube_api.resource.resource_slices.table import resource_slice_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T12:00:00Z"}


@pytest.mark.parametrize("cells", [device_class_cells, resource_claim_template_cells])
def test_a_row_without_more_to_say_shows_the_age(cells):
    assert cells({"metadata": META}, NOW) == ["a", "0s"]


@pytest.mark.parametrize(
    ("going", "status", "shown"),
    [
        (False, {}, "pending"),
        (True, {}, "deleted"),
        (False, {"allocation": {}}, "allocated"),
        (False, {"allocation": {}, "reservedFor": [{}]}, "allocated,reserved"),
        (True, {"allocation": {}, "reservedFor": [{}]}, "deleted,allocated,reserved"),
    ],
)
def test_a_claim_row_shows_how_far_it_is(going, status, shown):
    meta = {**META, "deletionTimestamp": "2026-01-01T12:00:00Z"} if going else META

    assert resource_claim_cells({"metadata": meta, "status": status}, NOW) == ["a", shown, "0s"]


@pytest.mark.parametrize(("node", "shown"), [(None, ""), ("n", "n")])
def test_a_slice_row_shows_whose_devices_it_lists(node, shown):
    spec = {"nodeName": node, "driver": "d.example.com", "pool": {"name": "p"}}

    assert resource_slice_cells({"metadata": META, "spec": spec}, NOW) == ["a", shown, "d.example.com", "p", "0s"]
