"""Paths below a folder that others write to: opened and made so that no link leads out of it, at no moment.

A pod that shares a volume may replace a folder by a link between a check and the use of what was checked
(CVE-2017-1002101, CVE-2021-25741). So a path is looked up once, by the kernel, and what was found is held by a file
descriptor from then on: its path is not used again. Source: kubernetes ``pkg/volume/util/subpath/subpath_linux.go``;
``openat2(2)``.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
from collections.abc import Sequence
from pathlib import PurePosixPath

_SYS_OPENAT2 = 437
"""The same number on every architecture of Linux."""
_RESOLVE_NO_MAGICLINKS, _RESOLVE_BENEATH = 0x02, 0x08
_TRIES = 128
"""How often a look-up is made again while names above it are being moved."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MS_BIND, _UMOUNT_NOFOLLOW = 4096, 8

_libc = ctypes.CDLL(None, use_errno=True)


class _OpenHow(ctypes.Structure):
    """``struct open_how``."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(root: str, path: str) -> int:
    """Return a descriptor (``O_PATH``) of what is at a path below a folder; links are followed within the folder alone.

    Args:
        root: the folder; its own path is trusted.
        path: relative; empty or ``.`` for the folder itself.

    Raises:
        OSError: there is nothing, or a link leads out of the folder (EXDEV), or the path changes all the time (EAGAIN).
    """
    top = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for _ in range(_TRIES):
            try:
                return _openat2(top, path or ".")
            except OSError as error:
                if error.errno in {errno.ENOSYS, errno.EPERM}:
                    return _open_by_steps(top, root, path)
                if error.errno != errno.EAGAIN:
                    raise
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), path)
    finally:
        os.close(top)


def _openat2(folder: int, path: str) -> int:
    how = _OpenHow(os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    size = ctypes.c_size_t(ctypes.sizeof(how))
    found: int = _libc.syscall(
        ctypes.c_long(_SYS_OPENAT2), ctypes.c_int(folder), os.fsencode(path), ctypes.byref(how), size
    )
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)
    return found


def _open_by_steps(top: int, root: str, path: str) -> int:
    """Do the same on a kernel before 5.6: links are resolved first, then no name on the way may be a link."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(real_root, path))  # noqa: PTH118 - a PurePath would drop what realpath has to see
    if os.path.commonpath((real, real_root)) != real_root:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    here = os.dup(top)
    for name in PurePosixPath(os.path.relpath(real, real_root)).parts:
        try:
            below = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
        finally:
            os.close(here)
        here = below
        if stat.S_ISLNK(os.fstat(here).st_mode):
            os.close(here)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return here


def make_folder_beneath(root: str, path: str, mode: int) -> None:
    """Make the folders of a path below a folder that are missing; the last has exactly this mode, others the umask's.

    Args:
        root: as for `open_beneath`.
        path: relative, without ``..``.
        mode: permission bits.

    Raises:
        OSError: a link leads out, or something that is no folder is in the way.
    """
    names = PurePosixPath(path).parts
    here, missing = _deepest(root, names)
    try:
        for name in missing:
            with contextlib.suppress(FileExistsError):  # made meanwhile; a link is refused below
                os.mkdir(name, mode, dir_fd=here)
            below = os.open(name, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        if missing:
            os.fchmod(here, mode)
    finally:
        os.close(here)


def _deepest(root: str, names: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Return a descriptor of the deepest folder of a path that is there, and the names below it."""
    for count in range(len(names), -1, -1):
        try:
            return open_beneath(root, "/".join(names[:count])), names[count:]
        except FileNotFoundError:
            if not count:
                raise
    raise AssertionError("the loop ends at the folder itself")


def bind(descriptor: int, target: str) -> None:
    """Mount what a descriptor is of at a path, whatever has become of the name by which it was opened.

    Raises:
        OSError: the kernel refuses, as it does without CAP_SYS_ADMIN.
    """
    source = f"/proc/self/fd/{descriptor}".encode()
    if _libc.mount(source, os.fsencode(target), None, ctypes.c_ulong(_MS_BIND), None):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)


def unbind(target: str) -> None:
    """Unmount a path once, following no link.

    Raises:
        OSError: it is not mounted (EINVAL), or in use (EBUSY).
    """
    if _libc.umount2(os.fsencode(target), ctypes.c_int(_UMOUNT_NOFOLLOW)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)
