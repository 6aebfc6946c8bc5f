"""Copies of a storage file: of one moment, whole or not there at all, sharing blocks with it where the disk can."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from hyperkube_storage.sqlite.database import SEAL_LEASES, teach_checksums

from hyperkube.machinery.errors import UsageError

SIDE_FILES = ("-wal", "-shm")
"""What SQLite keeps beside an open file."""

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
    with _arriving(target) as partial, closing(sqlite3.connect(partial)) as other:
        connection.backup(other)  # in one step, which is one snapshot
        _finish(other, lease_shift)


def clone(source: Path, target: Path, *, lease_shift: float = 0.0) -> bool:
    """Let `target` share the blocks of `source`, whose log is empty and which is not written meanwhile.

    Returns: False, having done nothing, where the file system cannot do that.

    Raises:
        UsageError: the target cannot be written.
    """
    with _arriving(target) as partial:
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


@contextmanager
def _arriving(target: Path) -> Iterator[Path]:
    """Lend an empty file beside `target`, private to its owner; flush it and give it the name if it was written."""
    partial = target.with_name(f"{target.name}.partial")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.unlink(missing_ok=True)
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        yield partial
        if not partial.stat().st_size:
            return
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.rename(target)
        folder = os.open(target.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        raise UsageError(f"{str(target)!r} cannot be written: {error.strerror}") from error
    finally:
        for ending in ("", *SIDE_FILES):
            with suppress(OSError):
                partial.with_name(partial.name + ending).unlink()
