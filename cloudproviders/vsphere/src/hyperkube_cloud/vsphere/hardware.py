"""A machine's virtual hardware as far as disks need it: who holds which disk, and what a new one is plugged into.

Source: kubernetes ``legacy-cloud-providers/vsphere/vclib/virtualmachine.go`` (CreateDiskSpec), ``vclib/utils.go``
(getNextUnitNumber); vSphere Web Services API reference, ``VirtualMachineConfigSpec.deviceChange``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pyVmomi import vim

from hyperkube.hookspecs.cloud import CloudFailed

DEVICES: Final = "config.hardware.device"
_CONTROLLERS: Final = {
    "pvscsi": vim.vm.device.ParaVirtualSCSIController,
    "lsiLogic-sas": vim.vm.device.VirtualLsiLogicSASController,
    "lsiLogic": vim.vm.device.VirtualLsiLogicController,
}
MOST_CONTROLLERS: Final = 4
SLOTS: Final = 16
RESERVED: Final = 7
"""The slot of the controller itself."""
_NEW_CONTROLLER: Final = -101
_NEW_DISK: Final = -102
"""Keys of devices that are made by the same change, until they have got their own."""
_CHANGE: Final = vim.vm.device.VirtualDeviceSpec


def disks_of(devices: Iterable[Any]) -> list[Any]:
    """Return the virtual disks that are files."""
    return [each for each in devices if isinstance(each, vim.vm.device.VirtualDisk) and file_of(each)]


def file_of(disk: Any) -> str:
    """Return the path of a disk's file, ``[datastore] folder/disk.vmdk``; empty for a disk that is no file."""
    return str(getattr(disk.backing, "fileName", "") or "")


def disk_uuid_of(disk: Any) -> str:
    """Return the uuid of a disk, empty if it is not told."""
    return plain_uuid(getattr(disk.backing, "uuid", "") or "")


def plain_uuid(text: str) -> str:
    """Return a disk's uuid as device names have it: its digits alone."""
    return text.replace(" ", "").replace("-", "").lower()


def attaching(devices: Sequence[Any], path: str, controller: str, *, more: Any = None) -> Any:
    """Return the change that plugs a disk in: into a free slot, or into a controller that is made by the same change.

    Args:
        devices: what the machine has.
        path: of the disk's file.
        controller: the kind of controller.
        more: a change to begin with: what is to be made, and by which policy.

    Raises:
        CloudFailed: there is no free slot, and no room for another controller.
    """
    key, unit, changes = _slot(devices, controller)
    backing = vim.vm.device.VirtualDisk.FlatVer2BackingInfo(fileName=path, diskMode="independent_persistent")
    disk = vim.vm.device.VirtualDisk(key=_NEW_DISK, controllerKey=key, unitNumber=unit, backing=backing)
    change = more or _CHANGE()
    change.operation, change.device = _CHANGE.Operation.add, disk
    return vim.vm.ConfigSpec(deviceChange=[*changes, change])


def detaching(disk: Any) -> Any:
    """Return the change that takes a disk out and keeps its file."""
    return vim.vm.ConfigSpec(deviceChange=[_CHANGE(operation=_CHANGE.Operation.remove, device=disk)])


def new_controller(controller: str, bus: int, key: int = _NEW_CONTROLLER) -> Any:
    """Return the change that adds a controller."""
    sharing = vim.vm.device.VirtualSCSIController.Sharing.noSharing
    made = _CONTROLLERS[controller](key=key, busNumber=bus, sharedBus=sharing, hotAddRemove=True)
    return _CHANGE(operation=_CHANGE.Operation.add, device=made)


def _slot(devices: Sequence[Any], controller: str) -> tuple[int, int, list[Any]]:
    """Return a controller's key, a slot that is free, and what has to be made before."""
    scsi = [each for each in devices if isinstance(each, vim.vm.device.VirtualSCSIController)]
    for each in scsi:
        if isinstance(each, _CONTROLLERS[controller]):
            taken = {RESERVED, *(one.unitNumber for one in devices if one.controllerKey == each.key)}
            unit = next((number for number in range(SLOTS) if number not in taken), None)
            if unit is not None:
                return int(each.key), unit, []
    if len(scsi) >= MOST_CONTROLLERS:
        raise CloudFailed(
            f"SCSI Controller Limit of {MOST_CONTROLLERS} has been reached, cannot create another SCSI controller"
        )
    buses = {each.busNumber for each in scsi}
    bus = next(number for number in range(MOST_CONTROLLERS) if number not in buses)
    return _NEW_CONTROLLER, 0, [new_controller(controller, bus)]
