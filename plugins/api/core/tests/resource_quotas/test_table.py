"""The table of resource quotas."""

from datetime import UTC, datetime

from hyperkube_api.core.resource_quotas.table import resource_quota_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


def test_a_quota_row_shows_limits_apart():
    hard = {"limits.cpu": "2", "cpu": "1", "requests.storage": "10Gi", "limitsfoo": "3", "count/limits": "4"}
    obj = {"metadata": META, "status": {"hard": hard, "used": {"cpu": "500m", "limits.cpu": "1"}}}

    assert resource_quota_cells(obj, NOW) == [
        "a",
        "count/limits: 0/4, cpu: 500m/1, limitsfoo: 0/3, requests.storage: 0/10Gi",
        "limits.cpu: 1/2",
        "5m",
    ]
