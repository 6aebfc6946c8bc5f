"""The table rows of disruption budgets."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.policy.table import pod_disruption_budget_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({}, ["N/A", "N/A"]),
        ({"minAvailable": 22}, ["22", "N/A"]),
        ({"maxUnavailable": "30%"}, ["N/A", "30%"]),
        ({"maxUnavailable": 0}, ["N/A", "0"]),
    ],
    ids=["nothing", "least", "share", "none"],
)
def test_a_row_shows_the_budget_and_what_is_left(spec, shown):
    obj = {"metadata": {"name": "a"}, "spec": spec, "status": {"disruptionsAllowed": 5}}

    assert pod_disruption_budget_cells(obj, NOW) == ["a", *shown, 5, "<unknown>"]
