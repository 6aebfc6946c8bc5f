"""Programs of the node (``mount``, ``mkfs.ext4`` …), and their in-memory twin."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from hyperkube.hookspecs.volume import VolumeFailed

LIMIT_SECONDS = 600.0
"""How long a program may take: a mount that hangs on a dead server ends then, and is tried again."""


class Finished(NamedTuple):
    """What came of a program: its exit code, and what it wrote to both outputs."""

    code: int
    output: str = ""

    @property
    def problem(self) -> str:
        """The exit as Go prints it."""
        return f"exit status {self.code}" if self.code >= 0 else "signal: killed"


class Programs(Protocol):
    """Runs programs."""

    def run(self, arguments: Sequence[str], given: str = "") -> Finished:
        """Run a program to its end; secrets go into `given`, its standard input, never into `arguments`.

        Raises:
            VolumeFailed: it is not installed, or took too long.
        """


class HostPrograms:
    """The programs of this machine, found through PATH; see `Programs`."""

    def __init__(self, limit_seconds: float = LIMIT_SECONDS, environment: Mapping[str, str] | None = None) -> None:
        """Let a program take `limit_seconds`, with `environment` instead of the process's own."""
        self._limit_seconds = limit_seconds
        self._environment = environment

    def run(self, arguments: Sequence[str], given: str = "") -> Finished:
        """Run a program to its end."""
        path = None if self._environment is None else self._environment.get("PATH")
        program = shutil.which(arguments[0], path=path)
        if program is None:
            raise VolumeFailed(f'exec: "{arguments[0]}": executable file not found in $PATH')
        try:
            done = subprocess.run(
                [program, *arguments[1:]],
                input=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=self._limit_seconds,
                env=None if self._environment is None else dict(self._environment),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise VolumeFailed(f"{arguments[0]} took longer than {self._limit_seconds:g}s") from error
        except OSError as error:
            raise VolumeFailed(f"fork/exec {program}: {error.strerror}") from error
        return Finished(done.returncode, done.stdout)


class FakePrograms:
    """Notes the command lines and answers as told; see `Programs`.

    Attributes:
        ran: the command lines, in order, words joined by spaces.
        given: what was written to the standard input of each.
    """

    def __init__(self, answers: Mapping[str, Finished] | None = None) -> None:
        """Answer command lines that begin with a key of `answers` with its value, others with success."""
        self.answers = dict(answers or {})
        self.ran: list[str] = []
        self.given: list[str] = []

    def run(self, arguments: Sequence[str], given: str = "") -> Finished:
        """Note a command line."""
        line = " ".join(arguments)
        self.ran.append(line)
        self.given.append(given)
        found = [key for key in self.answers if line.startswith(key)]
        return self.answers[max(found, key=len)] if found else Finished(0)
