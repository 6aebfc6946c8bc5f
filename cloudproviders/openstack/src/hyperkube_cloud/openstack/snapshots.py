"""Cinder's snapshots: taken of a volume, in use or not, once for a name; looked at, deleted.

Source: cloud-provider-openstack ``pkg/csi/cinder/openstack/openstack_snapshots.go``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from hyperkube_cloud.openstack.apis import CINDER, Apis
from hyperkube_cloud.openstack.names import NamedThings
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import CloudFailed, DiskSnapshot, SnapshotNotFound

GIB: Final = 2**30
_FAILED: Final = frozenset({"error", "error_deleting"})
_TAKEN: Final = frozenset({"available", "in-use"})


def snapshots_by_name(apis: Apis) -> NamedThings:
    """Return the snapshots by their names; the one that counts is the oldest: nothing is restored from others yet."""
    return NamedThings(
        apis,
        "snapshots",
        counts=lambda row: row.get("status") not in _FAILED and row.get("status") != "deleting",
        is_free=lambda _: True,
        settled=lambda ident: apis.wait(CINDER, f"snapshots/{ident}", "snapshot", "status", _TAKEN),
    )


class CinderSnapshots:
    """Snapshots; with `_volume` of the disks implements `hyperkube.hookspecs.cloud.SnapshotsDisks`."""

    _apis: Apis
    _snapshots: NamedThings

    def _volume(self, disk_id: str) -> Json:
        raise NotImplementedError

    def create_snapshot(self, name: str, disk_id: str) -> DiskSnapshot:
        """Begin a snapshot, or return the one of that name."""
        held = self._snapshots.find(name)
        if held is None:
            self._volume(disk_id)
            body = {"name": name, "volume_id": disk_id, "force": True}
            made = self._apis.call(CINDER, "POST", "snapshots", {"snapshot": body})["snapshot"]
            held = self._snapshots.kept(name, made)
        return _snapshot(held)

    def snapshot(self, snapshot_id: str) -> DiskSnapshot:
        """Return a snapshot.

        Raises:
            SnapshotNotFound: there is none.
            CloudFailed: it could not be taken.
        """
        held = self._apis.find(CINDER, f"snapshots/{snapshot_id}", "snapshot") if snapshot_id else None
        if held is None:
            raise SnapshotNotFound(f"snapshot {snapshot_id!r} not found")
        return _snapshot(held)

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Delete a snapshot; no error if it is gone."""
        self._apis.delete(CINDER, f"snapshots/{snapshot_id}")


def _snapshot(held: Json) -> DiskSnapshot:
    if held.get("status") in _FAILED:
        raise CloudFailed(f"snapshot {held['id']!r} is in state {held['status']}")
    return DiskSnapshot(
        id=str(held["id"]),
        disk=str(held["volume_id"]),
        size=int(held["size"]) * GIB,
        created=datetime.fromisoformat(str(held["created_at"])).replace(tzinfo=UTC).timestamp(),
        ready=held.get("status") == "available",
    )
