"""Cleans up after pods that are gone, by what is on the disk: a kubelet that was killed has forgotten all else.

Source: kubernetes ``pkg/kubelet/volumemanager/reconciler/reconstruct.go``,
``pkg/kubelet/kubelet_volumes.go`` (cleanupOrphanedPodDirs).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from pathlib import Path

from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.volumemanager.mount_volume import VolumeMounter
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume, PodVolumes, pod_volume
from hyperkube_host.kubelet.volumemanager.sub_paths import SubPathMounts
from hyperkube_lib.volume_mount import mount_table, mounts_below

from hyperkube.hookspecs.volume import (
    BlockMappable,
    DeviceMountable,
    MountedVolume,
    Reconstructable,
    VolumeFailed,
    Volumes,
    VolumeSpec,
)

_log = logging.getLogger("hyperkube.kubelet.volumes")


class Reconstruction:
    """Finds volumes on the disk and undoes them."""

    def __init__(
        self, directories: KubeletDirectories, volumes: PodVolumes, mounter: VolumeMounter, sub_paths: SubPathMounts
    ) -> None:
        self._directories = directories
        self._volumes = volumes
        self._mounter = mounter
        self._sub_paths = sub_paths

    def find(self, uid: str) -> Iterator[PodVolume]:
        """Yield the volumes of which a pod's folder shows something."""
        for plugin_name, name, path in self._directories.volume_folders(uid):
            yield from self._reconstructed(plugin_name, name, uid, path, is_block=False)
        for plugin_name, name, path in self._directories.device_links(uid):
            yield from self._reconstructed(plugin_name, name, uid, path, is_block=True)

    def _reconstructed(
        self, plugin_name: str, name: str, uid: str, path: Path, *, is_block: bool
    ) -> Iterator[PodVolume]:
        plugin = self._volumes.plugin(plugin_name)
        if plugin is None:
            _log.warning("no plugin %s to clean up volume %s of pod %s", plugin_name, name, uid)
            return
        folder = str(self._directories.plugin(plugin_name))
        mounted = MountedVolume(name=name, pod_uid=uid, path=str(path), plugin_dir=folder)
        spec = _spec_of(plugin, mounted, is_block=is_block)
        yield pod_volume(name, plugin_name, plugin, spec, uid)

    def clean_up(self, uid: str) -> bool:
        """Undo all volumes of a pod that is gone and remove its folder; tell whether nothing is left."""
        problems = []
        try:
            self._sub_paths.clean(uid)
            self._mounter.unmount_left(uid)
            for volume in self.find(uid):
                self._mounter.unmount(uid, volume)
        except (VolumeFailed, OSError) as error:
            problems.append(str(error))
        folder = self._directories.pod(uid)
        problems += [f"{mount.path} is mounted" for mount in mounts_below(str(folder.absolute()), mount_table())]
        if problems:
            # What is mounted is never deleted: it may be data that the pod only borrowed.
            text = 'orphaned pod "%s" found, but failed to clean up its volumes, which are still there: %s'
            _log.warning(text, uid, "; ".join(problems))
            return False
        self._directories.remove_pod(uid)
        return True

    def unmount_unused_devices(self, used: Collection[str]) -> None:
        """Undo what was mounted for all pods of the node and is neither at nor below a path of `used`.

        A block device in use is known by its folder: what a driver mounts for it is below (``publish``, ``staging``).
        """
        in_use = [Path(path).absolute() for path in used]
        for mount in mounts_below(str(self._directories.plugins.absolute()), mount_table()):
            path = Path(mount.path)
            if any(path.is_relative_to(one) for one in in_use):
                continue
            try:
                self._unmount_unused(path)
            except (VolumeFailed, OSError) as error:
                _log.warning("%s could not be unmounted: %s", path, error)

    def _unmount_unused(self, path: Path) -> None:
        for name, plugin in self._volumes.plugins():
            folder, devices = self._directories.plugin(name).absolute(), self._directories.device_folder(name, "")
            if not path.is_relative_to(folder):
                continue
            below = path.relative_to(devices.absolute()).parts if path.is_relative_to(devices.absolute()) else ()
            if below and isinstance(plugin, BlockMappable):
                _log.info("%s is mounted, but no pod uses its device", path)
                device = str(self._directories.device_folder(name, below[0]))
                plugin.unmap_device(MountedVolume(name=below[0], pod_uid="", path=device, plugin_dir=str(folder)))
                return
            if not below and isinstance(plugin, DeviceMountable):
                _log.info("%s is mounted, but no pod uses it", path)
                plugin.unmount_device(str(path))
                return


def _spec_of(plugin: Volumes, mounted: MountedVolume, *, is_block: bool) -> VolumeSpec:
    """Return as much as the plugin can tell of a volume, else a spec of nothing but its name."""
    found = VolumeSpec(volume={"name": mounted.name})
    if isinstance(plugin, Reconstructable):
        try:
            found = plugin.construct_spec(mounted)
        except (VolumeFailed, OSError, ValueError) as error:
            _log.warning("volume %s of pod %s cannot be reconstructed: %s", mounted.name, mounted.pod_uid, error)
    if is_block:
        meta = found.persistent_volume or {"metadata": {"name": mounted.name}}
        return VolumeSpec(volume={**found.volume, "volumeMode": "Block"}, persistent_volume=meta)
    return found
