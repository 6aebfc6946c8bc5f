"""Persistent disks, of one zone or two: made, attached under their own name, grown, and where they are.

Source: cloud-provider-gcp ``providers/gce/gce_disks.go``, kubernetes ``pkg/volume/gcepd/gce_util.go``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hyperkube_cloud.gce.compute import Compute, is_in_use, name_of_link
from hyperkube_cloud.gce.instances import GceInstances, Machine
from hyperkube_cloud.gce.location import Location, region_of
from hyperkube_cloud.gce.snapshots import GIB, GceSnapshots, snapshot_path
from hyperkube_lib.cloud_provider.nodes import REGION, ZONE
from hyperkube_lib.cloud_provider.rest import Json, Missing, Refused

from hyperkube.hookspecs.cloud import CloudFailed, Disk, DiskAttachedElsewhere, DiskNotFound, DiskRequest
from hyperkube.machinery.objects import NodeName, Object

BETWEEN_ZONES: Final = "__"
DEVICE: Final = "/dev/disk/by-id/google-"
REGIONAL: Final = "regional-pd"
TYPES: Final = ("pd-standard", "pd-ssd", "pd-balanced", "pd-extreme")
_LONGEST: Final = 63


def disk_name(cluster: str, volume: str) -> str:
    """Return the name of a PersistentVolume's disk. Source: ``pkg/volume/util/util.go`` (GenerateVolumeName)."""
    prefix = f"{cluster}-dynamic"
    return f"{prefix[: max(0, _LONGEST - 1 - len(volume))]}-{volume}"[-_LONGEST:].lstrip("-")


def options(request: DiskRequest) -> tuple[str, list[str]]:
    """Return a StorageClass's type of disk and, for a regional one, its zones; empty for any.

    Raises:
        CloudFailed: a parameter that is unknown, or a value that Google does not have.
    """
    kind, zones, regional = TYPES[0], [request.zone] if request.zone else [], False
    for key, value in request.parameters.items():
        match key:
            case "type":
                if value not in TYPES:
                    raise CloudFailed(f"invalid GCE disk type {value!r}")
                kind = value
            case "zone" | "zones":
                zones = [part.strip() for part in value.replace(BETWEEN_ZONES, ",").split(",")]
            case "replication-type":
                if value not in {REGIONAL, "none"}:
                    raise CloudFailed(f"replication-type of {value!r} is not supported, only none and {REGIONAL}")
                regional = value == REGIONAL
            case "fstype":
                pass  # the provisioner's own
            case _:
                raise CloudFailed(f"invalid option {key!r} for volume plugin kubernetes.io/gce-pd")
    if regional:
        zones = [part for zone in zones for part in zone.split(BETWEEN_ZONES)]
        if len(zones) != 2:
            raise CloudFailed(f"a {REGIONAL} disk needs two zones, not {len(zones)}")
        return kind, zones
    return kind, zones[:1]


