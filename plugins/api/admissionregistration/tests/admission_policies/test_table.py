"""The table rows of admission policies."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.admissionregistration.admission_policies.table import (
    mutating_admission_policy_cells,
    validating_admission_policy_cells,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize(
    ("cells", "member"),
    [(validating_admission_policy_cells, "validations"), (mutating_admission_policy_cells, "mutations")],
    ids=["validating", "mutating"],
)
@pytest.mark.parametrize(
    ("kind", "shown"),
    [(None, "<unset>"), ({"apiVersion": "example.com/v1", "kind": "K"}, "example.com/v1/K")],
    ids=["alone", "with-parameters"],
)
def test_a_policy_row_counts_its_rules(cells, member, kind, shown):
    assert cells({"metadata": META, "spec": {member: [{}], "paramKind": kind}}, NOW) == ["a", 1, shown, "5m"]
