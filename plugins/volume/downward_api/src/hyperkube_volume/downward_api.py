"""downwardAPI: a pod's labels, annotations and resources as files, which follow the pod."""

from __future__ import annotations

from hyperkube_lib.volume_files import DEFAULT_MODE, clear_folder, downward_files, write_files

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeRequest, Volumes
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["DownwardApi"]


class DownwardFolders:
    """Writes fields out; see `Volumes` and `Remounts`."""

    def supports(self, volume: Object) -> bool:
        """Handle ``downwardAPI``."""
        return "downwardAPI" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Write what the pod looks like now.

        Raises:
            VolumeFailed: a field cannot be asked for.
        """
        source = request.volume["downwardAPI"] or {}
        mode = source.get("defaultMode") or DEFAULT_MODE
        write_files(request.path, downward_files(request, source.get("items") or [], mode))
        return request.path

    def requires_remount(self, volume: Object) -> bool:
        """Follow the sources."""
        return True

    def teardown(self, mounted: MountedVolume) -> None:
        """Remove the files."""
        clear_folder(mounted.path)


class DownwardApi(Plugin):
    """The downwardAPI volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return DownwardFolders()
