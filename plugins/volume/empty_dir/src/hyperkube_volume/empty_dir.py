"""emptyDir: a folder that begins empty and lives as long as its pod.

With ``medium: Memory`` it is a tmpfs of the size limit, with ``medium: HugePages`` a hugetlbfs. A kubelet that may not
mount takes a folder on ``/dev/shm`` instead of the tmpfs, and says so in an event, as that knows no limit of the pod.
Size limits of folders on disk are the eviction manager's to watch.

Source: kubernetes ``pkg/volume/emptydir/empty_dir.go``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hyperkube_lib.volume_mount import Mounter

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse
from hyperkube.plugin import Plugin

__all__ = ["EmptyDir"]

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  that is where the machine keeps files in memory
_LINK = "memory"
_ALL = 0o777
_HUGE_PAGES = "HugePages"
_HUGE_PAGES_RESOURCE = "hugepages-"


class EmptyFolders:
    """Makes empty folders; see `Volumes` and `Reconstructable`."""

    def __init__(
        self, memory: Path = SHARED_MEMORY, mounter: Mounter | None = None, *, may_mount: bool | None = None
    ) -> None:
        """Mount with `mounter` if that is allowed, else put folders with medium Memory under `memory`."""
        self._memory = memory
        self._mounter = mounter or Mounter()
        self._may_mount = os.geteuid() == 0 if may_mount is None else may_mount

    def supports(self, volume: Object) -> bool:
        """Handle ``emptyDir``."""
        return "emptyDir" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Return the folder, writable for every user of the pod.

        Raises:
            VolumeFailed: the medium is unknown or cannot be had.
        """
        path, medium = Path(request.path), str((request.volume["emptyDir"] or {}).get("medium") or "")
        path.mkdir(parents=True, exist_ok=True)
        if medium == "Memory":
            path = self._in_memory(request)
        elif medium.startswith(_HUGE_PAGES):
            self._mount_huge_pages(request, medium)
        elif medium:
            raise VolumeFailed(f'unknown storage medium "{medium}"')
        if path.stat().st_mode & _ALL != _ALL:  # a tmpfs has that and its sticky bit, which stays
            path.chmod(_ALL)
        return str(path)

    def _in_memory(self, request: VolumeRequest) -> Path:
        path = Path(request.path)
        link = path / _LINK
        if link.is_symlink():  # the kubelet could not mount when the pod started
            return link.readlink()
        problem = "the kubelet does not run as root"
        if self._may_mount:
            if self._mounter.is_mount_point(request.path):
                return path
            try:
                self._mounter.mount("tmpfs", request.path, "tmpfs", _tmpfs_options(request))
            except VolumeFailed as error:
                problem = " ".join(str(error).split())
            else:
                return path
        if not self._memory.is_dir():
            raise VolumeFailed(f"a file system in memory cannot be mounted: {problem}")
        text = f"volume {request.volume.get('name', '')!r} is in memory without a limit of its own: {problem}"
        request.record_event("Warning", "SizeLimitNotEnforced", text)
        link.symlink_to(tempfile.mkdtemp(prefix="hyperkube-", dir=self._memory))
        return link.readlink()

    def _mount_huge_pages(self, request: VolumeRequest, medium: str) -> None:
        option = f"pagesize={_page_size(request.pod, medium)}"
        if not self._mounter.is_mount_point(request.path):
            self._mounter.mount("nodev", request.path, "hugetlbfs", [option])

    def teardown(self, mounted: MountedVolume) -> None:
        """Remove the folder with what is in it.

        Raises:
            VolumeFailed: what is mounted there is busy.
        """
        link = Path(mounted.path) / _LINK
        if link.is_symlink() and link.readlink().parent == self._memory:
            shutil.rmtree(link.readlink(), ignore_errors=True)
        if self._may_mount:
            for mount in self._mounter.mounts_below(mounted.path):
                self._mounter.unmount(mount.path)
        shutil.rmtree(mounted.path, ignore_errors=True)

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return a spec of this kind."""
        return VolumeSpec(volume={"name": mounted.name, "emptyDir": {}})


def _tmpfs_options(request: VolumeRequest) -> list[str]:
    """Return the size that the file system may have: the limit, but not more than the pod may use of memory."""
    limits = [value for value in (_size_limit(request.volume), _memory_limit(request)) if value]
    return [f"size={min(limits)}"] if limits else []


def _size_limit(volume: Object) -> int:
    limit = (volume["emptyDir"] or {}).get("sizeLimit")
    return parse(str(limit)).value() if limit else 0


def _memory_limit(request: VolumeRequest) -> int:
    """Return the memory that all containers together may use; that of the node if one has no limit.

    Source: kubernetes ``pkg/volume/util/util.go`` (calculateEmptyDirMemorySize).
    """
    allocatable = ((request.node.get("status") or {}).get("allocatable") or {}).get("memory")
    of_node = parse(str(allocatable)).value() if allocatable else 0
    found = [(one.get("resources") or {}).get("limits", {}).get("memory") for one in _containers(request.pod)]
    if not found or not all(found):
        return of_node
    total = sum(parse(str(limit)).value() for limit in found)
    return min(total, of_node) if of_node else total


def _containers(pod: Object) -> Iterator[Object]:
    for field in ("containers", "initContainers"):
        yield from pod["spec"].get(field) or ()


def _page_size(pod: Object, medium: str) -> str:
    """Return the one size of huge pages that the pod's volumes of this medium have."""
    resources = [pod["spec"].get("resources") or {}, *((one.get("resources") or {}) for one in _containers(pod))]
    requests = [name for one in resources for name in {**(one.get("limits") or {}), **(one.get("requests") or {})}]
    sizes = {name.removeprefix(_HUGE_PAGES_RESOURCE) for name in requests if name.startswith(_HUGE_PAGES_RESOURCE)}
    wanted = medium.removeprefix(_HUGE_PAGES).removeprefix("-")
    if wanted:
        sizes = {size for size in sizes if parse(size) == parse(wanted)}
    elif len(sizes) > 1:
        raise VolumeFailed(f"medium: {medium} can't be used if container requests multiple huge page sizes")
    if not sizes:
        text = "hugePages storage requested, but there is no resource request for huge pages"
        raise VolumeFailed(f"medium {medium}: {text}")
    return str(sizes.pop())


class EmptyDir(Plugin):
    """The emptyDir volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return EmptyFolders()
