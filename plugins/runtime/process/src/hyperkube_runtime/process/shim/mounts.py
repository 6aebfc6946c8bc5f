# ruff: noqa: PTH101, PTH102, PTH103, PTH106, PTH112, PTH115, PTH116, PTH118, PTH120, PTH208, PTH211 - pathlib would cost each container's shim memory and start-up time
"""A private view of the machine's file system in which the volumes lie at their mount paths.

Nothing on the machine's disk changes. A mount path that exists is covered by the volume. For one that does not, its
nearest existing folder is rebuilt in memory: every entry bound or linked to the real one, plus the missing path.
New files that a container writes straight into such a rebuilt folder are its own and vanish with it. Only inside a
volume is a missing mount path made for real, as every runtime does: what is written beside it belongs to the volume.
"""

from __future__ import annotations

import errno
import os
import stat

from . import kernel

# statvfs flags of the mount below that a less privileged namespace must keep when it remounts read-only
_LOCKED = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
_KERNEL_FOLDERS = ("/dev", "/proc", "/sys")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEVPTS_OPTIONS = "newinstance,ptmxmode=0666,mode=0620"


class View:
    """Builds the view, mount by mount, in the mount namespace of the calling process."""

    def __init__(self, scratch: str) -> None:
        """Use the empty folder `scratch` for a new root, should one be needed."""
        self._scratch = scratch
        self._in_memory: set[int] = set()
        """The device numbers of rebuilt folders: what lies on any other device is the machine's or a volume's."""
        self._volumes: list[str] = []

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
        self._volumes.append(target)

    def make_root_read_only(self) -> None:
        """Make everything read-only but the volumes and the kernel's own folders.

        Raises:
            OSError: the kernel refuses.
        """
        kept = (*_KERNEL_FOLDERS, *self._volumes)
        for place in _mount_points():
            if not any(_is_below(place, folder) for folder in kept) and os.path.lexists(place):
                _remount_read_only(place)

    def _make(self, target: str, *, is_folder: bool) -> None:
        parent = os.path.dirname(target)
        while not os.path.isdir(parent):
            parent = os.path.dirname(parent)
        if os.stat(parent).st_dev not in self._in_memory and not self._make_in_volume(target, is_folder=is_folder):
            self._rebuild(parent)
        os.makedirs(target if is_folder else os.path.dirname(target), exist_ok=True)
        if not is_folder:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))

    def _make_in_volume(self, target: str, *, is_folder: bool) -> bool:
        """Make the path in the volume it lies in; tell whether there is such a volume and it may be written.

        No link is followed on the way: another container of the pod may be changing the volume meanwhile, and a link
        that it puts there must not lead out of the volume.
        """
        volume = max((path for path in self._volumes if _is_below(target, path)), key=len, default=None)
        if volume is None or not os.path.isdir(volume):
            return False
        *folders, last = os.path.relpath(target, volume).split("/")
        opened = [os.open(volume, _FOLDER)]
        try:
            for name in [*folders, last] if is_folder else folders:
                if name not in os.listdir(opened[-1]):
                    os.mkdir(name, 0o755, dir_fd=opened[-1])
                opened.append(os.open(name, _FOLDER, dir_fd=opened[-1]))
            if not is_folder:
                flags = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
                os.close(os.open(last, flags, 0o644, dir_fd=opened[-1]))
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                return False
            raise
        finally:
            for descriptor in opened:
                os.close(descriptor)
        return True

    def _rebuild(self, folder: str) -> None:
        """Cover `folder` with one in memory that has the same entries."""
        real = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        place = self._scratch if folder == "/" else folder
        before = os.fstat(real)
        kernel.mount("hyperkube", place, "tmpfs")
        os.chmod(place, stat.S_IMODE(before.st_mode))
        if os.geteuid() == 0:
            os.chown(place, before.st_uid, before.st_gid)
        entries = os.listdir(real)
        if folder == "/dev" and "ptmx" in entries and _fresh_terminals(place):
            entries = [entry for entry in entries if entry not in {"ptmx", "pts"}]
        for entry in entries:
            _carry_over(f"/proc/self/fd/{real}/{entry}", os.path.join(place, entry))
        os.close(real)
        if folder == "/":
            kernel.change_root(place)
        self._in_memory.add(os.stat(folder).st_dev)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _fresh_terminals(place: str) -> bool:
    """Give a rebuilt ``/dev`` terminals of its own, as container runtimes do; tell whether that is allowed here.

    The device ``ptmx`` looks for ``pts`` beside itself in its own file system, so a bound one never finds it.
    """
    folder = os.path.join(place, "pts")
    os.mkdir(folder, 0o755)
    try:
        kernel.mount("devpts", folder, "devpts", options=_DEVPTS_OPTIONS)
    except OSError:
        os.rmdir(folder)
        return False
    os.symlink("pts/ptmx", os.path.join(place, "ptmx"))
    return True


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


def _mount_points() -> list[str]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:  # noqa: PTH123  as above
        return [_unescape(line.split(" ")[4]) for line in table]


def _unescape(path: str) -> str:
    """Return a path of mountinfo with its octal escapes replaced."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(code, character)
    return path


def _remount_read_only(target: str) -> None:
    below = os.statvfs(target).f_flag
    if below & os.ST_RDONLY:
        return
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
