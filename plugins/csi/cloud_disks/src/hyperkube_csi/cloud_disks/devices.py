"""Where a node finds a disk that its cloud says is attached.

A cloud tells a name; the kernel may have chosen another (NVMe), and udev then makes links by the disk's own id.
Source: kubernetes ``pkg/volume/awsebs/aws_util.go`` (getDiskByIDPaths), ``pkg/volume/gcepd/gce_util.go``,
``legacy-cloud-providers/openstack/openstack_volumes.go`` (getDevicePathFromInstanceMetadata, GetDevicePathBySerialID).
"""

from __future__ import annotations

import os
from pathlib import Path

_SERIAL = 20
"""Characters of an id that a virtio disk's serial number has room for."""


def candidates(cloud: str, volume_id: str, told: str) -> list[str]:
    """Return the paths at which a disk may be, the one that the cloud told first."""
    name = volume_id.rpartition("/")[2]
    found = [told] if told else []
    match cloud:
        case "aws":
            found.append(f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{name.replace('-', '')}")
        case "gce":
            found += [f"/dev/disk/by-id/google-{name}", f"/dev/disk/by-id/scsi-0Google_PersistentDisk_{name}"]
        case "openstack":
            short = name[:_SERIAL]
            found += [
                f"/dev/disk/by-id/virtio-{short}",
                f"/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_{short}",
                f"/dev/disk/by-id/wwn-0x{name.replace('-', '')}",
            ]
    return list(dict.fromkeys(found))


def present(paths: list[str], partition: str = "") -> str:
    """Return the device behind the first path that is there, or its partition; empty while there is none."""
    for path in paths:
        if Path(path).exists():
            device = os.path.realpath(path)
            if not partition or partition == "0":
                return device
            between = "p" if device[-1].isdigit() else ""
            device = f"{device}{between}{partition}"
            return device if Path(device).exists() else ""
    return ""
