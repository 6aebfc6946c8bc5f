"""quobyte: a volume of a Quobyte installation, out of the one mount that a node has of all its volumes.

The node mounts the registry once, in the folder of the kind. There ``USER#GROUP@VOLUME`` is a volume as these two see
it, whatever user a container runs as; it is shown to a pod by a bind mount. The mount for all stays: the next pod has
it. The data is Quobyte's, nothing of it goes when the pod or the volume does.
Source: kubernetes 1.20 ``pkg/volume/quobyte`` (quobyte.go, quobyte_util.go).
"""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Sequence
from pathlib import Path

from hyperkube_lib.volume_mount import Mounter

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["Quobyte"]

_ACCESS = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")
_USER, _GROUP = "root", "nfsnobody"
"""As whom a volume is seen that names none."""


def registry_of(volume: Object) -> str:
    """Return what is mounted for all: ``HOST:PORT,…/``.

    Raises:
        VolumeFailed: it would be an option of ``mount``.
    """
    registry = str(volume["quobyte"].get("registry") or "")
    if not registry or registry.startswith("-"):
        raise VolumeFailed(f"quobyte: registry {registry!r} must be a host:port pair or multiple pairs")
    return f"{posixpath.normpath(registry)}/"


def folder_of(volume: Object) -> str:
    """Return the name of a volume's folder below the mount: ``USER#GROUP@VOLUME``.

    Raises:
        VolumeFailed: it would lead out of the mount.
    """
    source = volume["quobyte"]
    name = f"{source.get('user') or _USER}#{source.get('group') or _GROUP}@{source.get('volume') or ''}"
    if "/" in name or "\0" in name or not source.get("volume"):
        raise VolumeFailed(f"quobyte: volume {name!r} must be the name of one, without '/'")
    return name


class QuobyteVolumes:
    """Shows volumes; see `Volumes`, `OwnsFiles`, `Persistent` and `Reconstructable`."""

    def __init__(self, mounter: Mounter | None = None) -> None:
        """Mount with the machine's programs unless others are given."""
        self._mounter = mounter or Mounter()
        self._lock = threading.Lock()

    def supports(self, volume: Object) -> bool:
        """Handle ``quobyte``."""
        return "quobyte" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Mount the registry if it is not, and show the pod its volume.

        Raises:
            VolumeFailed: with the words of ``mount``.
        """
        if self._mounter.is_mount_point(request.path):
            return request.path
        folder = folder_of(request.volume)
        self._mount_registry(request)
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        read_only = request.spec.read_only or request.read_only
        options = ["bind", *(("ro",) if read_only else ())]
        try:
            self._mounter.mount(f"{request.plugin_dir}/{folder}", request.path, options=options)
        except VolumeFailed:
            self._mounter.clean_up(request.path)
            raise
        return request.path

    def _mount_registry(self, request: VolumeRequest) -> None:
        # Two pods may be the first at a time. It is writable for all: what is read-only is a pod's bind mount.
        with self._lock:
            if self._mounter.is_mount_point(request.plugin_dir):
                return
            registry = registry_of(request.volume)
            Path(request.plugin_dir).mkdir(mode=0o750, parents=True, exist_ok=True)
            options = [*request.spec.mount_options, "allow-usermapping-in-volumename"]
            try:
                self._mounter.mount(registry, request.plugin_dir, "quobyte", options)
            except VolumeFailed as error:
                raise VolumeFailed(f"quobyte: mount failed: {error}") from error

    def teardown(self, mounted: MountedVolume) -> None:
        """Take it from the pod.

        Raises:
            VolumeFailed: it is busy.
        """
        self._mounter.clean_up(mounted.path)

    def gives_to_group(self, spec: VolumeSpec) -> bool:
        """Leave files with the user and group as whom the volume is seen."""
        del spec
        return False

    def access_modes(self) -> Sequence[str]:
        """Return those of a file system that many nodes mount."""
        return _ACCESS

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return a spec that names no registry: unmounting needs the folder alone."""
        return VolumeSpec(volume={"name": mounted.name, "quobyte": {"registry": "", "volume": mounted.name}})


class Quobyte(Plugin):
    """The quobyte volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return QuobyteVolumes()
