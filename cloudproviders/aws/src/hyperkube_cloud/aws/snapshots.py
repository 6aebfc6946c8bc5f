"""EBS snapshots: taken of a volume once for a name, looked at, deleted.

The tag that a snapshot is found again by is the one of Amazon's own CSI driver.
Source: aws-ebs-csi-driver ``pkg/cloud/cloud.go`` (CreateSnapshot, DeleteSnapshot, GetSnapshotByName),
``pkg/cloud/constants.go``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hyperkube_cloud.aws.calls import Calls, Refused
from hyperkube_cloud.aws.tags import as_list, owned_by

from hyperkube.hookspecs.cloud import CloudFailed, DiskNotFound, DiskSnapshot, SnapshotNotFound

GIB: Final = 2**30
MISSING = frozenset({"InvalidVolume.NotFound", "InvalidVolumeID.Malformed", "InvalidParameterValue"})
"""Codes of a volume that is not there."""
NAME_TAG = "CSIVolumeSnapshotName"
_MISSING_SNAPSHOT = frozenset({"InvalidSnapshot.NotFound", "InvalidSnapshotID.Malformed", "InvalidParameterValue"})
_VOLUME = re.compile(r"vol-[0-9a-f]+")


def volume_id(disk_id: str) -> str:
    """Return the volume of ``aws://ZONE/ID`` or a bare id.

    Raises:
        DiskNotFound: it is the id of something else.
    """
    last = disk_id.rpartition("/")[2]
    if not _VOLUME.fullmatch(last):
        raise DiskNotFound(f"Invalid format for AWS volume ({disk_id})")
    return last


class EbsSnapshots:
    """Snapshots; implements `hyperkube.hookspecs.cloud.SnapshotsDisks`."""

    def __init__(self, calls: Calls, cluster: str) -> None:
        self._calls, self._cluster = calls, cluster

    def create_snapshot(self, name: str, disk_id: str) -> DiskSnapshot:
        """Begin a snapshot, or return the one of that name."""
        for held in self._snapshots(Filters=[{"Name": f"tag:{NAME_TAG}", "Values": [name]}]):
            if held["State"] != "error":
                return _snapshot(held)
        tags = {NAME_TAG: name, "Name": f"{self._cluster}-dynamic-{name}", **owned_by(self._cluster)}
        try:
            made = self._calls.call(
                "ec2",
                "create_snapshot",
                VolumeId=volume_id(disk_id),
                Description="Created by Kubernetes",
                TagSpecifications=[{"ResourceType": "snapshot", "Tags": as_list(tags)}],
            )
        except Refused as error:
            if error.code not in MISSING:
                raise
            raise DiskNotFound(f"volume {disk_id!r} not found") from error
        return _snapshot(made)

    def snapshot(self, snapshot_id: str) -> DiskSnapshot:
        """Return a snapshot.

        Raises:
            SnapshotNotFound: there is none.
            CloudFailed: it could not be taken.
        """
        try:
            found = self._snapshots(SnapshotIds=[snapshot_id])
        except Refused as error:
            if error.code not in _MISSING_SNAPSHOT:
                raise
            found = []
        if not found:
            raise SnapshotNotFound(f"snapshot {snapshot_id!r} not found")
        if found[0]["State"] == "error":
            raise CloudFailed(f"snapshot {snapshot_id!r} failed: {found[0].get('StateMessage', '')}")
        return _snapshot(found[0])

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Delete a snapshot; no error if it is gone."""
        try:
            self._calls.call("ec2", "delete_snapshot", SnapshotId=snapshot_id)
        except Refused as error:
            if error.code not in _MISSING_SNAPSHOT:
                raise

    def _snapshots(self, **arguments: Any) -> list[dict[str, Any]]:
        return list(self._calls.pages("ec2", "describe_snapshots", "Snapshots", OwnerIds=["self"], **arguments))


def _snapshot(held: Mapping[str, Any]) -> DiskSnapshot:
    return DiskSnapshot(
        id=str(held["SnapshotId"]),
        disk=str(held.get("VolumeId", "")),
        size=int(held["VolumeSize"]) * GIB,
        created=held["StartTime"].timestamp(),
        ready=held["State"] == "completed",
    )
