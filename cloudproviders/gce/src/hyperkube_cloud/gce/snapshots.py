"""Snapshots of persistent disks: taken under their own name, looked at, deleted.

Source: gcp-compute-persistent-disk-csi-driver ``pkg/gce-cloud-provider/compute/gce-compute.go`` (CreateSnapshot,
DeleteSnapshot); https://compute.googleapis.com/discovery/v1/apis/compute/v1/rest (schema Snapshot).
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from hyperkube_cloud.gce.compute import CONFLICT, Compute, name_of_link
from hyperkube_lib.cloud_provider.rest import Json, Refused

from hyperkube.hookspecs.cloud import CloudFailed, DiskSnapshot, SnapshotNotFound

GIB: Final = 2**30


def snapshot_path(snapshot_id: str) -> str:
    """Return the path of a snapshot."""
    return f"global/snapshots/{name_of_link(snapshot_id)}"


class GceSnapshots:
    """Snapshots; with `_located` of the disks implements `hyperkube.hookspecs.cloud.SnapshotsDisks`."""

    _compute: Compute

    def _located(self, disk_id: str, zone: str = "") -> tuple[str, Json]:
        raise NotImplementedError

    def create_snapshot(self, name: str, disk_id: str) -> DiskSnapshot:
        """Take a snapshot, or return the one of that name."""
        held = self._compute.find(snapshot_path(name))
        if held is None:
            path, _ = self._located(disk_id)
            try:
                self._compute.change("POST", f"{path}/createSnapshot", {"name": name})
            except Refused as error:
                if error.status != CONFLICT:
                    raise
            held = self._compute.get(snapshot_path(name))
        return _snapshot(held)

    def snapshot(self, snapshot_id: str) -> DiskSnapshot:
        """Return a snapshot.

        Raises:
            SnapshotNotFound: there is none.
            CloudFailed: it could not be taken.
        """
        held = self._compute.find(snapshot_path(snapshot_id))
        if held is None:
            raise SnapshotNotFound(f"snapshot {snapshot_id!r} not found")
        return _snapshot(held)

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Delete a snapshot; no error if it is gone."""
        self._compute.delete(snapshot_path(snapshot_id))


def _snapshot(held: Json) -> DiskSnapshot:
    if held.get("status") == "FAILED":
        raise CloudFailed(f"snapshot {held['name']!r} failed")
    return DiskSnapshot(
        id=str(held["name"]),
        disk=name_of_link(held.get("sourceDisk")),
        size=int(held["diskSizeGb"]) * GIB,
        created=datetime.fromisoformat(str(held["creationTimestamp"])).timestamp(),
        ready=held.get("status") == "READY",
    )
