"""Cinder's volumes: made, attached, grown, and where they are.

Source: kubernetes legacy-cloud-providers ``openstack/openstack_volumes.go``, ``pkg/volume/cinder/cinder_util.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hyperkube_cloud.openstack.apis import CINDER, NOVA, Apis
from hyperkube_cloud.openstack.instances import OpenStackInstances, sanitized
from hyperkube_cloud.openstack.names import NamedThings
from hyperkube_cloud.openstack.snapshots import GIB, CinderSnapshots, snapshots_by_name
from hyperkube_lib.cloud_provider.nodes import REGION, ZONE
from hyperkube_lib.cloud_provider.rest import Json, Missing, Refused

from hyperkube.hookspecs.cloud import (
    CloudFailed,
    Disk,
    DiskAttachedElsewhere,
    DiskNotFound,
    DiskRequest,
    InstanceNotFound,
)
from hyperkube.machinery.objects import NodeName, Object

DEVICE: Final = "/dev/disk/by-id/virtio-"
_SHOWN: Final = 20
"""Characters of a volume's id that a virtio disk's serial number has room for."""
_SETTLED: Final = frozenset({"available", "in-use"})


def options(request: DiskRequest) -> dict[str, str]:
    """Return the members of a new volume that a StorageClass's parameters make.

    Raises:
        CloudFailed: a parameter that is unknown.
    """
    made = {"availability_zone": request.zone} if request.zone else {}
    for key, value in request.parameters.items():
        match key:
            case "type":
                made["volume_type"] = value
            case "availability":
                made["availability_zone"] = value
            case "fstype":
                pass  # the provisioner's own
            case _:
                raise CloudFailed(f"invalid option {key!r} for volume plugin kubernetes.io/cinder")
    return made


class OpenStackDisks(CinderSnapshots):
    """Volumes; implements `hyperkube.hookspecs.cloud.Disks`, `Volumes` and `SnapshotsDisks` there."""

    def __init__(self, apis: Apis, instances: OpenStackInstances, cluster: str, region: str) -> None:
        self._apis, self._instances = apis, instances
        self._cluster, self._region = cluster, region
        self._named = NamedThings(apis, "volumes", counts=_alive, is_free=_is_free, settled=self._settled)
        self._snapshots = snapshots_by_name(apis)

    def create(self, request: DiskRequest) -> Disk:
        """Make a volume, or return the one of that name."""
        given = options(request)
        name = f"{self._cluster}-dynamic-{request.name}"
        held = self._named.find(name)
        if held is None:
            body: Json = {"name": name, "size": -(-request.size // GIB), "description": "Kubernetes volume", **given}
            if request.snapshot:
                body["snapshot_id"] = request.snapshot
            if request.tags:
                body["metadata"] = dict(request.tags)
            held = self._named.kept(name, self._apis.call(CINDER, "POST", "volumes", {"volume": body})["volume"])
        return self._disk(self._settled(held["id"]))

    def delete(self, disk_id: str) -> None:
        """Delete a volume; no error if it is gone.

        Raises:
            CloudFailed: it is attached.
        """
        try:
            volume = self._volume(disk_id)
        except DiskNotFound:
            return
        if volume.get("attachments"):
            raise CloudFailed(f"Cannot delete the volume {disk_id!r}, it's still attached to a node")
        self._apis.delete(CINDER, f"volumes/{disk_id}")

    def resize(self, disk_id: str, size: int) -> int:
        """Grow a volume to whole gibibytes and return its size."""
        volume = self._volume(disk_id)
        held, wanted = int(volume["size"]), -(-size // GIB)
        if held < wanted:
            self._apis.call(CINDER, "POST", f"volumes/{disk_id}/action", {"os-extend": {"new_size": wanted}})
            self._settled(disk_id)
        return max(held, wanted) * GIB

    def attach(self, disk_id: str, node: Object, *, read_only: bool = False) -> str:
        """Attach a volume and return the path that the machine sees it at."""
        machine = self._instances.machine(node)
        volume = self._volume(disk_id)
        holders = [str(row["server_id"]) for row in volume.get("attachments") or ()]
        device = f"{DEVICE}{disk_id[:_SHOWN]}"
        if machine["id"] in holders:
            return device
        if holders and not volume.get("multiattach"):
            found = self._apis.find(NOVA, f"servers/{holders[0]}", "server")
            name = NodeName(found["name"]) if found is not None else None
            raise DiskAttachedElsewhere(f"disk {disk_id!r} is attached to {name or holders[0]!r}", name)
        body = {"volumeAttachment": {"volumeId": disk_id}}
        self._apis.call(NOVA, "POST", f"servers/{machine['id']}/os-volume_attachments", body)
        self._settled(disk_id)
        return device

    def detach(self, disk_id: str, node_name: NodeName) -> None:
        """Detach it from a node's machine; no error if it is not attached there, or either is gone."""
        try:
            machine, volume = self._instances.machine({"metadata": {"name": node_name}}), self._volume(disk_id)
        except (DiskNotFound, InstanceNotFound):
            return
        if not any(row["server_id"] == machine["id"] for row in volume.get("attachments") or ()):
            return
        self._apis.delete(NOVA, f"servers/{machine['id']}/os-volume_attachments/{disk_id}")
        self._settled(disk_id)

    def attached(self, disk_ids: Sequence[str], node_name: NodeName) -> Mapping[str, bool]:
        """Tell of each volume whether the node's machine has it."""
        try:
            machine = self._instances.machine({"metadata": {"name": node_name}})
        except InstanceNotFound:
            return dict.fromkeys(disk_ids, False)
        held = {str(row.get("id")) for row in machine.get("os-extended-volumes:volumes_attached") or ()}
        return {disk_id: disk_id in held for disk_id in disk_ids}

    def labels(self, volume: Object) -> dict[str, str]:
        """Return the zone and the region of a persistent volume's disk.

        Raises:
            DiskNotFound: there is no such volume.
        """
        source = (volume.get("spec") or {}).get("cinder") or {}
        return dict(self._disk(self._volume(str(source.get("volumeID", "")))).labels)

    def _volume(self, disk_id: str) -> Json:
        try:
            if disk_id and "/" not in disk_id:
                return self._apis.get(CINDER, f"volumes/{disk_id}", "volume")
        except Missing:
            pass
        except Refused as error:
            if error.status != 400:  # an id that is none
                raise
        raise DiskNotFound(f"volume {disk_id!r} not found")

    def _settled(self, disk_id: str) -> Json:
        found = self._apis.wait(CINDER, f"volumes/{disk_id}", "volume", "status", _SETTLED)
        if found is None:
            raise DiskNotFound(f"volume {disk_id!r} not found")
        return found

    def _disk(self, volume: Json) -> Disk:
        zone = sanitized(volume.get("availability_zone"))
        labels = {key: value for key, value in ((ZONE, zone), (REGION, self._region)) if value}
        return Disk(id=str(volume["id"]), size=int(volume["size"]) * GIB, labels=labels)


def _alive(volume: Json) -> bool:
    return volume.get("status") not in {"deleting", "error", "error_deleting"}


def _is_free(volume: Json) -> bool:
    return not volume.get("attachments")
