"""The machine as the doctor looks at it: files, programs, ports. A test gives another one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Protocol

_SECONDS = 10


class Machine(Protocol):
    """What a look at a machine needs."""

    def user(self) -> int:
        """Return the effective user."""

    def read(self, path: str) -> str:
        """Return a file's text; empty if it cannot be read."""

    def program(self, name: str) -> str:
        """Return where a program is; empty if it is not on the PATH."""

    def works(self, *words: str) -> str:
        """Run a command; return nothing if it succeeds, else its last line."""

    def connects(self, path: str) -> str:
        """Connect to a unix socket; return nothing if that succeeds, else why not."""

    def binds(self, address: str, port: int) -> str:
        """Listen for a moment; return nothing if that succeeds, else why not."""

    def is_writable(self, path: str) -> bool:
        """Tell whether this user may make files in a folder."""

    def free_bytes(self, path: str) -> int:
        """Return the free space below a folder, or the nearest one above it that is there."""


class ThisMachine:
    """The one that we run on; see `Machine`."""

    def user(self) -> int:
        """Return the effective user."""
        return os.geteuid()

    def read(self, path: str) -> str:
        """Return a file's text; empty if it cannot be read."""
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def program(self, name: str) -> str:
        """Return where a program is, also where only root has it on the PATH."""
        return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin") or ""

    def works(self, *words: str) -> str:
        """Run a command; return nothing if it succeeds, else its last line."""
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        lines = (done.stderr or done.stdout).strip().splitlines()
        return "" if done.returncode == 0 else (lines or [f"exit code {done.returncode}"])[-1]

    def connects(self, path: str) -> str:
        """Connect to a unix socket; return nothing if that succeeds, else why not."""
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(path)
            except OSError as error:
                return error.strerror or str(error)
        return ""

    def binds(self, address: str, port: int) -> str:
        """Listen for a moment; return nothing if that succeeds, else why not."""
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError as error:
                return error.strerror or str(error)
        return ""

    def is_writable(self, path: str) -> bool:
        """Tell whether this user may make files in a folder."""
        return os.access(path, os.W_OK)

    def free_bytes(self, path: str) -> int:
        """Return the free space below a folder, or the nearest one above it that is there."""
        place = Path(path).absolute()
        while not place.exists():
            place = place.parent
        return shutil.disk_usage(place).free
