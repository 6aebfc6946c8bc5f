"""Snapshots of managed disks, incremental ones: taken once for a name, looked at, deleted.

Source: azuredisk-csi-driver ``pkg/azuredisk/controllerserver.go`` (CreateSnapshot); the published specification of
Microsoft.Compute ``snapshots`` (2023-10-02).
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from hyperkube_cloud.azure.arm import COMPUTE, Arm, properties
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import CloudFailed, DiskSnapshot, SnapshotNotFound

GIB: Final = 2**30
CREATED_BY: Final = "kubernetes-azure-dd"


class AzureSnapshots:
    """Snapshots; with `_needed` of the disks implements `hyperkube.hookspecs.cloud.SnapshotsDisks`."""

    _arm: Arm
    _config: AzureConfig

    def _needed(self, disk_id: str) -> Json:
        raise NotImplementedError

    def create_snapshot(self, name: str, disk_id: str) -> DiskSnapshot:
        """Take a snapshot, or return the one of that name."""
        ident = self._arm.id(COMPUTE, f"snapshots/{name}")
        held = self._arm.find(ident)
        if held is None:
            disk = self._needed(disk_id)
            body: Json = {
                "location": disk.get("location") or self._config.location,
                "tags": {**parsed_tags(self._config.tags), "created-by": CREATED_BY},
                "properties": {
                    "creationData": {"createOption": "Copy", "sourceResourceId": disk["id"]},
                    "incremental": True,
                },
            }
            held = self._arm.put(ident, body)
        return _snapshot(held)

    def snapshot(self, snapshot_id: str) -> DiskSnapshot:
        """Return a snapshot.

        Raises:
            SnapshotNotFound: there is none.
            CloudFailed: it could not be taken.
        """
        held = self._arm.find(snapshot_id) if snapshot_id.startswith("/") else None
        if held is None:
            raise SnapshotNotFound(f"snapshot {snapshot_id!r} not found")
        return _snapshot(held)

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Delete a snapshot; no error if it is gone."""
        if snapshot_id.startswith("/"):
            self._arm.delete(snapshot_id)


def _snapshot(held: Json) -> DiskSnapshot:
    told = properties(held)
    if told.get("provisioningState") == "Failed":
        raise CloudFailed(f"snapshot {held['id']!r} failed")
    return DiskSnapshot(
        id=str(held["id"]),
        disk=str((told.get("creationData") or {}).get("sourceResourceId", "")),
        size=int(told["diskSizeGB"]) * GIB,
        created=datetime.fromisoformat(str(told["timeCreated"])).timestamp(),
        ready=told.get("provisioningState") == "Succeeded" and float(told.get("completionPercent", 100)) >= 100,
    )
