"""Each cluster's own slice of 127.0.0.0/8, which is all local on Linux: addresses for pods and services without root.

A slice is 127.N.0.0/16: the lower half for pods, the upper half for services. A lock file keeps two clusters of this
machine apart; a cluster asks for the slice it had before, so that addresses in its store stay true.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from hyperkube_lib.loopback_slices import hold_slice, slices_folder

from hyperkube.machinery.dataclass import dataclass


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

    @property
    def first_service(self) -> str:
        """The address of the Service kubernetes."""
        return f"127.{self.number}.128.1"


@contextlib.contextmanager
def locked_slice(remembered: Path) -> Iterator[Slice]:
    """Hold a slice: the one whose number the file `remembered` holds if it is free, else the first free one.

    Raises:
        UsageError: all are taken.
    """
    last = (int(remembered.read_text()),) if remembered.exists() else ()
    held = hold_slice(slices_folder(), last)
    try:
        remembered.write_text(f"{held.number}\n")
        yield Slice(held.number)
    finally:
        held.release()
