"""Disks by a storage policy, which only machines get: one that is never on gets the disk, gives it back, and goes.

Its name follows from the disk's, so that after a crash the same machine is found again and finished with.
Source: kubernetes ``legacy-cloud-providers/vsphere/vclib/diskmanagers/vmdm.go``.
"""

from __future__ import annotations

from typing import Any, Final

from hyperkube_cloud.vsphere.config import Workspace
from hyperkube_cloud.vsphere.datastores import Datastore
from hyperkube_cloud.vsphere.disk_options import DiskOptions, split_path
from hyperkube_cloud.vsphere.hardware import DEVICES, attaching, detaching, disks_of, file_of, new_controller
from hyperkube_cloud.vsphere.policies import Policies
from hyperkube_cloud.vsphere.soap import Fault, ObjectGone
from hyperkube_cloud.vsphere.vcenter import VCenter, long
from pyVmomi import vim

from hyperkube.hookspecs.cloud import CloudFailed

PREFIX: Final = "vsphere-k8s"
_CONTROLLER: Final = "pvscsi"
_CONTROLLER_KEY: Final = 1000
_EXTENSION: Final = "com.vmware.vim.sps"
_KIB: Final = 1024


def dummy_name(disk: str) -> str:
    """Return the name of the machine that makes a disk: FNV-1a of the disk's name, in 32 bits."""
    number = 0x811C9DC5
    for byte in disk.encode():
        number = ((number ^ byte) * 0x01000193) & 0xFFFFFFFF
    return f"{PREFIX}-{number}"


class DummyMachines:
    """Makes disks by policies."""

    def __init__(self, vcenter: VCenter, workspace: Workspace, policies: Policies) -> None:
        self._vcenter, self._workspace, self._policies = vcenter, workspace, policies

    def make_disk(self, name: str, place: Datastore, path: str, size: int, wanted: DiskOptions) -> None:
        """Make a disk as a policy wants it; no error if it is there.

        Raises:
            CloudFailed: the policy, the folder or the pool is not there, or the vCenter refuses.
        """
        profile = self._profile(wanted)
        machine = self._found(name) or self._made(name, place)
        change = vim.vm.device.VirtualDeviceSpec(
            fileOperation=vim.vm.device.VirtualDeviceSpec.FileOperation.create, profile=[profile]
        )
        spec = attaching(self._devices(machine), path, _CONTROLLER, more=change)
        disk = spec.deviceChange[-1].device
        disk.capacityInKB = long(size // _KIB)
        disk.backing.datastore = place.ref
        disk.backing.thinProvisioned = wanted.format == "thin"
        if wanted.format == "eagerZeroedThick":
            disk.backing.eagerlyScrub = True
        try:
            self._done(machine.ReconfigVM_Task(spec), "ReconfigVM_Task")
        except Fault as error:
            if not isinstance(error.fault, vim.fault.FileAlreadyExists):
                raise
        self._given_back(machine, path)

    def clean(self, name: str, _place: Datastore, path: str) -> None:
        """Let the machine that has made a disk go, if a crash has left it."""
        machine = self._found(name)
        if machine is not None:
            self._given_back(machine, path)

    def _given_back(self, machine: Any, path: str) -> None:
        """Take the disk out, and only then destroy the machine: it would take its disks along."""
        held = [each for each in disks_of(self._devices(machine)) if _is_file(file_of(each), path)]
        for disk in held:
            self._done(machine.ReconfigVM_Task(detaching(disk)), "ReconfigVM_Task")
        if disks_of(self._devices(machine)):
            raise CloudFailed(f"machine {PREFIX}-… has a disk that is not {path!r}: it is left alone")
        try:
            self._done(machine.Destroy_Task(), "Destroy_Task")
        except ObjectGone:
            return

    def _profile(self, wanted: DiskOptions) -> Any:
        if wanted.policy:
            return vim.vm.DefinedProfileSpec(profileId=self._policies.id_of(wanted.policy))
        raw = vim.vm.ProfileRawData(extensionKey=_EXTENSION, objectData=wanted.vsan)
        return vim.vm.DefinedProfileSpec(profileId="", profileData=raw)

    def _found(self, name: str) -> Any:
        path = f"{self._folder_path()}/{dummy_name(name)}"
        found = self._vcenter.content.searchIndex.FindByInventoryPath(path)
        return found if isinstance(found, vim.VirtualMachine) else None

    def _made(self, name: str, place: Datastore) -> Any:
        folder = self._vcenter.content.searchIndex.FindByInventoryPath(self._folder_path())
        if not isinstance(folder, vim.Folder):
            raise CloudFailed(f"the workspace's folder {self._workspace.folder!r} is not there")
        controller = new_controller(_CONTROLLER, 0, _CONTROLLER_KEY)
        spec = vim.vm.ConfigSpec(
            name=dummy_name(name),
            files=vim.vm.FileInfo(vmPathName=f"[{place.name}]"),
            numCPUs=1,
            memoryMB=long(4),
            deviceChange=[controller],
        )
        return self._done(folder.CreateVM_Task(spec, self._pool(), None), "CreateVM_Task")

    def _pool(self) -> Any:
        """Return the pool of the workspace, whose path begins with its cluster.

        Raises:
            CloudFailed: it is not there.
        """
        told = self._workspace.resourcepool_path.strip("/")
        datacenter = self._workspace.datacenter.strip("/")
        at = told if told.startswith(f"{datacenter}/") else f"{datacenter}/host/{told}"
        found = self._vcenter.content.searchIndex.FindByInventoryPath(at) if told else None
        if isinstance(found, vim.ComputeResource):
            found = self._vcenter.properties(found, "resourcePool").get("resourcePool")
        if not isinstance(found, vim.ResourcePool):
            raise CloudFailed(f"the workspace's resource pool {self._workspace.resourcepool_path!r} is not there")
        return found

    def _folder_path(self) -> str:
        folder, datacenter = self._workspace.folder.strip("/"), self._workspace.datacenter.strip("/")
        return folder if folder.startswith(f"{datacenter}/vm") else f"{datacenter}/vm/{folder}".rstrip("/")

    def _devices(self, machine: Any) -> list[Any]:
        return list(self._vcenter.properties(machine, DEVICES).get(DEVICES) or ())

    def _done(self, task: Any, what: str) -> Any:
        return self._vcenter.done(task, what)


def _is_file(one: str, other: str) -> bool:
    """Tell whether two paths are one disk: its name is its own, and a vCenter may write the folder by its id (vSAN)."""
    parts = [split_path(each) for each in (one, other)]
    names = {(part[0], part[1].rpartition("/")[2]) for part in parts if part is not None}
    return None not in parts and len(names) == 1
