"""The table rows of FlowSchemas."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.flowcontrol.flow_schemas.table import flow_schema_cells, flow_schema_order

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize(
    ("method", "conditions", "shown"),
    [
        (None, [], ["<none>", "5m", "?"]),
        ({"type": "ByUser"}, [{"type": "Dangling", "status": "True"}], ["ByUser", "5m", "True"]),
        ({"type": "ByNamespace"}, [{"type": "Odd", "status": "True"}], ["ByNamespace", "5m", "?"]),
    ],
    ids=["new", "dangling", "other"],
)
def test_a_flow_schema_row(method, conditions, shown):
    spec = {"matchingPrecedence": 100, "priorityLevelConfiguration": {"name": "p"}, "distinguisherMethod": method}
    obj = {"metadata": META, "spec": spec, "status": {"conditions": conditions}}

    assert flow_schema_cells(obj, NOW) == ["a", "p", 100, *shown]


def test_flow_schemas_are_listed_as_they_match():
    rows = [
        {"metadata": {"name": name}, "spec": {"matchingPrecedence": at}} for name, at in (("b", 2), ("a", 2), ("c", 1))
    ]

    assert [row["metadata"]["name"] for row in sorted(rows, key=flow_schema_order)] == ["c", "a", "b"]
