"""The table of claims to persistent volumes."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.persistent_volume_claims.table import persistent_volume_claim_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
GOING = {**META, "deletionTimestamp": "2026-01-01T12:00:00Z"}
CLASS = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}


@pytest.mark.parametrize(
    ("meta", "spec", "status", "shown"),
    [
        (META, {}, {"phase": "Pending"}, ["Pending", "", "", "", "", "<unset>", "5m", "<unset>"]),
        (
            META,
            {"volumeName": "v", "storageClassName": "new", "volumeMode": "Filesystem"},
            {"phase": "Lost"},
            ["Lost", "v", "0", "", "new", "<unset>", "5m", "Filesystem"],
        ),
        (
            {**GOING, **CLASS},
            {"volumeName": "v", "volumeAttributesClassName": "fast"},
            {"phase": "Bound", "accessModes": ["ReadOnlyMany"], "capacity": {"storage": "4Gi"}},
            ["Terminating", "v", "4Gi", "ROX", "old", "fast", "5m", "<unset>"],
        ),
    ],
    ids=["least", "lost", "rich"],
)
def test_a_claim_row(meta, spec, status, shown):
    assert persistent_volume_claim_cells({"metadata": meta, "spec": spec, "status": status}, NOW) == ["a", *shown]
