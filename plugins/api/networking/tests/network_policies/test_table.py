"""The table rows of NetworkPolicies."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.networking.network_policies.table import network_policy_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2016-01-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("selector", "shown"),
    [
        ({}, "<none>"),
        ({"matchLabels": {"foo": "bar"}}, "foo=bar"),
        (
            {"matchExpressions": [{"key": "foo", "operator": "NotIn", "values": ["y", "x"]}]},
            "foo notin (x,y)",
        ),
    ],
)
def test_a_network_policy_row(selector, shown):
    assert network_policy_cells({"metadata": META, "spec": {"podSelector": selector}}, NOW) == ["a", shown, "10y"]
