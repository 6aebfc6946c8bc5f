"""The rows of scheduling in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.scheduling.priority_classes import priority_class_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize(
    ("obj", "shown"),
    [
        ({"value": 1}, [1, False, "5m", ""]),
        ({"value": -5, "globalDefault": True, "preemptionPolicy": "Never"}, [-5, True, "5m", "Never"]),
    ],
    ids=["least", "rich"],
)
def test_a_priority_class_row(obj, shown):
    assert priority_class_cells({"metadata": META, **obj}, NOW) == ["a", *shown]
