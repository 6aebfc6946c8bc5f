"""The table rows of API services."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.apiregistration.table import api_service_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def condition(status, reason=""):
    return [{"type": "Other", "status": "True"}, {"type": "Available", "status": status, "reason": reason}]


@pytest.mark.parametrize(
    ("service", "conditions", "shown"),
    [
        (None, condition("True", "Local"), ["Local", "True"]),
        ({"namespace": "n", "name": "s"}, condition("False", "MissingEndpoints"), ["n/s", "False (MissingEndpoints)"]),
        ({"namespace": "n", "name": "s"}, condition("Unknown"), ["n/s", "Unknown"]),
        ({"namespace": "n", "name": "s"}, [], ["n/s", "Unknown"]),
    ],
    ids=["local", "away", "unexplained", "new"],
)
def test_a_row_shows_who_serves_and_whether_it_answers(service, conditions, shown):
    obj = {"metadata": {"name": "v1.a"}, "spec": {"service": service}, "status": {"conditions": conditions}}

    assert api_service_cells(obj, NOW) == ["v1.a", *shown, "<unknown>"]
