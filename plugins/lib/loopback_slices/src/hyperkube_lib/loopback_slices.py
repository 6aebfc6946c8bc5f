"""Which 127.N.0.0/16 belongs to whom: a lock file for each slice keeps the clusters of one machine apart.

127.0.0.0/8 is all local on Linux, so its addresses need no root and no device.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError

FIRST, LAST = 64, 223
_COMMON = Path("/tmp")  # noqa: S108  what others leave there is locked, never followed or read
_TAKEN = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.EISDIR, errno.ENXIO})
"""Why a file cannot be opened that is another user's, or none."""


@dataclass(frozen=True, slots=True)
class HeldSlice:
    """127.N.0.0/16 and the descriptor of its locked file."""

    number: int
    descriptor: int

    def release(self) -> None:
        """Let go of it; once."""
        os.close(self.descriptor)


def slices_folder() -> Path:
    """Return the folder in which the clusters of this machine lock their slices.

    All of them must look into the same one, so ``TMPDIR``, which may differ from program to program, counts only where
    ``/tmp`` may not be written: two clusters with one slice answer each other's names.
    """
    return (_COMMON if os.access(_COMMON, os.W_OK) else Path(tempfile.gettempdir())) / "hyperkube-slices"


def hold_slice(folder: Path, preferred: Iterable[int] = ()) -> HeldSlice:
    """Lock a slice: a preferred one that is free, else the first free one.

    Raises:
        UsageError: all are taken.
    """
    with contextlib.suppress(FileExistsError):  # another cluster made it
        folder.mkdir(mode=0o777)
        folder.chmod(0o1777)
    for number in dict.fromkeys((*preferred, *range(FIRST, LAST + 1))):
        descriptor = _lock(folder / str(number))
        if descriptor is not None:
            return HeldSlice(number, descriptor)
    raise UsageError(f"all {LAST - FIRST + 1} slices of 127.0.0.0/8 are taken by other clusters of this machine")


def _lock(path: Path) -> int | None:
    """Return the descriptor of the locked file, or None if another process (or another user) has it."""
    try:
        # All users share the folder: a link that another one left there leads to no file of ours.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if error.errno in _TAKEN:
            return None
        raise
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
