"""nfs: an export of an NFS server, mounted in the pod's folder.

The data is the server's: nothing of it goes when the pod or the volume does. What the server does not allow, ``mount``
says, and the pod's event with it.
Source: kubernetes ``pkg/volume/nfs/nfs.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hyperkube_lib.volume_mount import Mounter

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["Nfs"]

_ACCESS = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")


def export_of(volume: Object) -> str:
    """Return what is mounted: ``server:/path``, an IPv6 address in brackets."""
    source = volume["nfs"]
    server = str(source.get("server") or "")
    if ":" in server and not server.startswith("["):
        server = f"[{server}]"
    return f"{server}:{source.get('path') or ''}"


class NfsVolumes:
    """Mounts exports; see `Volumes`, `Persistent` and `Reconstructable`."""

    def __init__(self, mounter: Mounter | None = None) -> None:
        """Mount with the machine's programs unless others are given."""
        self._mounter = mounter or Mounter()

    def supports(self, volume: Object) -> bool:
        """Handle ``nfs``."""
        return "nfs" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Mount the export; what failed half-way is undone.

        Raises:
            VolumeFailed: with the words of ``mount``.
        """
        if self._mounter.is_mount_point(request.path):
            return request.path
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        spec = request.spec
        read_only = spec.read_only or request.read_only
        options = [*(("ro",) if read_only else ()), *spec.mount_options]
        try:
            self._mounter.mount(export_of(request.volume), request.path, "nfs", options)
        except VolumeFailed:
            self._mounter.clean_up(request.path)
            raise
        return request.path

    def teardown(self, mounted: MountedVolume) -> None:
        """Unmount it.

        Raises:
            VolumeFailed: it is busy.
        """
        self._mounter.clean_up(mounted.path)

    def access_modes(self) -> Sequence[str]:
        """Return those of a file system that many nodes mount."""
        return _ACCESS

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return a spec without the export: unmounting needs the folder alone."""
        return VolumeSpec(volume={"name": mounted.name, "nfs": {"server": "", "path": ""}})


class Nfs(Plugin):
    """The nfs volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return NfsVolumes()
