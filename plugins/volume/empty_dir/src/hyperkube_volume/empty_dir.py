"""emptyDir: a folder that begins empty and lives as long as its pod.

``medium: Memory`` asks for a file system in memory: the folder then lies on ``/dev/shm`` if the machine has it.
Size limits are not enforced.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeRequest, Volumes
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["EmptyDir"]

MEMORY = Path("/dev/shm")  # noqa: S108  that is where the machine keeps files in memory


class EmptyFolders:
    """Makes empty folders; see `Volumes`."""

    def __init__(self, memory: Path = MEMORY) -> None:
        """Put folders with medium Memory under `memory`."""
        self._memory = memory

    def supports(self, volume: Object) -> bool:
        """Handle ``emptyDir``."""
        return "emptyDir" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Return the folder, writable for every user of the pod."""
        path = Path(request.path)
        source = request.volume["emptyDir"] or {}
        if source.get("medium") == "Memory" and self._memory.is_dir():
            link = path / "memory"
            if not link.is_symlink():
                link.symlink_to(tempfile.mkdtemp(prefix="hyperkube-", dir=self._memory))
            path = link.readlink()
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o777)
        return str(path)

    def teardown(self, mounted: MountedVolume) -> None:
        """Remove the folder with what is in it."""
        link = Path(mounted.path) / "memory"
        if link.is_symlink() and link.readlink().parent == self._memory:
            shutil.rmtree(link.readlink(), ignore_errors=True)
        shutil.rmtree(mounted.path, ignore_errors=True)


class EmptyDir(Plugin):
    """The emptyDir volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return EmptyFolders()
