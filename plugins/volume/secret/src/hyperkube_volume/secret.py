"""secret: the keys of a Secret as files, in a folder that only the pod's user can enter."""

from __future__ import annotations

from hyperkube_lib.volume_files import DEFAULT_MODE, clear_folder, secret_files, write_files

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeRequest, Volumes
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["SecretVolume"]


class SecretFolders:
    """Writes secrets out; see `Volumes` and `Remounts`."""

    def supports(self, volume: Object) -> bool:
        """Handle ``secret``."""
        return "secret" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Write what is there now.

        Raises:
            NotFound: the Secret is not there and not optional.
            VolumeFailed: one of its keys is not there.
        """
        source = request.volume["secret"]
        mode = source.get("defaultMode") or DEFAULT_MODE
        write_files(request.path, secret_files(request, source, source["secretName"], mode))
        return request.path

    def requires_remount(self, volume: Object) -> bool:
        """Follow the sources."""
        return True

    def teardown(self, mounted: MountedVolume) -> None:
        """Remove the files."""
        clear_folder(mounted.path)


class SecretVolume(Plugin):
    """The secret volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return SecretFolders()
