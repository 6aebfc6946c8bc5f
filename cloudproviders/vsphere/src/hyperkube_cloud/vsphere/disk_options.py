"""What a StorageClass says of a virtual disk, and how disks are named.

Source: kubernetes ``pkg/volume/vsphere_volume/vsphere_volume_util.go`` (CreateVolume, validateVSANCapability),
``legacy-cloud-providers/vsphere/vclib/volumeoptions.go``, ``vclib/utils.go``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass

FORMATS: Final = {"thin": "thin", "zeroedthick": "preallocated", "eagerzeroedthick": "eagerZeroedThick"}
"""Format as a class says it, in lower case → the vendor's name."""
FOLDER: Final = "kubevols"
_LONGEST: Final = 255
_PATH: Final = re.compile(r"\[([^\]]+)\]\s*(\S.*)")
_VSAN: Final = {
    "hostfailurestotolerate": ("hostFailuresToTolerate", 0, 3, 1),
    "forceprovisioning": ("forceProvisioning", 0, 1, 1),
    "cachereservation": ("cacheReservation", 0, 100, 10_000),
    "diskstripes": ("stripeWidth", 1, 12, 1),
    "objectspacereservation": ("proportionalCapacity", 0, 100, 1),
    "iopslimit": ("iopsLimit", 0, None, 1),
}
"""Parameter → its name in a policy, least and most value, and how many units one is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskOptions:
    """What a class asks for.

    Attributes:
        format: the vendor's name.
        datastore: its name, with that of its cluster before a slash; empty for the provider's choice.
        policy: the name of a storage policy, or `vsan`: one that is written out.
    """

    format: str = "thin"
    datastore: str = ""
    policy: str = ""
    vsan: str = ""


def options(parameters: Mapping[str, str]) -> DiskOptions:
    """Return what parameters say, whose keys are in lower case.

    Raises:
        CloudFailed: one is unknown, or has a value that vSphere does not have.
    """
    told = {"format": "thin", "datastore": "", "policy": ""}
    vsan = ""
    for key, value in parameters.items():
        if key == "diskformat":
            if value.lower() not in FORMATS:
                raise CloudFailed(f"diskformat {value!r} is not valid. Valid options are {', '.join(FORMATS)}")
            told["format"] = FORMATS[value.lower()]
        elif key == "datastore":
            told["datastore"] = value.strip()
        elif key == "storagepolicyname":
            told["policy"] = value
        elif key in _VSAN:
            vsan += _capability(key, value)
        elif key != "fstype":  # the provisioner's own
            raise CloudFailed(f'invalid option "{key}" for volume plugin kubernetes.io/vsphere-volume')
    if vsan and told["policy"]:
        raise CloudFailed(
            "Cannot specify storage policy capabilities along with storage policy name. Please specify only one"
        )
    return DiskOptions(**told, vsan=f"({vsan})" if vsan else "")


def _capability(key: str, value: str) -> str:
    name, least, most, units = _VSAN[key]
    if not re.fullmatch(r"-?\d+", value):
        raise CloudFailed(f"Invalid value for {key}. The capabilityValue: {value} must be a valid integer value")
    number = int(value)
    if number < least or (most is not None and number > most):
        limits = f"minimum value is {least}" + (f" and maximum value is {most}" if most is not None else "")
        raise CloudFailed(f"Invalid value for {name}. The {limits}.")
    return f' ("{name}" i{number * units})'


def disk_name(cluster: str, volume: str) -> str:
    """Return the name of a PersistentVolume's disk. Source: ``pkg/volume/util/util.go`` (GenerateVolumeName)."""
    prefix = f"{cluster}-dynamic"
    return f"{prefix[: max(0, _LONGEST - len('.vmdk') - 1 - len(volume))]}-{volume}".lstrip("-")


def split_path(disk_id: str) -> tuple[str, str] | None:
    """Return datastore and path of ``[datastore] folder/disk.vmdk``; a datastore's cluster or folder is left out."""
    found = _PATH.fullmatch(disk_id.strip())
    return (found[1].rpartition("/")[2], found[2]) if found else None


def plain_path(disk_id: str) -> str:
    """Return a disk's path as the vCenter writes it, without the cluster of its datastore."""
    parts = split_path(disk_id)
    return f"[{parts[0]}] {parts[1]}" if parts else disk_id
