"""Each cluster's own slice of 127.0.0.0/8, which is all local on Linux: addresses for pods and services without root.

A slice is 127.N.0.0/16: the lower half for pods, the upper half for services. A lock file keeps two clusters of this
machine apart; a cluster asks for the slice it had before, so that addresses in its store stay true.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hyperkube.machinery.errors import UsageError

FIRST, LAST = 64, 223


@dataclass(frozen=True, slots=True)
class Slice:
    """127.N.0.0/16."""

    number: int

    @property
    def pods(self) -> str:
        """The range of pod addresses."""
        return f"127.{self.number}.0.0/17"

    @property
    def services(self) -> str:
        """The range of service addresses."""
        return f"127.{self.number}.128.0/17"


@contextlib.contextmanager
def locked_slice(remembered: Path) -> Iterator[Slice]:
    """Hold a slice: the one whose number the file `remembered` holds if it is free, else the first free one.

    Raises:
        UsageError: all are taken.
    """
    folder = Path(tempfile.gettempdir()) / "hyperkube-slices"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o777)
        folder.chmod(0o1777)
    for number in _candidates(remembered):
        descriptor = _lock(folder / str(number))
        if descriptor is not None:
            break
    else:
        raise UsageError(f"all {LAST - FIRST + 1} slices of 127.0.0.0/8 are taken by other clusters of this machine")
    try:
        remembered.write_text(f"{number}\n")
        yield Slice(number)
    finally:
        os.close(descriptor)


def _candidates(remembered: Path) -> list[int]:
    numbers = list(range(FIRST, LAST + 1))
    if remembered.exists():
        last = int(remembered.read_text())
        numbers.sort(key=lambda number: number != last)
    return numbers


def _lock(path: Path) -> int | None:
    """Return the descriptor of a locked file, or None if another process (or another user) has it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except PermissionError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
