"""The table rows of DeviceClasses and ResourceClaimTemplates."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.resource.device_classes import device_class_cells
from hyperkube_api.resource.resource_claim_templates import resource_claim_template_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T12:00:00Z"}


@pytest.mark.parametrize("cells", [device_class_cells, resource_claim_template_cells])
def test_a_row_without_more_to_say_shows_the_age(cells):
    assert cells({"metadata": META}, NOW) == ["a", "0s"]
