"""The table rows of leases."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.coordination.table import lease_cells


@pytest.mark.parametrize(("spec", "shown"), [({}, ""), ({"holderIdentity": None}, ""), ({"holderIdentity": "h"}, "h")])
def test_a_row_shows_the_holder(spec, shown):
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    assert lease_cells({"metadata": {"name": "a"}, "spec": spec}, now) == ["a", shown, "<unknown>"]
