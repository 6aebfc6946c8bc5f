"""EBS volumes: made, attached under a free device name, grown; and the zones that persistent volumes on them tell.

Source: kubernetes legacy-cloud-providers ``aws/aws.go`` (CreateDisk, AttachDisk …), ``aws/device_allocator.go``,
``aws/volumes.go``, ``pkg/volume/awsebs/aws_util.go``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any, Final

from hyperkube_cloud.aws.calls import Calls, Refused
from hyperkube_cloud.aws.instances import AwsInstances, Machine, node_name
from hyperkube_cloud.aws.snapshots import GIB, MISSING, EbsSnapshots, volume_id
from hyperkube_cloud.aws.tags import as_list, owned_by
from hyperkube_lib.cloud_provider.nodes import REGION, ZONE

from hyperkube.hookspecs.cloud import (
    CloudFailed,
    Disk,
    DiskAttachedElsewhere,
    DiskNotFound,
    DiskRequest,
    InstanceNotFound,
)
from hyperkube.machinery.objects import NodeName, Object

DEVICES: Final = tuple(f"/dev/xvd{first}{last}" for first, last in itertools.product("bc", ascii_lowercase))
CLAIM_TAG = "kubernetes.io/created-for/pv/name"
_KINDS = frozenset({"gp2", "gp3", "io1", "io2", "sc1", "st1", "standard"})

Volume = Mapping[str, Any]


def options(request: DiskRequest) -> dict[str, Any]:
    """Return the arguments of ``CreateVolume`` that a StorageClass's parameters make.

    Raises:
        CloudFailed: a parameter that is unknown, or a value that EBS does not have.
    """
    made: dict[str, Any] = {"VolumeType": "gp3", "Size": _gib(request.size)}
    for key, value in request.parameters.items():
        match key:
            case "type":
                if value not in _KINDS:
                    raise CloudFailed(f"invalid AWS VolumeType {value!r}")
                made["VolumeType"] = value
            case "iopspergb":
                made["Iops"] = min(20_000, max(100, int(value) * made["Size"]))
            case "iops" | "throughput":
                made[key.capitalize()] = int(value)
            case "encrypted":
                made["Encrypted"] = value.lower() == "true"
            case "kmskeyid":
                made |= {"KmsKeyId": value, "Encrypted": True}
            case "zone" | "zones" | "fstype":
                pass  # the provisioner's own
            case _:
                raise CloudFailed(f"invalid option {key!r} for volume plugin kubernetes.io/aws-ebs")
    return made


def free_device(taken: Sequence[str]) -> str:
    """Return the first device name that a machine does not use.

    Raises:
        CloudFailed: it uses all.
    """
    for device in DEVICES:
        if device not in taken:
            return device
    raise CloudFailed("no available devices: too many EBS volumes are attached")


def _gib(size: int) -> int:
    return -(-size // GIB)


class AwsDisks(EbsSnapshots):
    """EBS; implements `hyperkube.hookspecs.cloud.Disks`, `Volumes` and `SnapshotsDisks` there."""

    def __init__(self, calls: Calls, instances: AwsInstances, cluster: str) -> None:
        super().__init__(calls, cluster)
        self._instances = instances

    def create(self, request: DiskRequest) -> Disk:
        """Make a volume, or return the one that was made for that PersistentVolume."""
        wanted = options(request)
        tag = {"Name": f"tag:{CLAIM_TAG}", "Values": [request.name]}
        found = [each for each in self._volumes(Filters=[tag]) if each["State"] in {"creating", "available", "in-use"}]
        if found:
            return _disk(found[0])
        tags = {
            "Name": f"{self._cluster}-dynamic-{request.name}", CLAIM_TAG: request.name,
            **owned_by(self._cluster), **request.tags,
        }  # fmt: skip
        made = self._calls.call(
            "ec2",
            "create_volume",
            **wanted,
            **({"SnapshotId": request.snapshot} if request.snapshot else {}),
            AvailabilityZone=request.zone or self._any_zone(),
            TagSpecifications=[{"ResourceType": "volume", "Tags": as_list(tags)}],
        )
        return _disk(made)

    def delete(self, disk_id: str) -> None:
        """Delete a volume; no error if it is gone."""
        try:
            self._calls.call("ec2", "delete_volume", VolumeId=volume_id(disk_id))
        except DiskNotFound:
            return
        except Refused as error:
            if error.code not in MISSING:
                raise

    def resize(self, disk_id: str, size: int) -> int:
        """Grow a volume to whole gibibytes and return its size."""
        volume = self._volume(disk_id)
        wanted = _gib(size)
        if int(volume["Size"]) < wanted:
            self._calls.call("ec2", "modify_volume", VolumeId=volume["VolumeId"], Size=wanted)
        return max(int(volume["Size"]), wanted) * GIB

    def attach(self, disk_id: str, node: Object, *, read_only: bool = False) -> str:
        """Attach a volume under a free name, or return the name that it has there already."""
        volume = self._volume(disk_id)
        machine = self._instances.machine(node)
        for held in volume.get("Attachments") or ():
            if held.get("State") in {"detached", "detaching"}:
                continue
            if held["InstanceId"] == machine["InstanceId"]:
                return str(held["Device"])
            raise self._elsewhere(volume["VolumeId"], held["InstanceId"])
        device = free_device([each["DeviceName"] for each in machine.get("BlockDeviceMappings") or ()])
        self._calls.call(
            "ec2", "attach_volume", VolumeId=volume["VolumeId"], InstanceId=machine["InstanceId"], Device=device
        )
        return device

    def detach(self, disk_id: str, node_name: NodeName) -> None:
        """Detach it from a node's machine; no error if it is not attached there, or either is gone."""
        try:
            volume, machine = self._volume(disk_id), self._instances.machine(_node(node_name))
        except (DiskNotFound, InstanceNotFound):
            return
        if not _has(machine, volume["VolumeId"]):
            return
        try:
            self._calls.call("ec2", "detach_volume", VolumeId=volume["VolumeId"], InstanceId=machine["InstanceId"])
        except Refused as error:
            if error.code != "IncorrectState":  # detached in the meantime
                raise

    def attached(self, disk_ids: Sequence[str], node_name: NodeName) -> Mapping[str, bool]:
        """Tell of each volume whether the node's machine has it."""
        try:
            machine = self._instances.machine(_node(node_name))
        except InstanceNotFound:
            return dict.fromkeys(disk_ids, False)
        return {disk_id: _has(machine, disk_id.rpartition("/")[2]) for disk_id in disk_ids}

    def labels(self, volume: Object) -> dict[str, str]:
        """Return the zone and region of a persistent volume's disk.

        Raises:
            DiskNotFound: there is no such disk.
        """
        source = (volume.get("spec") or {}).get("awsElasticBlockStore") or {}
        return dict(_disk(self._volume(str(source.get("volumeID", "")))).labels)

    def _elsewhere(self, volume: str, instance: str) -> DiskAttachedElsewhere:
        holder = self._instances.by_id([instance]).get(instance)
        name = NodeName(node_name(holder)) if holder is not None else None
        return DiskAttachedElsewhere(f"volume {volume!r} is attached to {name or instance!r}", name)

    def _any_zone(self) -> str:
        zones = self._calls.call("ec2", "describe_availability_zones")["AvailabilityZones"]
        return str(min(zone["ZoneName"] for zone in zones))

    def _volume(self, disk_id: str) -> Volume:
        try:
            (found,) = self._volumes(VolumeIds=[volume_id(disk_id)])
        except Refused as error:
            if error.code not in MISSING:
                raise
            raise DiskNotFound(f"volume {disk_id!r} not found") from error
        return found

    def _volumes(self, **arguments: Any) -> list[Volume]:
        return list(self._calls.pages("ec2", "describe_volumes", "Volumes", **arguments))


def _node(name: NodeName) -> Object:
    return {"metadata": {"name": name}, "spec": {}}


def _has(machine: Machine, volume: str) -> bool:
    mappings = machine.get("BlockDeviceMappings") or ()
    return any((each.get("Ebs") or {}).get("VolumeId") == volume for each in mappings)


def _disk(volume: Volume) -> Disk:
    zone = str(volume["AvailabilityZone"])
    region = zone.rstrip(ascii_lowercase)
    return Disk(
        id=f"aws://{zone}/{volume['VolumeId']}",
        size=int(volume["Size"]) * GIB,
        labels={ZONE: zone, REGION: region},
    )
