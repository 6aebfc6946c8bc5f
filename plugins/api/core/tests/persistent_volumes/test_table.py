"""The table of persistent volumes."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.persistent_volumes.table import persistent_volume_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
GOING = {**META, "deletionTimestamp": "2026-01-01T12:00:00Z"}
CLASS = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}


@pytest.mark.parametrize(
    ("meta", "spec", "status", "shown"),
    [
        (META, {}, {"phase": "Pending"}, ["0", "", "", "Pending", "", "", "<unset>", "", "5m", "<unset>"]),
        (
            {**GOING, **CLASS},
            {
                "capacity": {"storage": "4Gi"},
                "accessModes": ["ReadWriteOncePod", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Delete",
                "claimRef": {"namespace": "n", "name": "c"},
                "storageClassName": "new",
                "volumeAttributesClassName": "",
                "volumeMode": "Block",
            },
            {"phase": "Bound", "reason": "Because"},
            ["4Gi", "RWO,ROX,RWX,RWOP", "Delete", "Terminating", "n/c", "old", "", "Because", "5m", "Block"],
        ),
    ],
    ids=["least", "rich"],
)
def test_a_volume_row(meta, spec, status, shown):
    assert persistent_volume_cells({"metadata": meta, "spec": spec, "status": status}, NOW) == ["a", *shown]
