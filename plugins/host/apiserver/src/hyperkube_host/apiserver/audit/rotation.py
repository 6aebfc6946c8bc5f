"""A file that is put aside when it has grown too long; old ones go by number and by age.

Names and meaning follow what Kubernetes uses: ``audit.log`` becomes ``audit-2030-01-01T00-00-00.000.log``.
Source: natefinch/lumberjack v2.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError

_MEGABYTE = 1024 * 1024
_DEFAULT_MEGABYTES = 100
_STAMP = "%Y-%m-%dT%H-%M-%S"


class RotatedFile:
    """Appends to a file, or to standard output for ``-``; thread-safe.

    Args:
        path: the file; its folder is made.
        clock: for names and ages of old files.
        megabytes: length at which it is put aside; 0 means 100.
        backups: old files kept; 0 means all.
        days: days that old files are kept; 0 means for ever.
        compress: whether old files are gzipped.

    Raises:
        UsageError: the file cannot be opened.
    """

    def __init__(
        self, path: str, clock: Clock, *, megabytes: int = 0, backups: int = 0, days: int = 0, compress: bool = False
    ) -> None:
        self._clock, self._backups, self._days, self._compress = clock, backups, days, compress
        self._limit = (megabytes or _DEFAULT_MEGABYTES) * _MEGABYTE
        self._lock = threading.Lock()
        self._path = None if path == "-" else Path(path)
        self._length = 0
        try:
            self._stream = self._open()
        except OSError as error:
            raise UsageError(f"ensureLogFile: cannot open {path!r}: {error.strerror}") from error

    def _open(self) -> BinaryIO:
        if self._path is None:
            return sys.stdout.buffer
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._length = os.fstat(handle).st_size
        return os.fdopen(handle, "ab", buffering=0)

    def append(self, line: bytes) -> None:
        """Append a line, putting the file aside first if it would become too long.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock:
            if self._path is not None and self._length and self._length + len(line) > self._limit:
                self._rotate(self._path)
            self._stream.write(line)
            if self._path is None:
                self._stream.flush()
            self._length += len(line)

    def _rotate(self, path: Path) -> None:
        self._stream.close()
        now = self._clock.now()
        name = f"{path.stem}-{now.strftime(_STAMP)}.{now.microsecond // 1000:03d}{path.suffix}"
        aside = path.replace(path.with_name(name))
        if self._compress:
            with aside.open("rb") as old, gzip.open(f"{aside}.gz", "wb") as packed:
                shutil.copyfileobj(old, packed)
            aside.unlink()
        self._stream = self._open()
        for old_file in self._outdated(path, now):
            old_file.unlink()

    def _outdated(self, path: Path, now: datetime) -> list[Path]:
        """Return the old files that are too many or too old."""
        dated: dict[Path, str] = {}
        for found in path.parent.glob(f"{path.stem}-*"):
            stamp = found.name.removesuffix(".gz").removesuffix(path.suffix).removeprefix(f"{path.stem}-")
            if len(stamp) == len("2030-01-01T00-00-00.000"):
                dated[found] = stamp
        newest_first = sorted(dated, key=dated.__getitem__, reverse=True)
        gone = newest_first[self._backups :] if self._backups else []
        if self._days:
            oldest = (now - timedelta(days=self._days)).strftime(_STAMP)
            gone += [found for found in newest_first if dated[found] < oldest and found not in gone]
        return gone

    def close(self) -> None:
        """Close the file; standard output stays open."""
        with self._lock:
            if self._path is not None:
                self._stream.close()
