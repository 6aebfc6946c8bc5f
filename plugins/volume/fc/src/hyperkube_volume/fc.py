"""fc: a LUN of a Fibre Channel target, which the node's adapters see; formatted once and mounted for its pods.

Source: kubernetes ``pkg/volume/fc`` (fc.go, fc_util.go, attacher.go).
"""

from __future__ import annotations

import re
from pathlib import Path

from hyperkube_lib.volume_mount import (
    Mounter,
    NetworkDisks,
    format_and_mount,
    multipath_of,
    paths_of,
    read_record,
    record_of,
    selinux_options,
    write_record,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import (
    DeviceRequest,
    MountedVolume,
    VolumeFailed,
    Volumes,
    VolumeSpec,
)
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["Fc"]

_NONE = "fc: no fc disk information found. failed to make a new mounter"


def _has_target(source: Object) -> bool:
    return bool(source.get("targetWWNs")) and source.get("lun") is not None


def names_of(volume: Object) -> tuple[str, ...]:
    """Return what a disk is called in the kernel's folders: ``WWN-lun-N`` for each target, or its ids.

    Raises:
        VolumeFailed: the volume names no disk.
    """
    source = volume["fc"]
    if _has_target(source):
        return tuple(f"{wwn}-lun-{source['lun']}" for wwn in source["targetWWNs"])
    if source.get("wwids"):
        return tuple(str(each) for each in source["wwids"])
    raise VolumeFailed(_NONE)


class Disks:
    """The disks that the node's adapters see, below `root`."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def find(self, volume: Object) -> str:
        """Return the device of a volume; the adapters look again once if they do not show it.

        Raises:
            VolumeFailed: they see no such disk.
        """
        names = names_of(volume)
        find = self._by_path if _has_target(volume["fc"]) else self._by_id
        for is_rescanned in (False, True):
            if is_rescanned:
                self._rescan()
            found = [device for name in names if (device := find(name))]
            if found:
                return next((dm for device in found if (dm := multipath_of(device, self._root))), found[0])
        raise VolumeFailed("no fc disk found")

    def remove(self, device: str) -> None:
        """Have the kernel forget a disk, with all paths to it.

        Raises:
            VolumeFailed: it cannot be told.
        """
        for name in paths_of(device, self._root):
            file = self._root / f"sys/block/{name}/device/delete"
            try:
                if file.exists():
                    file.write_text("1", encoding="utf-8")
            except OSError as error:
                raise VolumeFailed(f"fc: detach disk {name}: {error.strerror}") from error

    def _by_path(self, name: str) -> str:
        wanted = re.compile(f"(pci-.*-fc|fc)-0x{re.escape(name)}")
        return self._first("dev/disk/by-path", wanted)

    def _by_id(self, name: str) -> str:
        return self._first("dev/disk/by-id", re.compile(re.escape(f"scsi-{name.replace(' ', '_')}")))

    def _first(self, folder: str, wanted: re.Pattern[str]) -> str:
        paths = sorted((self._root / folder).glob("*"))
        return next((str(path.resolve()) for path in paths if wanted.fullmatch(path.name)), "")

    def _rescan(self) -> None:
        for file in sorted(self._root.glob("sys/class/scsi_host/*/scan")):
            try:
                file.write_text("- - -", encoding="utf-8")
            except OSError as error:
                raise VolumeFailed(f"fc: scan {file}: {error.strerror}") from error


class FcVolumes(NetworkDisks):
    """Finds and mounts; see `NetworkDisks`, `BlockMappable`, `Persistent` and `Reconstructable`."""

    def __init__(self, mounter: Mounter | None = None, disks: Disks | None = None) -> None:
        """Use the machine's programs and disks unless others are given."""
        super().__init__(mounter or Mounter())
        self._disks = disks or Disks()

    def supports(self, volume: Object) -> bool:
        """Handle ``fc``."""
        return "fc" in volume

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return targets and LUN, or the disk's ids, as Go prints them."""
        names_of(spec.volume)
        source = spec.volume["fc"]
        if _has_target(source):
            return f"[{' '.join(source['targetWWNs'])}]:{source['lun']}"
        return f"[{' '.join(source['wwids'])}]"

    # attaching

    def wait_for_attach(self, spec: VolumeSpec, device: str, pod: Object, node: Object) -> str:
        """Find the disk."""
        del device, pod, node
        return self._disks.find(spec.volume)

    # the node

    def device_mount_path(self, spec: VolumeSpec, plugin_dir: str) -> str:
        """Return the folder of the disk."""
        return str(Path(plugin_dir) / names_of(spec.volume)[0].replace("/", "~"))

    def mount_device(self, request: DeviceRequest) -> None:
        """Format an empty disk, and mount it."""
        if self._mounter.is_mount_point(request.path):
            return
        device, source = request.device or self._disks.find(request.spec.volume), request.spec.volume["fc"]
        _save(request, device)
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        read_only = request.spec.read_only or bool(source.get("readOnly"))
        options = [
            *(("ro",) if read_only else ()),
            *selinux_options(request.selinux_label),
            *request.spec.mount_options,
        ]
        try:
            format_and_mount(self._mounter, device, request.path, str(source.get("fsType") or ""), options)
        except VolumeFailed:
            self._mounter.clean_up(request.path)
            record_of(Path(request.path)).unlink(missing_ok=True)
            raise

    def unmount_device(self, path: str) -> None:
        """Unmount the disk, and have the kernel forget it."""
        self._mounter.clean_up(path)
        self._forget(Path(path))

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return the disk of a volume, as it was kept.

        Raises:
            VolumeFailed: none was.
        """
        plugin_dir = Path(mounted.plugin_dir)
        # Not below what is mounted: pods write there.
        for file in sorted([*plugin_dir.glob("*.json"), *plugin_dir.glob("volumeDevices/*.json")]):
            known = _load(file)
            if known is not None and known.get("name") == mounted.name:
                return VolumeSpec(volume={"name": mounted.name, "fc": known["fc"]})
        raise VolumeFailed(f"no fc disk of volume {mounted.name} is known here")

    # devices

    def map_device(self, request: DeviceRequest) -> str:
        """Give the device as it is."""
        device = request.device or self._disks.find(request.spec.volume)
        _save(request, device)
        return device

    def unmap_device(self, mounted: MountedVolume) -> None:
        """Have the kernel forget the disk."""
        self._forget(Path(mounted.path))

    def _forget(self, folder: Path) -> None:
        known = _load(record_of(folder))
        if known is not None:
            self._disks.remove(known["device"])
            record_of(folder).unlink(missing_ok=True)


def _save(request: DeviceRequest, device: str) -> None:
    """Keep beside the folder which disk it has: a later kubelet knows what to undo."""
    known = {"name": request.spec.name, "device": device, "fc": request.spec.volume["fc"]}
    write_record(record_of(Path(request.path)), known, "fc: create {file} err {error}")


def _load(file: Path) -> Object | None:
    return read_record(file, lambda known: known if isinstance(known, dict) else None, "fc: ")


class Fc(Plugin):
    """The fc volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return FcVolumes()
