"""A file that has its name only once it is whole: a crash leaves the old one, or none, and never half a one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hyperkube.machinery.errors import UsageError

SIDE_FILES = ("-wal", "-shm")
"""What SQLite keeps beside an open file."""


@contextmanager
def arriving(target: Path) -> Iterator[Path]:
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
