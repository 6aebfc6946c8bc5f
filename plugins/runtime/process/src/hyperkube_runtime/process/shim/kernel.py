"""The few system calls that Python 3.11 has no name for, by way of the C library."""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWUSER = 0x10000000

MS_RDONLY = 1
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_SLAVE = 1 << 19

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
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


def mount(source: str, target: str, kind: str = "", flags: int = 0) -> None:
    """Mount or bind (mount(2)); paths are in the caller's view."""
    result = _libc.mount(os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), None)
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
