"""Managed disks: made, attached to machines by their LUN, grown, and where they are.

Source: cloud-provider-azure ``pkg/provider/azure_managedDiskController.go``, ``azure_controller_common.go``,
``azure_controller_standard.go``, ``azure_controller_vmss.go``; kubernetes ``pkg/volume/azuredd/azure_provision.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hyperkube_cloud.azure.arm import COMPUTE, Arm, last_of, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import AzureInstances
from hyperkube_cloud.azure.snapshots import CREATED_BY, GIB, AzureSnapshots
from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.nodes import REGION, ZONE
from hyperkube_lib.cloud_provider.rest import Json, Missing

from hyperkube.hookspecs.cloud import CloudFailed, Disk, DiskAttachedElsewhere, DiskNotFound, DiskRequest
from hyperkube.machinery.objects import NodeName, Object

LUNS: Final = 64
DEVICE: Final = "/dev/disk/azure/scsi1/lun{}"
TYPES: Final = (
    "Standard_LRS", "Premium_LRS", "StandardSSD_LRS", "UltraSSD_LRS", "PremiumV2_LRS", "Premium_ZRS", "StandardSSD_ZRS"
)  # fmt: skip
_PROVISIONED: Final = frozenset({"UltraSSD_LRS", "PremiumV2_LRS"})
CACHING: Final = ("None", "ReadOnly", "ReadWrite")
_LONGEST: Final = 80
_ID: Final = re.compile(
    r"/subscriptions/[^/]+/resourcegroups/[^/]+/providers/microsoft\.compute/disks/([^/]+)", re.IGNORECASE
)


def disk_name(cluster: str, volume: str) -> str:
    """Return the name of a PersistentVolume's disk. Source: ``pkg/volume/util/util.go`` (GenerateVolumeName)."""
    prefix = f"{cluster}-dynamic"
    return f"{prefix[: max(0, _LONGEST - 1 - len(volume))]}-{volume}"[-_LONGEST:].lstrip("-")


def options(request: DiskRequest) -> Json:
    """Return what a StorageClass says: ``kind``, ``zone``, ``group`` (empty for the cluster's), and more properties.

    Raises:
        CloudFailed: a parameter that is unknown, or a value that Azure does not have.
    """
    told: Json = {"kind": TYPES[2], "zone": request.zone, "group": "", "more": {}}
    for key, value in request.parameters.items():
        if key not in _READERS:
            raise CloudFailed(f"AzureDisk - invalid option {key} in storage class")
        read = _READERS[key](value)
        told |= {**read, "more": {**told["more"], **read.get("more", {})}}
    if told["more"].keys() & {"diskIOPSReadWrite", "diskMBpsReadWrite"} and told["kind"] not in _PROVISIONED:
        raise CloudFailed("AzureDisk - DiskIOPSReadWrite parameter is only applicable in UltraSSD_LRS disk type")
    return told


def _kind(value: str) -> Json:
    found = next((each for each in TYPES if same(each, value)), None)
    if found is None:
        raise CloudFailed(f"azureDisk - {value} is not supported sku/storageaccounttype. Supported values are {TYPES}")
    return {"kind": found}


def _one_of(name: str, values: Sequence[str]) -> Callable[[str], Json]:
    def read(value: str) -> Json:
        if not any(same(value, each) for each in values):
            raise CloudFailed(f"azureDisk - {value} is not supported {name}. Supported values are {values}")
        return {}

    return read


def _number(name: str) -> Callable[[str], Json]:
    def read(value: str) -> Json:
        if not value.isdecimal() or int(value) < 1:
            raise CloudFailed(f"AzureDisk - failed to parse {name}: {value!r}")
        return {"more": {name: int(value)}}

    return read


def _encryption(value: str) -> Json:
    return {"more": {"encryption": {"diskEncryptionSetId": value, "type": "EncryptionAtRestWithCustomerKey"}}}


_READERS: Final[Mapping[str, Callable[[str], Json]]] = {
    "skuname": _kind,
    "storageaccounttype": _kind,
    "kind": _one_of("kind", ("Managed",)),
    "cachingmode": _one_of("cachingmode", CACHING),
    "cachemode": _one_of("cachingmode", CACHING),
    "zone": lambda value: {"zone": value},
    "zones": lambda value: {"zone": value.split(",")[0].strip()},
    "resourcegroup": lambda value: {"group": value},
    "diskencryptionsetid": _encryption,
    "diskiopsreadwrite": _number("diskIOPSReadWrite"),
    "diskmbpsreadwrite": _number("diskMBpsReadWrite"),
    "maxshares": _number("maxShares"),
    "fstype": lambda _value: {},  # the provisioner's own
    "zoned": lambda _value: {},
}


