"""local: a folder of one node; and the provisioner that makes such folders for claims, without any privilege.

A path that is a device is mounted once on its node, or given to pods as it is. A storage class with the provisioner
``hyperkube.dev/local-path`` gets folders below ``--local-path-dir`` of the controller manager, which has to run on the
machine of the pods, as it does under ``hyperkube up``. Sizes are noted, not enforced.

Source of the ``local`` kind: kubernetes ``pkg/volume/local/local.go``.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from hyperkube_lib.volume_mount import Mounter, format_and_mount

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import DeviceRequest, MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.hookspecs.volume_storage import ProvisionRequest
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

HOSTNAME = "kubernetes.io/hostname"


class LocalFolders:
    """Passes folders and devices of the node on, and makes folders.

    See `Volumes`, `DeviceMountable`, `BlockMappable`, `Provisionable` and `Deletable`.
    """

    def __init__(self, base: Path | None = None, mounter: Mounter | None = None) -> None:
        """Make folders below `base`; without one this only mounts."""
        self._base = base
        self._mounter = mounter or Mounter()

    def supports(self, volume: Object) -> bool:
        """Handle ``local``."""
        return "local" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Return the folder, or where its device is mounted.

        Raises:
            VolumeFailed: it is not on this node.
        """
        return request.device_mount_path or str(_present(request.volume))

    def teardown(self, mounted: MountedVolume) -> None:
        """Leave the folder: it outlives the pod."""

    def can_device_mount(self, spec: VolumeSpec) -> bool:
        """Tell whether the path is a device with a file system to mount."""
        return not spec.is_block and Path(spec.volume["local"]["path"]).is_block_device()

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return the PersistentVolume's name."""
        return spec.name

    def device_mount_path(self, spec: VolumeSpec, plugin_dir: str) -> str:
        """Return where a device is mounted."""
        return str(Path(plugin_dir) / "mounts" / spec.name)

    def mount_device(self, request: DeviceRequest) -> None:
        """Mount the device, with a file system if it is empty.

        Raises:
            VolumeFailed: it cannot be mounted.
        """
        if self._mounter.is_mount_point(request.path):
            return
        Path(request.path).mkdir(parents=True, exist_ok=True)
        volume = request.spec.volume
        options = [*(("ro",) if request.spec.read_only else ()), *request.spec.mount_options]
        device, fs_type = str(_present(volume)), volume["local"].get("fsType") or ""
        format_and_mount(self._mounter, device, request.path, fs_type, options)

    def unmount_device(self, path: str) -> None:
        """Unmount the device.

        Raises:
            VolumeFailed: it is in use.
        """
        self._mounter.clean_up(path)

    def map_device(self, request: DeviceRequest) -> str:
        """Return the device.

        Raises:
            VolumeFailed: the path is none.
        """
        path = _present(request.spec.volume)
        if not path.is_block_device():
            raise VolumeFailed(f'path "{path}" is not a block device')
        return str(path)

    def unmap_device(self, mounted: MountedVolume) -> None:
        """Leave the device."""

    def access_modes(self) -> Sequence[str]:
        """Return the one mode: kubernetes allows no other."""
        return ("ReadWriteOnce",)

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return a spec without the folder: unmounting needs the name alone."""
        meta = {"metadata": {"name": mounted.name}}
        return VolumeSpec(volume={"name": mounted.name, "local": {"path": ""}}, persistent_volume=meta)

    def supports_mount_option(self) -> bool:
        """Take a class's mount options: they are those of the bind mount."""
        return True

    def provision(self, request: ProvisionRequest) -> Object:
        """Make a folder and return the volume of it.

        Raises:
            VolumeFailed: the claim asks for a block device, or the folder cannot be made.
        """
        spec = request.claim.get("spec") or {}
        if spec.get("volumeMode") == "Block":
            raise VolumeFailed("a folder is no block device")
        path = self._root() / request.name
        try:
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(0o777)
        except OSError as error:
            raise VolumeFailed(f"cannot make {str(path)!r}: {error.strerror}") from error
        node = request.node_name
        where = {"operator": "In", "values": [node]} if node else {"operator": "Exists"}
        return {
            "metadata": {},
            "spec": {
                "capacity": {"storage": spec["resources"]["requests"]["storage"]},
                "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
                "volumeMode": "Filesystem",
                "local": {"path": str(path)},
                "nodeAffinity": {
                    "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOSTNAME, **where}]}]}
                },
            },
        }

    def delete(self, volume: Object) -> None:
        """Remove the folder of a volume, provided that it is one that was made here.

        Raises:
            VolumeFailed: the volume is of another folder, or it cannot be removed.
        """
        path = Path(((volume.get("spec") or {}).get("local") or {}).get("path", ""))
        if path != self._root() / name_of(volume) or not name_of(volume).startswith("pvc-"):
            raise VolumeFailed(f"{str(path)!r} was not made by this provisioner")
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise VolumeFailed(f"cannot remove {str(path)!r}: {error.strerror}") from error

    def _root(self) -> Path:
        if self._base is None:
            raise VolumeFailed("--local-path-dir does not say where to make volumes")
        return self._base


def _present(volume: Object) -> Path:
    path = Path(volume["local"]["path"])
    if not path.exists():
        raise VolumeFailed(f'path "{path}" does not exist')
    return path


class LocalPathSettings(Record):
    """Settings of the local volumes.

    Attributes:
        local_path_dir: the folder below which volumes are made for claims; empty to make none.
    """

    local_path_dir: str = ""


class LocalPath(Plugin):
    """The local volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        base = self.settings(LocalPathSettings).local_path_dir
        return LocalFolders(Path(base).absolute() if base else None)