class GceDisks(GceSnapshots):
    """Persistent disks; implements `hyperkube.hookspecs.cloud.Disks`, `Volumes` and `SnapshotsDisks` there."""

    def __init__(self, compute: Compute, instances: GceInstances, location: Location, cluster: str) -> None:
        self._compute, self._instances, self._location = compute, instances, location
        self._cluster = cluster

    def create(self, request: DiskRequest) -> Disk:
        """Make a disk, or return the one of that name."""
        kind, zones = options(request)
        name = disk_name(self._cluster, request.name)
        zones = zones or [self._location.zone]
        regional = len(zones) > 1
        place = f"regions/{self._location.region}" if regional else f"zones/{zones[0]}"
        body: Json = {
            "name": name,
            "sizeGb": str(-(-request.size // GIB)),
            "type": self._compute.url(f"{place}/diskTypes/{kind}"),
        }
        if request.tags:
            body["description"] = json.dumps(dict(request.tags), separators=(",", ":"), sort_keys=True)
        if request.snapshot:
            body["sourceSnapshot"] = self._compute.url(snapshot_path(request.snapshot))
        if regional:
            body["replicaZones"] = [self._compute.url(f"zones/{zone}") for zone in zones]
        self._compute.insert(f"{place}/disks", body)
        return _disk(self._compute.get(f"{place}/disks/{name}"))

    def delete(self, disk_id: str) -> None:
        """Delete a disk; no error if it is gone.

        Raises:
            CloudFailed: it is attached.
        """
        try:
            path, _ = self._located(disk_id)
            self._compute.delete(path)
        except DiskNotFound:
            return
        except Refused as error:
            if is_in_use(error):
                raise CloudFailed(f"disk {disk_id!r} is attached: {error}") from error
            raise

    def resize(self, disk_id: str, size: int) -> int:
        """Grow a disk to whole gibibytes and return its size."""
        path, disk = self._located(disk_id)
        held, wanted = int(disk["sizeGb"]), -(-size // GIB)
        if held < wanted:
            self._compute.change("POST", f"{path}/resize", {"sizeGb": str(wanted)})
        return max(held, wanted) * GIB

    def attach(self, disk_id: str, node: Object, *, read_only: bool = False) -> str:
        """Attach a disk under its own name and return the path that the machine sees it at."""
        machine = self._instances.machine(node)
        zone = name_of_link(machine["zone"])
        path, disk = self._located(disk_id, zone)
        device = f"{DEVICE}{disk['name']}"
        if _has(machine, disk["name"]):
            return device
        holders = [name_of_link(link) for link in disk.get("users") or ()]
        if holders and not read_only:
            raise DiskAttachedElsewhere(f"disk {disk_id!r} is attached to {holders[0]!r}", NodeName(holders[0]))
        body = {
            "deviceName": disk["name"],
            "mode": "READ_ONLY" if read_only else "READ_WRITE",
            "source": self._compute.url(path),
            "type": "PERSISTENT",
        }
        self._compute.change("POST", f"zones/{zone}/instances/{machine['name']}/attachDisk", body)
        return device

    def detach(self, disk_id: str, node_name: NodeName) -> None:
        """Detach it from a node's machine; no error if it is not attached there, or either is gone."""
        machine = self._instances.named(node_name)
        name = name_of_link(disk_id)
        if machine is None or not _has(machine, name):
            return
        where = f"zones/{name_of_link(machine['zone'])}/instances/{machine['name']}"
        try:
            self._compute.change("POST", f"{where}/detachDisk?deviceName={name}")
        except Missing:
            return

    def attached(self, disk_ids: Sequence[str], node_name: NodeName) -> Mapping[str, bool]:
        """Tell of each disk whether the node's machine has it."""
        machine = self._instances.named(node_name)
        return {each: machine is not None and _has(machine, name_of_link(each)) for each in disk_ids}

    def labels(self, volume: Object) -> dict[str, str]:
        """Return the zones and the region of a persistent volume's disk.

        Raises:
            DiskNotFound: there is no such disk.
        """
        source = (volume.get("spec") or {}).get("gcePersistentDisk") or {}
        held = ((volume.get("metadata") or {}).get("labels") or {}).get(ZONE, "")
        _, disk = self._located(str(source.get("pdName", "")), held)
        return dict(_disk(disk).labels)

    def _located(self, disk_id: str, zone: str = "") -> tuple[str, Json]:
        """Return a disk and its path: a regional one, or the only one of its name in the cluster's zones."""
        name = name_of_link(disk_id)
        found = [each for path in self._places(name, zone) if (each := (path, self._compute.find(path)))[1] is not None]
        if not found or not name:
            raise DiskNotFound(f"GCE persistent disk not found: diskName={name!r}")
        if len(found) > 1:
            raise CloudFailed(f"GCE PD name was found in multiple zones: {name!r}")
        path, disk = found[0]
        return path, disk or {}

    def _places(self, name: str, zone: str) -> Iterator[str]:
        yield f"regions/{self._location.region}/disks/{name}"
        for each in [] if BETWEEN_ZONES in zone else [zone] if zone else self._instances.zones():
            yield f"zones/{each}/disks/{name}"


def _has(machine: Machine, name: str) -> bool:
    return any(each.get("deviceName") == name for each in machine.get("disks") or ())


def _disk(disk: Json) -> Disk:
    zones = sorted(name_of_link(link) for link in disk.get("replicaZones") or [disk["zone"]])
    return Disk(
        id=str(disk["name"]),
        size=int(disk["sizeGb"]) * GIB,
        labels={ZONE: BETWEEN_ZONES.join(zones), REGION: region_of(zones[0])},
    )
