"""The table rows of Roles."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.rbac.roles import cluster_role_cells, role_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T12:00:01Z"}


@pytest.mark.parametrize("cells", [role_cells, cluster_role_cells])
def test_a_role_row_shows_when_it_was_made(cells):
    assert cells({"metadata": META}, NOW) == ["a", "2026-01-01T12:00:01Z"]
