"""Reads the lean bytecode of all modules of a start from one file, in which equal constants are one object.

Of the 20,000 codes of a cluster most have names, kinds of variables, lines and constants that codes of other modules
have, too: more than a megabyte. `marshal` knows within one stream what it has read before, so a start's modules are
also kept as one stream, in the order in which they are loaded (`lean_archive_writer`).

Each module goes with time and size of its source as they were. Where these have changed since, or the file is missing
or of another Python, a module is loaded from lean bytecode of its own.
"""

from __future__ import annotations

import marshal
import mmap
import os
from collections.abc import Sequence
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType

OPTIMIZATION = "leanarchive"
"""What the name of such a file says, which lies beside the bytecode of the module that starts the process."""
MAGIC = (MAGIC_NUMBER + b"archive 2").ljust(16, b"\0")
"""What such a file begins with: this Python's magic number, and that of the order of what follows."""
FEW = 20
"""A part of a start's modules, as a divisor, that may be missing in the archive, or be there without being loaded."""


def archive_file(path: str) -> str:
    """Return where the archive of a process is that the module with the source `path` starts.

    Raises:
        NotImplementedError: this Python keeps no bytecode.
    """
    return cache_from_source(path, optimization=OPTIMIZATION)


def header(status: os.stat_result) -> bytes:
    """Return what a file of bytecode begins with: this Python's magic number, time and size of the source (PEP 552)."""
    numbers = (0, int(status.st_mtime), status.st_size)
    return MAGIC_NUMBER + b"".join((number & 0xFFFFFFFF).to_bytes(4, "little") for number in numbers)


class LeanArchive:
    """What is still to be loaded from the archive of a process, until its start is over.

    Attributes:
        path: of the source of the module that starts the process; empty where there is to be no archive.
        loaded: paths of the modules of the start so far, in order, from the archive or not.
    """

    def __init__(self, path: str) -> None:
        """Hold nothing yet; `path` is as below."""
        self.loaded: list[str] = []
        self.path = path
        self._codes: dict[str, tuple[bytes, CodeType]] = {}
        self._taken = 0
        self._is_over = False

    def read(self) -> None:
        """Read the codes of the archive, if there is one."""
        if self.path:
            self._codes = _read(self.path)

    def take(self, path: str) -> CodeType | None:
        """Return the code of the source at `path`, once; None where there is none that fits."""
        header_and_code = self._codes.pop(path, None)
        try:
            if header_and_code is None or header_and_code[0] != header(os.stat(path)):  # noqa: PTH116  of a thousand
                return None
        except OSError:
            return None
        self._taken += 1
        return header_and_code[1]

    def note(self, path: str) -> None:
        """Note that the source at `path` was loaded from lean bytecode, wherever it lies."""
        if self.path and not self._is_over:
            self.loaded.append(path)

    def end_start(self) -> None:
        """Drop what was not loaded; `loaded` is kept where the archive is to be written anew. Idempotent."""
        if self._is_over:
            return
        self._is_over = True
        others = len(self._codes) + len(self.loaded) - self._taken
        if others * FEW <= len(self.loaded):
            self.loaded.clear()
        self._codes.clear()

    def writing(self) -> tuple[Sequence[str], list[str]]:
        """Return with which arguments Python writes the archive, and what it reads for it; once."""
        paths, self.loaded = self.loaded, []
        words = ("-m", "hyperkube_lib.component_base.lean_archive_writer", archive_file(self.path))
        return words, [f"{path}\n" for path in paths]


def _read(path: str) -> dict[str, tuple[bytes, CodeType]]:
    """Return headers and codes by path; mapped, not read, as the heap would keep a hole of its size."""
    try:
        with (
            open(archive_file(path), "rb") as file,  # noqa: PTH123  as `lean_bytecode` does
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            memoryview(mapped) as whole,
            whole[len(MAGIC) :] as content,
        ):
            if mapped[: len(MAGIC)] != MAGIC:
                return {}
            _, *rows = marshal.loads(content)  # noqa: S302  ours, as all bytecode
            return {code.co_filename: (before, code) for before, code in zip(rows[::2], rows[1::2], strict=True)}
    except (OSError, ValueError, EOFError, TypeError, NotImplementedError):  # there is none, or it was cut off
        return {}
