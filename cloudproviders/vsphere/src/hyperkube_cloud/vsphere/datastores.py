"""Datastores: which one a disk is made on, and what is on them.

Source: kubernetes ``legacy-cloud-providers/vsphere/vsphere.go`` (CreateVolume), ``vsphere_util.go``
(FindDatastoreByName, getMostFreeDatastore), ``vclib/datastore.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hyperkube_cloud.vsphere.disk_options import DiskOptions, split_path
from hyperkube_cloud.vsphere.policies import Policies
from hyperkube_cloud.vsphere.soap import Fault
from hyperkube_cloud.vsphere.vcenter import VCenter, ident
from hyperkube_cloud.vsphere.zones import Zones
from pyVmomi import vim

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable
from hyperkube.machinery.dataclass import dataclass

_WAYS: Final = {
    "folder": (vim.Folder, "childEntity", ("folder", "datacenter")),
    "datacenter": (vim.Datacenter, "datastore", ()),
}
_KIB: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Datastore:
    """A datastore, its datacenter, and its bytes that are free."""

    ref: Any
    datacenter: Any
    name: str
    free: int
    kind: str
    browser: Any


class Datastores:
    """Finds datastores of the vCenter that disks are made in."""

    def __init__(self, vcenter: VCenter, datacenter: str, default: str, zones: Zones, policies: Policies) -> None:
        self._vcenter, self._datacenter, self._default = vcenter, datacenter, default.strip()
        self._zones, self._policies = zones, policies

    def all(self) -> list[Datastore]:
        """Return those that can be reached now, the workspace's own datacenter first."""
        wanted = {
            vim.Datacenter: ("name", "datastore"),
            vim.Datastore: ("name", "browser", "summary.freeSpace", "summary.type", "summary.accessible"),
        }
        datacenter_of: dict[str, Any] = {}
        first: str = ""
        told: list[tuple[Any, dict[str, Any]]] = []
        for ref, properties in self._vcenter.walk(self._vcenter.content.rootFolder, _WAYS, wanted):
            if isinstance(ref, vim.Datacenter):
                datacenter_of |= {ident(each): ref for each in properties.get("datastore") or ()}
                if properties.get("name") == self._datacenter.strip("/").rpartition("/")[2]:
                    first = first or ident(ref)
            else:
                told.append((ref, properties))
        made = [
            Datastore(
                ref=ref,
                datacenter=datacenter_of[ident(ref)],
                name=str(row.get("name", "")),
                free=int(row.get("summary.freeSpace") or 0),
                kind=str(row.get("summary.type", "")),
                browser=row.get("browser"),
            )
            for ref, row in told
            if ident(ref) in datacenter_of and row.get("summary.accessible")
        ]
        return sorted(made, key=lambda each: (ident(each.datacenter) != first, each.name))

    def candidates(self, wanted: DiskOptions, zone: str) -> list[Datastore]:
        """Return the datastores that a disk may be made on, the best one first.

        A datastore is named, or the default one; else a storage policy or a zone says which will do, and the one with
        most space is taken.

        Raises:
            CloudFailed: there is none.
        """
        found = self.all()
        chosen = "" if zone and not wanted.datastore else (wanted.datastore or ("" if wanted.policy else self._default))
        if chosen:
            found = [each for each in found if each.name == chosen.rpartition("/")[2]]
            if not found:
                raise CloudFailed(f"Datastore {chosen!r} not found")
        elif not (zone or wanted.policy):
            raise CloudFailed("no datastore is named: neither by the StorageClass nor as default-datastore")
        if zone:
            zones = [each.strip() for each in zone.split(",")]
            held = self._zones.datastores_of(self._vcenter, zones)
            found = [each for each in found if ident(each.ref) in held]
            if not found and chosen:
                raise CloudFailed(f"The specified datastore {chosen} does not match the provided zones : {zones}")
            if not found:
                raise CloudFailed(f"Failed to find a shared datastore matching zone {zones}")
        if wanted.policy:
            found = self._policies.compatible(wanted.policy, found, lambda each: each.ref)
        if wanted.vsan:
            found = [each for each in found if each.kind == "vsan"]
            if not found:
                raise CloudFailed(
                    f"the specified datastore: {chosen!r} is not a VSAN datastore. the policy parameters will work "
                    "only with VSAN Datastore. so, please specify a valid VSAN datastore in Storage class definition"
                )
        return found[:1] if chosen else sorted(found, key=lambda each: (-each.free, each.name))

    def of_disk(self, disk_id: str) -> Datastore | None:
        """Return the datastore that a disk's path names, None if there is none."""
        parts = split_path(disk_id)
        return next((each for each in self.all() if parts is not None and each.name == parts[0]), None)

    def size_of(self, datastore: Datastore, disk_id: str) -> int | None:
        """Return the bytes of a disk, None if there is none of that path."""
        parts = split_path(disk_id)
        if parts is None:
            return None
        folder, _, file = parts[1].rpartition("/")
        query = vim.host.DatastoreBrowser.VmDiskQuery
        asked = vim.host.DatastoreBrowser.SearchSpec(
            query=[query(details=query.Details(diskType=False, capacityKb=True, hardwareVersion=False))],
            details=vim.host.DatastoreBrowser.FileInfo.Details(
                fileType=True, fileSize=False, modification=False, fileOwner=False
            ),
            matchPattern=[file],
        )
        where = f"[{datastore.name}] {folder}".rstrip()
        try:
            task = datastore.browser.SearchDatastore_Task(where, asked)
            found = self._vcenter.done(task, f"SearchDatastore_Task {where}")
        except Fault as error:
            if isinstance(error.fault, vim.fault.FileNotFound):
                return None
            raise
        if not isinstance(found, vim.host.DatastoreBrowser.SearchResults):
            raise CloudUnavailable(f"SearchDatastore_Task {where}: answered with what is no list of files")
        rows: Sequence[Any] = [each for each in found.file or () if each.path == file]
        return int(getattr(rows[0], "capacityKb", None) or 0) * _KIB if rows else None

    def make_folder(self, datastore: Datastore, folder: str) -> None:
        """Make a folder; no error if it is there."""
        try:
            self._vcenter.content.fileManager.MakeDirectory(f"[{datastore.name}] {folder}", datastore.datacenter, False)
        except Fault as error:
            if not isinstance(error.fault, vim.fault.FileAlreadyExists):
                raise
