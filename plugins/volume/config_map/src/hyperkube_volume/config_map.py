"""configMap: the keys of a ConfigMap as files, which follow it when it changes."""

from __future__ import annotations

from hyperkube_lib.volume_files import DEFAULT_MODE, ON_DISK_MODE, clear_folder, config_map_files, write_files

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeRequest, Volumes
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["ConfigMapVolume"]


class ConfigMapFolders:
    """Writes config maps out; see `Volumes` and `Remounts`."""

    def supports(self, volume: Object) -> bool:
        """Handle ``configMap``."""
        return "configMap" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Write what is there now.

        Raises:
            NotFound: the ConfigMap is not there and not optional.
            VolumeFailed: one of its keys is not there.
        """
        source = request.volume["configMap"]
        files = config_map_files(request, source, source.get("defaultMode") or DEFAULT_MODE)
        write_files(request.path, files, folder_mode=ON_DISK_MODE)
        return request.path

    def requires_remount(self, volume: Object) -> bool:
        """Follow the sources."""
        return True

    def teardown(self, mounted: MountedVolume) -> None:
        """Remove the files."""
        clear_folder(mounted.path)


class ConfigMapVolume(Plugin):
    """The configMap volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return ConfigMapFolders()
