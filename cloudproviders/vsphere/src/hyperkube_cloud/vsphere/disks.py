"""Virtual disks: files of a datastore, made, attached to machines, grown, and where they are.

Source: kubernetes ``legacy-cloud-providers/vsphere/vsphere.go``, ``vclib/diskmanagers``,
``pkg/volume/vsphere_volume/attacher.go``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperkube_cloud.vsphere.datastores import Datastore, Datastores
from hyperkube_cloud.vsphere.disk_options import FOLDER, disk_name, options, plain_path, split_path
from hyperkube_cloud.vsphere.dummy_machines import DummyMachines
from hyperkube_cloud.vsphere.hardware import (
    DEVICES,
    attaching,
    detaching,
    disk_uuid_of,
    disks_of,
    file_of,
    plain_uuid,
)
from hyperkube_cloud.vsphere.machines import Machine, Machines
from hyperkube_cloud.vsphere.soap import Fault, ObjectGone
from hyperkube_cloud.vsphere.vcenter import VCenter, ident, long
from hyperkube_cloud.vsphere.zones import Zones
from pyVmomi import vim

from hyperkube.hookspecs.cloud import (
    CloudFailed,
    Disk,
    DiskAttachedElsewhere,
    DiskNotFound,
    DiskRequest,
    InstanceNotFound,
)
from hyperkube.machinery.objects import NodeName, Object, name_of

DEVICE: Final = "/dev/disk/by-id/wwn-0x{}"
KIB: Final = 1024
_LOCKED: Final = re.compile(r"\block(ed)?\b", re.IGNORECASE)
"""Stands in what a vCenter says of a file that another machine holds."""


class VSphereDisks:
    """Disks; implements `hyperkube.hookspecs.cloud.Disks` and `hyperkube.hookspecs.cloud.Volumes`."""

    def __init__(
        self,
        vcenter: VCenter,
        datastores: Datastores,
        dummies: DummyMachines,
        machines: Machines,
        zones: Zones,
        *,
        cluster: str,
        controller: str,
    ) -> None:
        """Take the vCenter that disks are made in, and what finds the rest."""
        self._vcenter, self._datastores, self._dummies = vcenter, datastores, dummies
        self._machines, self._zones = machines, zones
        self._cluster, self._controller = cluster, controller

    def create(self, request: DiskRequest) -> Disk:
        """Make a disk, or return the one of that name, on whichever datastore it was made."""
        wanted = options(request.parameters)
        size = -(-request.size // KIB) * KIB
        name = disk_name(self._cluster, request.name)
        places = self._datastores.candidates(wanted, request.zone)
        for place in places:
            path = _path_on(place, name)
            held = self._datastores.size_of(place, path)
            if held is not None:
                if wanted.policy or wanted.vsan:
                    self._dummies.clean(name, place, path)
                return self._disk(place, path, held or size, wanted.datastore)
        place = places[0]
        path = _path_on(place, name)
        self._datastores.make_folder(place, FOLDER)
        if wanted.policy or wanted.vsan:
            self._dummies.make_disk(name, place, path, size, wanted)
        else:
            self._make(place, path, size, wanted.format)
        return self._disk(place, path, size, wanted.datastore)

    def _make(self, place: Datastore, path: str, size: int, kind: str) -> None:
        spec = vim.VirtualDiskManager.FileBackedVirtualDiskSpec(
            diskType=kind, adapterType="lsiLogic", capacityKb=long(size // KIB)
        )
        try:
            task = self._vcenter.content.virtualDiskManager.CreateVirtualDisk_Task(path, place.datacenter, spec)
            self._vcenter.done(task, f"CreateVirtualDisk_Task {path}")
        except Fault as error:
            if not isinstance(error.fault, vim.fault.FileAlreadyExists):
                raise

    def delete(self, disk_id: str) -> None:
        """Delete a disk; no error if it is gone.

        Raises:
            CloudFailed: a machine holds it.
        """
        place = self._datastores.of_disk(disk_id)
        if place is None or self._datastores.size_of(place, disk_id) is None:
            return
        path = plain_path(disk_id)
        try:
            task = self._vcenter.content.virtualDiskManager.DeleteVirtualDisk_Task(path, place.datacenter)
            self._vcenter.done(task, f"DeleteVirtualDisk_Task {path}")
        except Fault as error:
            if not isinstance(error.fault, vim.fault.FileNotFound):
                raise

    def resize(self, disk_id: str, size: int) -> int:
        """Make a disk at least `size` bytes large and return its new size.

        Raises:
            DiskNotFound: there is no such disk.
            CloudFailed: a machine holds it: such a disk is not grown.
        """
        place = self._datastores.of_disk(disk_id)
        held = self._datastores.size_of(place, disk_id) if place is not None else None
        if place is None or held is None:
            raise DiskNotFound(f"disk {disk_id!r} not found")
        if held >= size:
            return held
        path, wanted = plain_path(disk_id), -(-size // KIB)
        manager = self._vcenter.content.virtualDiskManager
        task = manager.ExtendVirtualDisk_Task(path, place.datacenter, long(wanted), False)
        self._vcenter.done(task, f"ExtendVirtualDisk_Task {path}")
        return wanted * KIB

    def attach(self, disk_id: str, node: Object, *, read_only: bool = False) -> str:
        """Attach a disk to a node's machine and return the device path that the machine sees.

        Raises:
            DiskNotFound, InstanceNotFound: there is no such disk or machine.
            DiskAttachedElsewhere: another machine has it.
        """
        uuid = self._uuid(disk_id)
        if uuid is None:
            raise DiskNotFound(f"disk {disk_id!r} not found")
        machine = self._machines.need(node)
        devices = _devices(machine)
        if devices is None:
            raise InstanceNotFound(f"instance of node {name_of(node)!r} not found")
        path = plain_path(disk_id)
        if _held(devices, path, uuid) is None:
            change = attaching(devices, path, self._controller)
            try:
                self._reconfigured(machine, change)
            except Fault as error:
                if isinstance(error.fault, vim.fault.FileLocked) or _LOCKED.search(str(error)):
                    raise DiskAttachedElsewhere(f"disk {disk_id!r} is held by another machine: {error}") from error
                raise
        return DEVICE.format(uuid)

    def detach(self, disk_id: str, node_name: NodeName) -> None:
        """Detach it from a node's machine; no error if it is not attached there, or either is gone."""
        machine = self._machines.named(node_name)
        devices = _devices(machine) if machine is not None else None
        if machine is None or devices is None:
            return
        held = _held(devices, plain_path(disk_id), self._uuid(disk_id) or "")
        if held is not None:
            self._reconfigured(machine, detaching(held))

    def attached(self, disk_ids: Sequence[str], node_name: NodeName) -> Mapping[str, bool]:
        """Tell of each disk whether the node's machine has it; of none if the machine is gone."""
        machine = self._machines.named(node_name)
        devices = (_devices(machine) if machine is not None else None) or []
        return {each: self._is_among(devices, each) for each in disk_ids}

    def _is_among(self, devices: Sequence[Any], disk_id: str) -> bool:
        """Tell whether one of the devices is that disk; asked by uuid only where the path is not there as it stands."""
        if _held(devices, plain_path(disk_id), "") is not None:
            return True
        uuid = self._uuid(disk_id) if disks_of(devices) else None
        return uuid is not None and _held(devices, "", uuid) is not None

    def labels(self, volume: Object) -> dict[str, str]:
        """Return the zone and the region of a persistent volume's disk.

        Raises:
            DiskNotFound: there is no such disk.
        """
        source = (volume.get("spec") or {}).get("vsphereVolume") or {}
        disk_id = str(source.get("volumePath", ""))
        place = self._datastores.of_disk(disk_id)
        if place is None or self._datastores.size_of(place, disk_id) is None:
            raise DiskNotFound(f"could not find the datastore for volume: {disk_id}")
        return self._zones.labels_of(self._vcenter, ident(place.ref))

    def _uuid(self, disk_id: str) -> str | None:
        """Return a disk's uuid, None if there is no such disk."""
        place = self._datastores.of_disk(disk_id)
        if place is None:
            return None
        manager = self._vcenter.content.virtualDiskManager
        try:
            found = plain_uuid(str(manager.QueryVirtualDiskUuid(plain_path(disk_id), place.datacenter) or ""))
        except Fault as error:
            if isinstance(error.fault, vim.fault.FileNotFound):
                return None
            raise
        if not found:
            raise CloudFailed(f"the vCenter does not tell the uuid of disk {disk_id!r}")
        return found

    def _reconfigured(self, machine: Machine, change: Any) -> None:
        task = machine.ref.ReconfigVM_Task(change)
        machine.vcenter.done(task, f"ReconfigVM_Task {ident(machine.ref)}")

    def _disk(self, place: Datastore, path: str, size: int, named: str) -> Disk:
        """Return a disk by its id: with the cluster of its datastore, if a class names that."""
        parts = split_path(path)
        shown = f"[{named}] {parts[1]}" if parts and "/" in named else path
        labels = self._zones.labels_of(self._vcenter, ident(place.ref))
        return Disk(id=shown, size=size, labels=labels)


def _path_on(place: Datastore, name: str) -> str:
    return f"[{place.name}] {FOLDER}/{name}.vmdk"


def _devices(machine: Machine) -> list[Any] | None:
    """Return what a machine has, None if it is gone."""
    try:
        return list(machine.vcenter.properties(machine.ref, DEVICES).get(DEVICES) or ())
    except ObjectGone:
        return None


def _held(devices: Sequence[Any], path: str, uuid: str) -> Any:
    """Return the device that is a disk: by its path, or by its uuid, since a vCenter may write the folder otherwise."""
    disks = disks_of(devices)
    return next((each for each in disks if file_of(each) == path or (uuid and disk_uuid_of(each) == uuid)), None)
