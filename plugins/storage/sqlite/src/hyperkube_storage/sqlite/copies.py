"""Copies of a storage file: of one moment, whole or not there at all, sharing blocks with it where the disk can."""

from __future__ import annotations

import fcntl
import sqlite3
from contextlib import closing
from pathlib import Path

from hyperkube_storage.sqlite.arriving import arriving
from hyperkube_storage.sqlite.database import SEAL_LEASES, teach_checksums

_FICLONE = 0x40049409
"""The ioctl that lets two files share their blocks until one is written (Btrfs, XFS, bcachefs). Source: linux/fs.h."""


def copy(connection: sqlite3.Connection, target: Path, *, lease_shift: float = 0.0) -> None:
    """Write what a connection sees to the file `target`, durably.

    Args:
        connection: may be reading while others write.
        target: replaced if it exists.
        lease_shift: seconds by which the copy's leases end later.

    Raises:
        UsageError: the target cannot be written.
    """
    with arriving(target) as partial, closing(sqlite3.connect(partial)) as other:
        connection.backup(other)  # in one step, which is one snapshot
        _finish(other, lease_shift)


def clone(source: Path, target: Path, *, lease_shift: float = 0.0) -> bool:
    """Let `target` share the blocks of `source`, whose log is empty and which is not written meanwhile.

    Returns: False, having done nothing, where the file system cannot do that.

    Raises:
        UsageError: the target cannot be written.
    """
    with arriving(target) as partial:
        with source.open("rb") as old, partial.open("r+b") as new:
            try:
                fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
            except OSError:
                return False
        with closing(sqlite3.connect(partial)) as other:
            _finish(other, lease_shift)
    return True


def _finish(copied: sqlite3.Connection, lease_shift: float) -> None:
    copied.execute("PRAGMA journal_mode = DELETE")  # one file is all there is; a server makes it WAL again
    if lease_shift:
        teach_checksums(copied)
        copied.execute("UPDATE lease SET expires = expires + ?", (lease_shift,))
        copied.execute(SEAL_LEASES)
        copied.commit()
