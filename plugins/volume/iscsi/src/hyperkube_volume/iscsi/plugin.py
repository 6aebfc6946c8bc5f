"""The steps of an iscsi volume. Source: kubernetes ``pkg/volume/iscsi/{iscsi,attacher}.go``."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hyperkube_lib.volume_mount import HostPrograms, Mounter, format_and_mount
from hyperkube_volume.iscsi.disk import Disk, disk_of, disks_below, load, record_of, save
from hyperkube_volume.iscsi.initiator import Initiator

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import (
    DeviceRequest,
    MountedVolume,
    VolumeFailed,
    VolumeRequest,
    Volumes,
    VolumeSpec,
)
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.plugin import Plugin

_ACCESS = ("ReadWriteOnce", "ReadOnlyMany")


class IscsiVolumes:
    """Logs in and mounts; see `Attachable`, `DeviceMountable`, `BlockMappable`, `Persistent` and `Reconstructable`.

    That a volume is attached says no more than which node is to log in: the target is not asked.
    """

    def __init__(self, mounter: Mounter, initiator: Initiator) -> None:
        self._mounter = mounter
        self._initiator = initiator
        self._detached: set[tuple[str, str]] = set()

    def supports(self, volume: Object) -> bool:
        """Handle ``iscsi``."""
        return "iscsi" in volume

    def access_modes(self) -> Sequence[str]:
        """Return those of a disk."""
        return _ACCESS

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return portal, target and LUN."""
        disk = disk_of(spec.volume, spec.name)
        return f"{disk.portals[0]}:{disk.iqn}:{disk.lun}"

    # attaching

    def can_attach(self, spec: VolumeSpec) -> bool:
        """All are."""
        del spec
        return True

    def attach(self, spec: VolumeSpec, node: Object) -> str:
        """Let the node log in."""
        self._detached.discard((self.volume_name(spec), name_of(node)))
        return ""

    def volumes_are_attached(self, specs: Sequence[VolumeSpec], node: Object) -> Mapping[str, bool]:
        """Tell of those that were not detached here."""
        return {spec.name: (self.volume_name(spec), name_of(node)) not in self._detached for spec in specs}

    def wait_for_attach(self, spec: VolumeSpec, device: str, pod: Object, node: Object) -> str:
        """Wait for nothing: the login takes the secrets that come with the mount."""
        del spec, pod, node
        return device

    def detach(self, volume_name: str, node_name: str) -> None:
        """Let the node log in no more; it has logged out when it unmounted."""
        self._detached.add((volume_name, node_name))

    # the node

    def can_device_mount(self, spec: VolumeSpec) -> bool:
        """All are, but those that pods get as devices."""
        return not spec.is_block

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
        options = [*(("ro",) if read_only else ()), *request.spec.mount_options]
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

    def setup(self, request: VolumeRequest) -> str:
        """Show the mounted disk to a pod."""
        if self._mounter.is_mount_point(request.path):
            return request.path
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        options = ["bind", *(("ro",) if request.spec.read_only or request.read_only else ())]
        try:
            self._mounter.mount(request.device_mount_path, request.path, options=options)
        except VolumeFailed:
            self._mounter.clean_up(request.path)
            raise
        return request.path

    def teardown(self, mounted: MountedVolume) -> None:
        """Take it away again."""
        self._mounter.clean_up(mounted.path)

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
