"""What kinds of volumes have in common that are disks behind a network, which a node reaches by itself.

Source: kubernetes ``pkg/volume/iscsi/attacher.go`` and ``pkg/volume/fc/attacher.go``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from hyperkube_lib.volume_mount.mounter import Mounter

from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, VolumeSpec
from hyperkube.machinery.objects import Object, name_of

_ACCESS = ("ReadWriteOnce", "ReadOnlyMany")


class NetworkDisks(ABC):
    """Disks that are mounted for the node once, and shown to each pod; see `Attachable` and `DeviceMountable`.

    That a volume is attached says no more than which node is to use it: no storage is asked.
    """

    def __init__(self, mounter: Mounter) -> None:
        self._mounter = mounter
        self._detached: set[tuple[str, str]] = set()

    @abstractmethod
    def volume_name(self, spec: VolumeSpec) -> str:
        """Return what names the disk, whichever volume it is of."""

    def access_modes(self) -> Sequence[str]:
        """Return those of a disk."""
        return _ACCESS

    def can_attach(self, spec: VolumeSpec) -> bool:
        """All are."""
        del spec
        return True

    def attach(self, spec: VolumeSpec, node: Object) -> str:
        """Let the node use it."""
        self._detached.discard((self.volume_name(spec), name_of(node)))
        return ""

    def volumes_are_attached(self, specs: Sequence[VolumeSpec], node: Object) -> Mapping[str, bool]:
        """Tell of those that were not detached here."""
        return {spec.name: (self.volume_name(spec), name_of(node)) not in self._detached for spec in specs}

    def detach(self, volume_name: str, node_name: str) -> None:
        """Let the node use it no more; what it did for it, it has undone when it unmounted."""
        self._detached.add((volume_name, node_name))

    def can_device_mount(self, spec: VolumeSpec) -> bool:
        """All are, but those that pods get as devices."""
        return not spec.is_block

    def supports_selinux_context_mount(self, spec: VolumeSpec) -> bool:
        """All can."""
        del spec
        return True

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