class AzureDisks(AzureSnapshots):
    """Managed disks; implements `hyperkube.hookspecs.cloud.Disks`, `Volumes` and `SnapshotsDisks` there."""

    def __init__(self, arm: Arm, config: AzureConfig, instances: AzureInstances, cluster: str) -> None:
        self._arm, self._config, self._instances, self._cluster = arm, config, instances, cluster

    def create(self, request: DiskRequest) -> Disk:
        """Make a disk, or return the one of that name."""
        told = options(request)
        kind, zone = str(told["kind"]), str(told["zone"])
        ident = self._arm.id(COMPUTE, f"disks/{disk_name(self._cluster, request.name)}", told["group"])
        held = self._arm.find(ident)
        if held is not None:
            return self._disk(held)
        tags = {key.replace("/", "-"): value.replace("/", "-") for key, value in request.tags.items()}
        body: Json = {
            "location": self._config.location,
            "tags": {**parsed_tags(self._config.tags), "created-by": CREATED_BY, **tags},
            "sku": {"name": kind},
            "properties": {
                "diskSizeGB": -(-request.size // GIB),
                "creationData": _origin(request.snapshot),
                **told["more"],
            },
        }
        number = zone.rpartition("-")[2]
        if number.isdecimal() and "-" in zone and not kind.endswith("_ZRS"):  # a fault domain is no zone
            body["zones"] = [number]
        return self._disk(self._arm.put(ident, body))

    def delete(self, disk_id: str) -> None:
        """Delete a disk; no error if it is gone.

        Raises:
            CloudFailed: it is attached.
        """
        held = self._find(disk_id)
        if held is None:
            return
        if held.get("managedBy"):
            raise CloudFailed(f"disk({disk_id}) already attached to node({held['managedBy']}), could not be deleted")
        self._arm.delete(disk_id)

    def resize(self, disk_id: str, size: int) -> int:
        """Grow a disk to whole gibibytes and return its size."""
        disk = self._needed(disk_id)
        held, wanted = int(properties(disk)["diskSizeGB"]), -(-size // GIB)
        if held < wanted:
            self._arm.put(disk_id, {"properties": {"diskSizeGB": wanted}}, method="PATCH")
        return max(held, wanted) * GIB

    def attach(self, disk_id: str, node: Object, *, read_only: bool = False) -> str:
        """Attach a disk at the first free LUN and return the path that the machine sees it at."""
        machine = self._instances.machine(node)
        disk = self._needed(disk_id)
        rows = _attached(machine)
        for row in rows:
            if same((row.get("managedDisk") or {}).get("id"), disk_id):
                return DEVICE.format(row["lun"])
        holders = [str(each) for each in disk.get("managedByExtended") or [disk.get("managedBy")] if each]
        if holders and len(holders) >= int(properties(disk).get("maxShares") or 1):
            raise DiskAttachedElsewhere(f"disk {disk_id!r} is attached to {holders[0]!r}", self._node_of(holders[0]))
        taken = {int(row["lun"]) for row in rows}
        lun = next((number for number in range(LUNS) if number not in taken), None)
        if lun is None:
            raise CloudFailed(f"all LUNs of machine {machine['id']} are used")
        row = {
            "lun": lun,
            "name": last_of(disk_id),
            "createOption": "Attach",
            "caching": "ReadOnly" if read_only else "None",
            "managedDisk": {"id": disk["id"]},
        }
        self._write(machine, [*rows, row])
        return DEVICE.format(lun)

    def detach(self, disk_id: str, node_name: NodeName) -> None:
        """Detach it from a node's machine; no error if it is not attached there, or either is gone."""
        machine = self._instances.named(node_name)
        rows = _attached(machine)
        left = [row for row in rows if not same((row.get("managedDisk") or {}).get("id"), disk_id)]
        if machine is None or len(left) == len(rows):
            return
        try:
            self._write(machine, left)
        except Missing:
            return

    def attached(self, disk_ids: Sequence[str], node_name: NodeName) -> Mapping[str, bool]:
        """Tell of each disk whether the node's machine has it."""
        machine = self._instances.named(node_name)
        held = {str((row.get("managedDisk") or {}).get("id", "")).lower() for row in _attached(machine)}
        return {each: each.lower() in held for each in disk_ids}

    def labels(self, volume: Object) -> dict[str, str]:
        """Return the zone and the region of a persistent volume's disk.

        Raises:
            DiskNotFound: there is no such disk.
        """
        source = (volume.get("spec") or {}).get("azureDisk") or {}
        return dict(self._disk(self._needed(str(source.get("diskURI", "")))).labels)

    def _write(self, machine: Json, rows: Sequence[Json]) -> None:
        """Give a machine those disks. A machine of a scale set is written by PUT, another by PATCH."""
        ident = str(machine["id"])
        body: Json = {"properties": {"storageProfile": {"dataDisks": list(rows)}}}
        if "/virtualmachinescalesets/" in ident.lower():
            held: Any = properties(machine).get("storageProfile") or {}
            body = {
                "location": machine["location"],
                "properties": {**properties(machine), "storageProfile": {**held, "dataDisks": list(rows)}},
            }
            self._arm.put(ident, body)
        else:
            self._arm.put(ident, body, method="PATCH")

    def _find(self, disk_id: str) -> Json | None:
        return self._arm.find(disk_id) if _ID.fullmatch(disk_id) else None

    def _needed(self, disk_id: str) -> Json:
        held = self._find(disk_id)
        if held is None:
            raise DiskNotFound(f"disk {disk_id!r} not found")
        return held

    def _node_of(self, ident: str) -> NodeName:
        machine = self._arm.find(ident)
        return NodeName(str((properties(machine).get("osProfile") or {}).get("computerName") or last_of(ident)).lower())

    def _disk(self, held: Json) -> Disk:
        region = str(held.get("location") or self._config.location).lower()
        zones = held.get("zones") or ()
        labels = {REGION: region, **({ZONE: f"{region}-{zones[0]}"} if zones else {})}
        return Disk(id=str(held["id"]), size=int(properties(held)["diskSizeGB"]) * GIB, labels=labels)


def _origin(snapshot: str) -> Json:
    return {"createOption": "Copy", "sourceResourceId": snapshot} if snapshot else {"createOption": "Empty"}


def _attached(machine: Json | None) -> list[Json]:
    return list((properties(machine).get("storageProfile") or {}).get("dataDisks") or ())
