"""The steps of an iscsi volume. Source: kubernetes ``pkg/volume/iscsi/{iscsi,attacher}.go``."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

from hyperkube_lib.volume_mount import HostPrograms, Mounter, NetworkDisks, format_and_mount, record_of, selinux_options
from hyperkube_volume.iscsi.disk import Disk, disk_of, disks_below, load, save
from hyperkube_volume.iscsi.initiator import Initiator

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import (
    DeviceRequest,
    MountedVolume,
    VolumeFailed,
    Volumes,
    VolumeSpec,
)
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, namespace_of
from hyperkube.plugin import Plugin


class IscsiVolumes(NetworkDisks):
    """Logs in and mounts; see `NetworkDisks`, `BlockMappable`, `Persistent` and `Reconstructable`."""

    def __init__(self, mounter: Mounter, initiator: Initiator) -> None:
        super().__init__(mounter)
        self._initiator = initiator

    def supports(self, volume: Object) -> bool:
        """Handle ``iscsi``."""
        return "iscsi" in volume

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return portal, target and LUN."""
        disk = disk_of(spec.volume, spec.name)
        return f"{disk.portals[0]}:{disk.iqn}:{disk.lun}"

    # attaching

    def wait_for_attach(self, spec: VolumeSpec, device: str, pod: Object, node: Object) -> str:
        """Wait for nothing: the login takes the secrets that come with the mount."""
        del spec, pod, node
        return device

    # the node

    def device_mount_path(self, spec: VolumeSpec, plugin_dir: str) -> str:
        """Return the folder of the disk."""
        disk = disk_of(spec.volume, spec.name)
        return str(Path(plugin_dir) / f"iface-{disk.iface}" / disk.folder)

    def mount_device(self, request: DeviceRequest) -> None:
        """Log in, format an empty disk, and mount it."""
        if self._mounter.is_mount_point(request.path):
            return
        disk, device = self._login(request, Path(request.path))
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        read_only = request.spec.read_only or bool(request.spec.volume["iscsi"].get("readOnly"))
        options = [
            *(("ro",) if read_only else ()),
            *selinux_options(request.selinux_label),
            *request.spec.mount_options,
        ]
        fs_type = str(request.spec.volume["iscsi"].get("fsType") or "")
        try:
            format_and_mount(self._mounter, device, request.path, fs_type, options)
        except VolumeFailed:
            self._logout(disk, Path(request.path))
            raise

    def unmount_device(self, path: str) -> None:
        """Unmount the disk, and log out if it was the last of its target."""
        while self._mounter.is_mount_point(path):
            self._mounter.unmount(path)
        disk = load(Path(path))
        if disk is not None:
            self._logout(disk, Path(path))

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return the disk whose folder the pod's is a bind mount of.

        Raises:
            VolumeFailed: there is none.
        """
        for disk in disks_below(Path(mounted.plugin_dir)).values():
            if disk.name == mounted.name:
                portal, *others = disk.portals
                source = {"targetPortal": portal, "portals": others, "iqn": disk.iqn, "lun": int(disk.lun)}
                source |= {"iscsiInterface": disk.iface, "initiatorName": disk.initiator}
                return VolumeSpec(volume={"name": mounted.name, "iscsi": source})
        raise VolumeFailed(f"no iscsi disk of volume {mounted.name} is known here")

    # devices

    def map_device(self, request: DeviceRequest) -> str:
        """Log in; the device is as it is."""
        return self._login(request, Path(request.path))[1]

    def unmap_device(self, mounted: MountedVolume) -> None:
        """Log out if it was the last of its target."""
        disk = load(Path(mounted.path))
        if disk is not None:
            self._logout(disk, Path(mounted.path))

    def _login(self, request: DeviceRequest, folder: Path) -> tuple[Disk, str]:
        disk = disk_of(request.spec.volume, request.spec.name)
        secret = _secret(request)
        # The record comes first: whatever happens, a later kubelet knows where to log out.
        save(disk, folder)
        try:
            return disk, self._initiator.attach(disk, secret)
        except VolumeFailed:
            record_of(folder).unlink(missing_ok=True)
            raise

    def _logout(self, disk: Disk, folder: Path) -> None:
        others = [each for place, each in disks_below(folder.parent.parent).items() if place != folder]
        self._initiator.detach(disk, others)
        record_of(folder).unlink(missing_ok=True)
        if not folder.is_dir():
            return
        try:
            folder.rmdir()  # never what is in it: that would be a disk that is mounted still
        except OSError as error:
            raise VolumeFailed(f"remove {folder}: {(error.strerror or '').lower()}") from error


def _secret(request: DeviceRequest) -> dict[str, str]:
    """Return the CHAP secret of a volume, empty if it names none.

    Raises:
        VolumeFailed: it is not there.
    """
    source = request.spec.volume["iscsi"]
    reference, wants = source.get("secretRef"), source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    if not reference:
        if wants:
            raise VolumeFailed("iscsi: CHAP is asked for, but the volume names no secret")
        return {}
    get: Callable[[str, str], Object] = request.get_secret
    namespace, name = reference.get("namespace") or namespace_of(request.pod), reference["name"]
    try:
        data = get(namespace, name).get("data") or {}
    except ApiError as error:
        raise VolumeFailed(f"couldn't get secret {namespace}/{name}: {error.message}") from error
    return {key: base64.b64decode(value).decode() for key, value in data.items()}


class Iscsi(Plugin):
    """The iscsi volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        programs = HostPrograms()
        return IscsiVolumes(Mounter(programs), Initiator(programs, self.context.clock.sleep))
