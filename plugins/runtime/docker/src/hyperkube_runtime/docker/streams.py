"""Docker's streams of containers and commands as descriptors.

Without a terminal output and errors come in frames on one connection; threads of the process copy them apart.

Source: Docker Engine API, "Stream format" of ``POST /containers/{id}/attach``.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator

from hyperkube_runtime.docker.engine import RawStream

from hyperkube.machinery.clock import Clock

_HEADER = struct.Struct(">BxxxL")
_CHUNK = 32768
_STDERR = 2


class DockerProcess:
    """A command or a container on a connection; see `hyperkube.hookspecs.runtime.Process`."""

    def __init__(
        self,
        stream: RawStream,
        clock: Clock,
        *,
        stdin: bool,
        tty: bool,
        exit_code: Callable[[], int],
        resize: Callable[[int, int], None],
        kill: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin to copy.

        Args:
            stream: the connection, which is this object's from now on.
            clock: for waiting.
            stdin: whether the caller gets an input.
            tty: whether output comes as it is, without frames.
            exit_code: returns the code; called once the streams have ended.
            resize: sets the size of the terminal.
            kill: ends the command itself.
        """
        self._connection, self._clock = stream.connection, clock
        self._exit_code, self._resize, self._kill = exit_code, resize, kill
        self._ended = threading.Event()
        self._users = 2 if stdin else 1
        self._lock = threading.Lock()
        self._code: int | None = None
        self.stdin: int | None = None
        self.stdout: int | None
        self.stderr: int | None = None
        self.stdout, out = os.pipe2(os.O_CLOEXEC)
        ends = {1: out}
        if not tty:
            self.stderr, ends[_STDERR] = os.pipe2(os.O_CLOEXEC)
        if stdin:
            source, self.stdin = os.pipe2(os.O_CLOEXEC)
            _thread(self._copy_in, source)
        _thread(self._copy_out, _Received(stream), ends, tty)

    def _copy_in(self, source: int) -> None:
        try:
            while data := os.read(source, _CHUNK):
                self._connection.sendall(data)
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the command reads no more
        finally:
            os.close(source)
            self._release()

    def _copy_out(self, received: _Received, ends: dict[int, int], tty: bool) -> None:
        try:
            for number, data in received.raw() if tty else received.frames():
                key = _STDERR if number == _STDERR else 1
                if key in ends and not _write(ends[key], data):
                    os.close(ends.pop(key))
        finally:
            for end in ends.values():
                os.close(end)
            self._ended.set()
            self._release()

    def _release(self) -> None:
        """Close the connection once neither direction uses it."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._connection.close()

    def resize(self, width: int, height: int) -> None:
        """Set the terminal's size."""
        self._resize(width, height)

    def wait(self, timeout: float | None = None) -> int | None:
        """Return the exit code once the streams have ended, None when `timeout` seconds passed first."""
        if not self._clock.wait(self._ended, timeout):
            return None
        if self._code is None:
            self._code = self._exit_code()
        return self._code

    def kill(self) -> None:
        """End the command and its streams; the code of one that has ended stays."""
        if not self._ended.is_set():
            self._kill()
        try:
            self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it is closed already


class _Received:
    """What comes on a connection, after what has come already."""

    def __init__(self, stream: RawStream) -> None:
        self._connection = stream.connection
        self._buffer = stream.head

    def _more(self) -> bool:
        try:
            data = self._connection.recv(_CHUNK)
        except OSError:  # the other side went away
            data = b""
        self._buffer += data
        return bool(data)

    def raw(self) -> Iterator[tuple[int, bytes]]:
        """Yield (1, data)."""
        while self._buffer or self._more():
            data, self._buffer = self._buffer, b""
            yield 1, data

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Yield (stream, data); a frame that is cut off at the end is given as far as it came."""
        while True:
            while len(self._buffer) < _HEADER.size:
                if not self._more():
                    return
            number, size = _HEADER.unpack_from(self._buffer)
            self._buffer = self._buffer[_HEADER.size :]
            while size:
                if not self._buffer and not self._more():
                    return
                data, self._buffer = self._buffer[:size], self._buffer[size:]
                size -= len(data)
                yield number, data


def _write(descriptor: int, data: bytes) -> bool:
    """Write everything; tell whether the other end still reads."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except BrokenPipeError:
        return False
    return True


def _thread(call: Callable[..., None], *args: object) -> None:
    threading.Thread(target=call, args=args, name="docker-streams", daemon=True).start()
