"""Has the system map pages of files one by one, where it would map sixteen for each that is used.

With a page of a file that is used for the first time Linux maps its neighbours that are in the page cache, 64 KiB
together: that spares a starting program faults. Of a server at rest more than half of what is mapped of its libraries
is such neighbours. The system leaves them out where a userfaultfd follows writes: nothing is ever written in these
parts, and in asynchronous mode (Linux 6.7) nothing would have to be answered if it were. A fault takes half a
microsecond, so that a thousand pages that are used again cost half a millisecond.

Source: ``userfaultfd(2)``, ``ioctl_userfaultfd(2)``; Linux ``mm/memory.c`` (should_fault_around),
``include/linux/userfaultfd_k.h`` (uffd_disable_fault_around, vma_can_userfault).
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import struct

_SYSTEM_CALL = {"x86_64": 323, "aarch64": 282, "riscv64": 282}
_USER_MODE_ONLY = 1
"""Faults of system calls are not followed: so every user may."""
_API, _ASYNCHRONOUS = 0xAA, 1 << 15
_UFFDIO_API, _UFFDIO_REGISTER = 0xC018AA3F, 0xC020AA00
_WRITES = 1 << 1


class SinglePages:
    """What is mapped page by page, as long as the process lives; nothing on a system that cannot."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._file = _opened()

    def add(self, start: int, end: int) -> bool:
        """Have pages from `start` to before `end`, a mapping of a file, mapped one by one from now on; tell if so."""
        if self._file is None:
            return False
        try:
            fcntl.ioctl(self._file, _UFFDIO_REGISTER, struct.pack("QQQQ", start, end - start, _WRITES, 0))
        except OSError:  # it is gone, or of another kind
            return False
        return True


def _opened() -> int | None:
    """Return a userfaultfd that is open for good, as what it follows ends with it; None where there is none."""
    number = _SYSTEM_CALL.get(platform.machine())
    if number is None or os.uname().sysname != "Linux":
        return None
    file: int = ctypes.CDLL(None).syscall(number, os.O_CLOEXEC | os.O_NONBLOCK | _USER_MODE_ONLY)
    if file < 0:
        return None
    try:
        fcntl.ioctl(file, _UFFDIO_API, struct.pack("QQQ", _API, _ASYNCHRONOUS, 0))
    except OSError:  # an older system
        os.close(file)
        return None
    return file
