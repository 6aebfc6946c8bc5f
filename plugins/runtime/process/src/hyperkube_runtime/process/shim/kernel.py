"""The few system calls that Python 3.11 has no name for, by way of the C library."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Collection

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_SLAVE = 1 << 19

_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_MNT_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` names for fresh ones (unshare(2))."""
    _check(_libc.unshare(flags), "unshare")


def join_namespace(path: str, kind: int) -> None:
    """Enter the namespace that the file `path` stands for (setns(2))."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter_namespace(descriptor, kind)
    finally:
        os.close(descriptor)


def enter_namespace(descriptor: int, kind: int) -> None:
    """Enter the namespace that an open file stands for (setns(2))."""
    _check(_libc.setns(descriptor, kind), "setns")


def unmount(target: str) -> None:
    """Take a mount away, at once for all new users (umount2(2))."""
    _check(_libc.umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, *, options: str = "") -> None:
    """Mount or bind (mount(2)); paths are in the caller's view."""
    places = os.fsencode(source), os.fsencode(target)
    result = _libc.mount(*places, kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None)
    _check(result, f"mount {target}")


def change_root(folder: str) -> None:
    """Make a mounted `folder` the root of this mount namespace and detach the old root."""
    os.chdir(folder)
    number = _PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        os.chroot(".")
        return
    _check(_libc.syscall(number, b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount2")
    os.chdir("/")


def set_hostname(name: str) -> None:
    """Set the host name of this UTS namespace."""
    raw = name.encode()
    _check(_libc.sethostname(raw, len(raw)), "sethostname")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ended (prctl(2), child subreaper)."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def die_with_parent(signal_number: int) -> None:
    """Get `signal_number` when the parent ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl")


def forbid_new_privileges() -> None:
    """Let no program that is executed from now on gain privileges (prctl(2), no_new_privs)."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def bound_capabilities(kept: Collection[int]) -> None:
    """Let no program that is executed from now on gain a capability that is not `kept` (capabilities(7)).

    A process that may not change its bounding set has nothing to give up itself, but a program that it executes could
    still gain something: that is forbidden as a whole then.
    """
    number = 0
    while number in kept or _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    if ctypes.get_errno() != errno.EINVAL:  # which says that the kernel has no capability of that number
        forbid_new_privileges()
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)


def keep_capabilities(kept: Collection[int]) -> None:
    """Give up all capabilities of this process that are not `kept`.

    Raises:
        OSError: the kernel refuses.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    # The effective, permitted and inheritable set, each of the capabilities 0 to 31 and then of those from 32 up.
    sets = (ctypes.c_uint32 * 6)()
    _check(_libc.capget(header, sets), "capget")
    for place in range(6):
        sets[place] &= sum(1 << (number % 32) for number in kept if number // 32 == place // 3)
    _check(_libc.capset(header, sets), "capset")
