"""`Program`: a process in a place, addressed by its own pid and not by that of the ``nsenter`` that started it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from hyperkube.testing.waiting import eventually


class Program:
    """A running program of a place; its output is in a file.

    Attributes:
        pid: the program's, as this machine counts.
        log: its standard output and standard error.
    """

    def __init__(self, entered: subprocess.Popen[bytes], log: Path) -> None:
        self._entered = entered
        self.log = log
        self.pid = eventually(lambda: child_of(entered.pid) or self._ended(), why=f"{entered.args!r} starts")

    def output(self) -> str:
        """Return all that it wrote."""
        return self.log.read_text(errors="replace")

    def running(self) -> bool:
        """Tell whether it has not ended."""
        return self._entered.poll() is None

    def wait(self, seconds: float = 60.0) -> int:
        """Wait for its end and return the exit code; negative for a signal.

        Raises:
            subprocess.TimeoutExpired: it did not end in time.
        """
        return self._entered.wait(seconds)

    def signal(self, number: int) -> None:
        """Send it a signal; harmless when it has ended."""
        if self.running() and self.pid > 0:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it as a crash would, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        self.wait()

    def stop(self, seconds: float = 20.0) -> None:
        """Ask it to end; kill it when it does not."""
        self.signal(signal.SIGTERM)
        try:
            self.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def _ended(self) -> int:
        """Return -1 for a program that ended before anyone looked, else 0."""
        return 0 if self._entered.poll() is None else -1


def child_of(pid: int) -> int:
    """Return the only child of a process, 0 while it has none."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return int(children[0]) if children else 0
