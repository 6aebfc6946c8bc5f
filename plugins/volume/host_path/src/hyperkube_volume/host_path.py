"""hostPath: a file or folder of the node, checked or made as its type says."""

from __future__ import annotations

import stat
from pathlib import Path

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["HostPath"]

_TESTS = {
    "Directory": (stat.S_ISDIR, "directory"),
    "DirectoryOrCreate": (stat.S_ISDIR, "directory"),
    "File": (stat.S_ISREG, "file"),
    "FileOrCreate": (stat.S_ISREG, "file"),
    "Socket": (stat.S_ISSOCK, "socket file"),
    "CharDevice": (stat.S_ISCHR, "character device"),
    "BlockDevice": (stat.S_ISBLK, "block device"),
}


class HostPaths:
    """Passes the node's own paths on; see `Volumes`."""

    def supports(self, volume: Object) -> bool:
        """Handle ``hostPath``."""
        return "hostPath" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Return the path.

        Raises:
            VolumeFailed: it is not there, or not of the type wanted.
        """
        source = request.volume["hostPath"]
        path, kind = Path(source["path"]), source.get("type") or ""
        if kind == "DirectoryOrCreate" and not path.exists():
            path.mkdir(mode=0o755, parents=True)
        elif kind == "FileOrCreate" and not path.exists():
            path.touch(mode=0o644)
        # Without a type nothing is looked at: what is missing is for the runtime to make, or to refuse.
        if kind in _TESTS:
            test, word = _TESTS[kind]
            if not path.exists() or not test(path.stat().st_mode):
                raise VolumeFailed(f"hostPath type check failed: {path} is not a {word}")
        return str(path)

    def teardown(self, mounted: MountedVolume) -> None:
        """Leave the node's path alone."""


class HostPath(Plugin):
    """The hostPath volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return HostPaths()
