"""Parts of volumes (``subPath``), mounted at a place of the kubelet's own before a runtime is told of them.

::

    ROOT/pods/UID/volume-subpaths/VOLUME/CONTAINER/INDEX

The runtime is told that place and never a path below the volume: another container of the pod may write to the volume
and replace what was checked by a link to the node's own files. Sources: kubernetes
``pkg/volume/util/subpath/subpath_linux.go``, ``pkg/kubelet/kubelet_pods.go`` (makeMounts).
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import stat
from pathlib import Path
from typing import Protocol

from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld
from hyperkube_lib.volume_mount import mount_table, mounts_below

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.record import Record

_log = logging.getLogger("hyperkube.kubelet.volumes")


class SubPath(Record):
    """A part of a volume that a container mounts.

    Attributes:
        index: of the entry among the container's ``volumeMounts``.
        volume: the name of the pod's volume.
        root: the path of the volume on the node.
        path: the part, relative.
    """

    pod_uid: str
    container: str
    index: int
    volume: str
    root: str
    path: str


class SubPathFailed(Exception):
    """A part of a volume is not ready; the text is for the pod's owner and tells nothing of the node's files."""


class SubPaths(Protocol):
    """Makes parts of volumes ready."""

    def prepare(self, wanted: SubPath) -> str:
        """Return the path that the runtime is told; the part is made as a folder if it is missing.

        Raises:
            SubPathFailed: it leads out of the volume, or cannot be made.
        """


class SimulatedSubPaths:
    """For a runtime that mounts nothing: no file of the node is looked at."""

    def prepare(self, wanted: SubPath) -> str:
        """Return the path as it would be."""
        return f"{wanted.root.rstrip('/')}/{wanted.path}"


class SubPathMounts:
    """Parts of volumes as bind mounts."""

    def __init__(self, directories: KubeletDirectories, state: ActualStateOfWorld, *, needs_mounts: bool) -> None:
        """Without `needs_mounts` a kubelet that may not mount hands out paths: its pods are the same user as itself."""
        self._directories = directories
        self._state = state
        self._needs_mounts = needs_mounts

    def prepare(self, wanted: SubPath) -> str:
        """Return where a part of a volume is mounted; what an earlier container had there is replaced."""
        from hyperkube_lib.volume_mount.beneath import make_folder_beneath, open_beneath

        about = f"subPath directory for volumeMount {quoted(wanted.volume)} of container {quoted(wanted.container)}"
        try:
            descriptor = open_beneath(wanted.root, wanted.path)
        except FileNotFoundError:
            try:
                make_folder_beneath(wanted.root, wanted.path, Path(wanted.root).stat().st_mode & 0o777)
            except OSError as error:
                _log.warning("pod %s: %s could not be made: %s", wanted.pod_uid, about, error)
                raise SubPathFailed(f"failed to create {about}") from error
            descriptor = self._open(wanted)
        except OSError as error:
            raise _not_prepared(wanted, error) from error
        try:
            return self._mount(wanted, descriptor)
        except OSError as error:
            raise _not_prepared(wanted, error) from error
        finally:
            os.close(descriptor)

    @staticmethod
    def _open(wanted: SubPath) -> int:
        from hyperkube_lib.volume_mount.beneath import open_beneath

        try:
            return open_beneath(wanted.root, wanted.path)
        except OSError as error:
            raise _not_prepared(wanted, error) from error

    def _mount(self, wanted: SubPath, descriptor: int) -> str:
        from hyperkube_lib.volume_mount.beneath import bind, unbind

        known = self._state.mounted(wanted.pod_uid).get(wanted.volume)
        name = wanted.volume if known is None else known.volume.spec.name
        target = self._directories.sub_paths(wanted.pod_uid, name) / wanted.container / str(wanted.index)
        path = str(target.absolute())
        opened = os.fstat(descriptor)
        if mounts_below(path, mount_table()):
            if os.path.samestat(opened, os.lstat(path)):
                return path
            unbind(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        _make_mount_point(target, is_folder=stat.S_ISDIR(opened.st_mode))
        try:
            bind(descriptor, path)
        except OSError as error:
            _remove(target)
            if self._needs_mounts or error.errno != errno.EPERM:
                raise
            return str(Path(f"/proc/self/fd/{descriptor}").readlink())
        return path

    def clean(self, uid: str, volume: str = "") -> None:
        """Unmount the parts of a pod's volume, by the name of its spec; of all its volumes when none is told.

        Raises:
            VolumeFailed: one is in use.
        """
        folder = self._directories.sub_paths(uid, volume)
        if not folder.exists():
            return
        from hyperkube_lib.volume_mount.beneath import unbind

        for mount in mounts_below(str(folder.absolute()), mount_table()):
            try:
                unbind(mount.path)
            except OSError as error:
                text = f'error cleaning subPath mounts for volume "{volume}" (pod "{uid}"): {error.strerror}'
                raise VolumeFailed(text) from error
        # Only what is empty is removed, never a tree: a mount that was made meanwhile keeps what it shows.
        for parent, folders, files in os.walk(folder, topdown=False):
            for name in (*folders, *files):
                _remove(Path(parent, name))
        _remove(folder)
        if volume:
            _remove(folder.parent)


def quoted(name: str) -> str:
    """Return a name as Go's ``%q``; names of volumes and containers are DNS labels."""
    return f'"{name}"'


def _not_prepared(wanted: SubPath, error: OSError) -> SubPathFailed:
    text = f"subPath for volumeMount {quoted(wanted.volume)} of container {quoted(wanted.container)}"
    _log.warning("pod %s: %s could not be prepared: %s", wanted.pod_uid, text, error)
    return SubPathFailed(f"failed to prepare {text}")


def _make_mount_point(target: Path, *, is_folder: bool) -> None:
    """Make the folder, or the file that every other type of file is mounted over; what is there of the other goes."""
    if target.exists() and target.is_dir() != is_folder:
        _remove(target)
    if is_folder:
        target.mkdir(mode=0o750, exist_ok=True)
    else:
        target.touch(mode=0o640)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # not empty, in use or gone: the caller looks at what is left
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
