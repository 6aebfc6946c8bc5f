# ruff: noqa: PTH101, PTH102, PTH103, PTH112, PTH115, PTH118, PTH120, PTH208, PTH211 - pathlib would cost each container's shim memory and start-up time
"""A private view of the machine's file system in which the volumes lie at their mount paths.

Nothing on the machine's disk changes. A mount path that exists is covered by the volume. For one that does not, its
nearest existing folder is rebuilt in memory: every entry bound or linked to the real one, plus the missing path.
New files that a container writes straight into such a rebuilt folder are its own and vanish with it.
"""

from __future__ import annotations

import os
import stat

from . import kernel

# statvfs flags of the mount below that a less privileged namespace must keep when it remounts read-only
_LOCKED = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}


class View:
    """Builds the view, mount by mount, in the mount namespace of the calling process."""

    def __init__(self, scratch: str) -> None:
        """Use the empty folder `scratch` for a new root, should one be needed."""
        self._scratch = scratch
        self._ours: list[str] = []

    def add(self, source: str, target: str, *, read_only: bool) -> None:
        """Bind `source` at `target`, making the target's path where it is missing.

        Raises:
            OSError: the kernel refuses.
        """
        is_folder = os.path.isdir(source)
        target = os.path.realpath(target)
        if not os.path.lexists(target):
            self._make(target, is_folder=is_folder)
        elif os.path.isdir(target) != is_folder:
            raise OSError(f"cannot mount {source!r} at {target!r}: one is a folder, the other is a file")
        kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
        if read_only:
            _remount_read_only(target)
        self._ours.append(target)

    def _make(self, target: str, *, is_folder: bool) -> None:
        parent = os.path.dirname(target)
        while not os.path.isdir(parent):
            parent = os.path.dirname(parent)
        if not any(parent == ours or parent.startswith(ours + "/") for ours in self._ours):
            self._rebuild(parent)
        os.makedirs(target if is_folder else os.path.dirname(target), exist_ok=True)
        if not is_folder:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))

    def _rebuild(self, folder: str) -> None:
        """Cover `folder` with one in memory that has the same entries."""
        real = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        place = self._scratch if folder == "/" else folder
        mode = stat.S_IMODE(os.fstat(real).st_mode)
        kernel.mount("hyperkube", place, "tmpfs")
        os.chmod(place, mode)
        for entry in os.listdir(real):
            _carry_over(f"/proc/self/fd/{real}/{entry}", os.path.join(place, entry))
        os.close(real)
        if folder == "/":
            kernel.change_root(place)
        self._ours.append(folder if folder != "/" else "")


def _carry_over(source: str, target: str) -> None:
    try:
        mode = os.lstat(source).st_mode
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(source), target)
            return
        if stat.S_ISDIR(mode):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
    except FileNotFoundError:
        return  # it went away since the folder was read


def _remount_read_only(target: str) -> None:
    below = os.statvfs(target).f_flag
    keep = sum(mount_flag for vfs_flag, mount_flag in _LOCKED.items() if below & vfs_flag)
    kernel.mount("none", target, flags=kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | keep)


def enter(namespaces: str, hostname: str) -> None:
    """Move this process into fresh mount and host-name namespaces.

    Args:
        namespaces: ``mount`` needs privilege; ``user`` makes a user namespace first, in which the user keeps its id.
        hostname: what the process shall see as its host name.
    """
    user, group = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWUTS | (kernel.CLONE_NEWUSER if namespaces == "user" else 0))
    if namespaces == "user":
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
    kernel.set_hostname(hostname[:64])


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
