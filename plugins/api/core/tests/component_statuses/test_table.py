"""The table of component statuses."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.component_statuses.table import component_status_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize(
    ("conditions", "shown"),
    [
        (None, ["Unknown", "", ""]),
        ([{"type": "Odd", "status": "True"}], ["Unknown", "", ""]),
        ([{"type": "Healthy", "status": "True", "message": "ok"}], ["Healthy", "ok", ""]),
        ([{"type": "Healthy", "status": "False", "message": "m", "error": "e"}], ["Unhealthy", "m", "e"]),
        ([{"type": "Healthy", "status": "Unknown"}], ["Unhealthy", "", ""]),
    ],
    ids=["none", "other", "healthy", "ill", "unclear"],
)
def test_a_component_row_shows_its_health(conditions, shown):
    assert component_status_cells({"metadata": META, "conditions": conditions}, NOW) == ["a", *shown]
