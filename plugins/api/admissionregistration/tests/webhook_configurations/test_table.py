"""The table rows of webhook configurations."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.admissionregistration.webhook_configurations.table import (
    mutating_webhook_configuration_cells,
    validating_webhook_configuration_cells,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize("cells", [validating_webhook_configuration_cells, mutating_webhook_configuration_cells])
@pytest.mark.parametrize("count", [0, 2])
def test_a_row_counts_webhooks(cells, count):
    assert cells({"metadata": META, "webhooks": [{}] * count}, NOW) == ["a", count, "5m"]
