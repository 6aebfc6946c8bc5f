"""The table rows of ResourceClaims."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.resource.resource_claims.table import resource_claim_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("going", "status", "shown"),
    [
        (False, {}, "pending"),
        (True, {}, "deleted"),
        (False, {"allocation": {}}, "allocated"),
        (False, {"allocation": {}, "reservedFor": [{}]}, "allocated,reserved"),
        (True, {"allocation": {}, "reservedFor": [{}]}, "deleted,allocated,reserved"),
    ],
)
def test_a_claim_row_shows_how_far_it_is(going, status, shown):
    meta = {**META, "deletionTimestamp": "2026-01-01T12:00:00Z"} if going else META

    assert resource_claim_cells({"metadata": meta, "status": status}, NOW) == ["a", shown, "0s"]
