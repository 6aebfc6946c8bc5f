"""Reading the logs of containers: files that grow and rotate, with lines of CRI or of Docker's driver json-file.

Source of the options: kubernetes ``pkg/kubelet/kuberuntime/logs/logs.go``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import orjson

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.times import format_time, parse_time

_BLOCK = 65536
LONGEST_LINE = 1 << 20
"""Of a longer line the rest is passed on as it comes: runtimes cut after 16 KiB, and no file may fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Which part of a log to return, and how; see PodLogOptions."""

    follow: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    since: datetime | None = None
    limit_bytes: int | None = None
    stream: str = ""

    @property
    def since_text(self) -> bytes:
        """The earliest wanted time as log lines write it; RFC 3339 in UTC sorts as text."""
        return format_time(self.since)[:-1].encode() if self.since else b""


def since_seconds(seconds: float, now: datetime) -> datetime:
    """Return the time `seconds` ago."""
    return now - timedelta(seconds=seconds)


def parse_since(text: str) -> datetime:
    """Read a ``sinceTime``.

    Raises:
        ValueError: it is none.
    """
    return parse_time(text)


def _open(path: Path) -> BinaryIO:
    """Open a log.

    Raises:
        FileNotFoundError: there is none, or something that a read would wait for.
    """
    source = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
        source.close()
        raise FileNotFoundError(f"{path} is no regular file")
    return source


def tail_offset(path: Path, lines: int) -> int:
    """Return where the last `lines` lines of a file begin, reading only its end."""
    with _open(path) as source:
        position = source.seek(0, os.SEEK_END)
        if lines <= 0:
            return position
        left, first = lines, True
        while position > 0:
            size = min(_BLOCK, position)
            position -= size
            source.seek(position)
            block = source.read(size)
            end = len(block) - 1 if first and block.endswith(b"\n") else len(block)
            first = False
            while (found := block.rfind(b"\n", 0, end)) >= 0:
                left -= 1
                if left == 0:
                    return position + found + 1
                end = found
        return 0


class LogReader:
    """Reads one container's log; call `read` again and again to follow it."""

    def __init__(self, path: Path, options: LogOptions) -> None:
        """Begin at the place that the options want.

        Raises:
            FileNotFoundError: there is no log (yet).
        """
        self._path = path
        self._options = options
        self._since = options.since_text
        self._left = options.limit_bytes
        self._rest = b""
        self._is_cut = False
        self._partial = False
        offset = tail_offset(path, options.tail_lines) if options.tail_lines is not None else 0
        self._file = _open(path)
        self._file.seek(offset)

    def read(self) -> Iterator[bytes]:
        """Yield what there is now, in pieces; nothing more after the byte limit."""
        while not self.is_exhausted:
            block = self._file.read(_BLOCK)
            if not block:
                return
            text = self._take(block)
            if self._left is not None:
                text = text[: self._left]
                self._left -= len(text)
            if text:
                yield text

    def _take(self, block: bytes) -> bytes:
        """Return the text of the lines that a block completes, and keep the begin of the next one."""
        text = b""
        if self._is_cut:
            rest, end, block = block.partition(b"\n")
            text, self._is_cut = rest + end, not end
        lines = (self._rest + block).split(b"\n")
        self._rest = lines.pop()
        text += b"".join(map(self._text, lines))
        if len(self._rest) > LONGEST_LINE:
            text += self._text(self._rest).removesuffix(b"\n")
            self._rest, self._is_cut = b"", True
        return text

    @property
    def is_exhausted(self) -> bool:
        """Whether the byte limit is used up."""
        return self._left is not None and self._left <= 0

    def _text(self, line: bytes) -> bytes:
        moment, stream, tag, text = _fields(line)
        if self._since and moment[: len(self._since)] < self._since:
            return b""
        if self._options.stream and stream != self._options.stream.encode():
            return b""
        begins, self._partial = not self._partial, tag == b"P"
        stamp = moment + b" " if self._options.timestamps and begins else b""
        return stamp + text + (b"" if self._partial else b"\n")

    def was_rotated(self) -> bool:
        """Tell whether the path leads to another file now; `read` everything first."""
        try:
            return self._path.stat().st_ino != os.fstat(self._file.fileno()).st_ino
        except FileNotFoundError:
            return False

    def reopen(self) -> None:
        """Go on in the fresh file."""
        self._file.close()
        self._file = _open(self._path)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _fields(line: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Return moment, stream, tag and text of a line: CRI's, or an object of Docker's driver json-file."""
    if not line.startswith(b"{"):
        moment, stream, tag, text, *_ = *line.split(b" ", 3), b"", b"", b""
        return moment, stream, tag, text
    try:
        told = orjson.loads(line)
        whole, _, fraction = told["time"].removesuffix("Z").partition(".")
        text = told["log"].encode()
        stream = told["stream"].encode()
    except (ValueError, KeyError, TypeError, AttributeError):
        return b"", b"", b"", line  # what cannot be read is shown as it is
    tag = b"F" if text.endswith(b"\n") else b"P"
    return f"{whole}.{fraction:0<9}Z".encode(), stream, tag, text.removesuffix(b"\n")


def last_text(path: Path, most_bytes: int, most_lines: int) -> str:
    """Return the end of a log as plain text, or nothing when there is no log."""
    try:
        reader = LogReader(path, LogOptions(tail_lines=most_lines))
    except FileNotFoundError:
        return ""
    text = b""
    for piece in reader.read():
        text = (text + piece)[-most_bytes:]
    reader.close()
    return text.decode(errors="replace")
