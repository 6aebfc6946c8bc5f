"""Container output as CRI log lines: ``2030-01-01T00:00:00.000000000Z stdout F text``.

Source of the format: kubernetes ``pkg/kubelet/kuberuntime/logs/logs.go``. A line of over 16 KiB, or one that the end
of the stream cuts off, is tagged P (partial): readers join it with what follows.
"""

from __future__ import annotations

import os
from time import gmtime, strftime, time_ns  # this process has no cluster clock: it runs beside it

LONGEST = 16 * 1024


def stamp() -> bytes:
    """Return the time now with nanoseconds, as RFC 3339 in UTC."""
    seconds, nanoseconds = divmod(time_ns(), 1_000_000_000)
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(seconds))}.{nanoseconds:09d}Z".encode()


class LogFile:
    """The log of one container; reopened by name when it was rotated away."""

    def __init__(self, folder: int, name: str) -> None:
        """Append to `name` in the folder that the descriptor `folder` stands for."""
        self._folder = folder
        self._name = name
        self._rest: dict[bytes, bytes] = {}
        self._file = self._open()

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        return os.open(self._name, flags, 0o640, dir_fd=self._folder)

    def reopen(self) -> None:
        """Go on in a fresh file."""
        fresh = self._open()
        os.close(self._file)
        self._file = fresh

    def write(self, stream: bytes, data: bytes) -> None:
        """Log what came out of a stream; the last, unfinished line waits for its end."""
        lines = (self._rest.get(stream, b"") + data).split(b"\n")
        rest = lines.pop()
        prefix = stamp() + b" " + stream
        out: list[bytes] = []
        for line in lines:
            whole = line
            while len(whole) > LONGEST:
                out.append(prefix + b" P " + whole[:LONGEST] + b"\n")
                whole = whole[LONGEST:]
            out.append(prefix + b" F " + whole + b"\n")
        while len(rest) > LONGEST:
            out.append(prefix + b" P " + rest[:LONGEST] + b"\n")
            rest = rest[LONGEST:]
        self._rest[stream] = rest
        self._put(b"".join(out))

    def end(self, stream: bytes) -> None:
        """Log what is left of a stream that ended."""
        rest = self._rest.pop(stream, b"")
        if rest:
            self._put(stamp() + b" " + stream + b" P " + rest + b"\n")

    def _put(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            return  # a full disk must not stop the container; the lines are lost, as with any runtime
