"""The table rows of PriorityLevelConfigurations."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.flowcontrol.priority_levels.table import priority_level_configuration_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
QUEUES = {"queues": 9, "handSize": 8, "queueLengthLimit": 7}


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0}}, ["Exempt", *["<none>"] * 4]),
        (
            {"type": "Limited", "limited": {"nominalConcurrencyShares": 47, "limitResponse": {"type": "Reject"}}},
            ["Limited", 47, *["<none>"] * 3],
        ),
        (
            {"type": "Limited", "limited": {"nominalConcurrencyShares": 0, "limitResponse": {"queuing": QUEUES}}},
            ["Limited", 0, 9, 8, 7],
        ),
    ],
    ids=["exempt", "rejecting", "queueing"],
)
def test_a_priority_level_row(spec, shown):
    assert priority_level_configuration_cells({"metadata": META, "spec": spec}, NOW) == ["a", *shown, "5m"]
