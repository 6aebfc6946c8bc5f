"""The runtime's connections to the shims: start one, send it a command, receive its events."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import select
import socket
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hyperkube_runtime.process.shim.files import PROBE

from hyperkube.hookspecs.runtime import ContainerNotFound, RuntimeFailed

_ANSWER_SECONDS = 30.0
_FORK_SERVER = "import sys; sys.path.insert(0, sys.argv[1]); from shim.fork_server import main; main()"


class ForkServer:
    """The process that forks shims; started when first needed, and again should it end."""

    def __init__(self, errors: Path) -> None:
        """Write the error output of shims to the file `errors`."""
        self._errors = errors
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._makes_views: bool | None = None

    def start_container(self, folder: Path) -> int:
        """Start the container of a folder and return its pid.

        Raises:
            RuntimeFailed: it could not be started; the text says why.
        """
        answer, write_end = os.pipe2(os.O_CLOEXEC)
        try:
            self._send(str(folder), write_end)
        finally:
            os.close(write_end)
        with os.fdopen(answer, "rb", buffering=0) as reader:
            ready, _, _ = select.select([reader], [], [], _ANSWER_SECONDS)
            raw = reader.readline() if ready else b""
        if not raw:
            raise RuntimeFailed(f"the container's shim did not start; see {self._errors}", "RunContainerError")
        reply: dict[str, Any] = json.loads(raw)
        if "error" in reply:
            raise RuntimeFailed(f"failed to start container: {reply['error']}", "RunContainerError")
        return int(reply["pid"])

    def can_make_views(self) -> bool:
        """Tell whether containers get private views here; asked once, the machine's rules do not change."""
        with self._lock:
            known = self._makes_views
        if known is None:
            answer, write_end = os.pipe2(os.O_CLOEXEC)
            try:
                self._send(PROBE.decode(), write_end)
            finally:
                os.close(write_end)
            with os.fdopen(answer, "rb", buffering=0) as reader:
                ready, _, _ = select.select([reader], [], [], _ANSWER_SECONDS)
                known = bool(ready) and reader.readline() == b"private"
            with self._lock:
                self._makes_views = known
        return known

    def _send(self, message: str, descriptor: int) -> None:
        with self._lock:
            for last_try in (False, True):
                if self._line is None:
                    self._line = self._open()
                try:
                    socket.send_fds(self._line, [message.encode()], [descriptor])
                except OSError:
                    self._close()
                    if last_try:
                        raise
                else:
                    return

    def _open(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _FORK_SERVER, str(Path(__file__).parent)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd="/",
                start_new_session=True,
            )
        return ours

    def _close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._process is not None:
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End the fork server; the shims go on."""
        with self._lock:
            self._close()


def connect(folder: Path) -> socket.socket:
    """Connect to the shim of a container.

    Raises:
        ContainerNotFound: it does not run any more.
    """
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            line.connect(f"/proc/self/fd/{descriptor}/shim.sock")  # a socket's own path may have 107 bytes only
        finally:
            os.close(descriptor)
    except OSError as error:
        line.close()
        raise ContainerNotFound(f"container {folder.name!r} is not running") from error
    return line


def send(line: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one command.

    Raises:
        ContainerNotFound: the container ended meanwhile.
    """
    try:
        socket.send_fds(line, [json.dumps(message).encode()], list(descriptors))
    except OSError as error:
        raise ContainerNotFound("the container is not running any more") from error


def receive_message(line: socket.socket, timeout: float | None) -> tuple[dict[str, Any], list[int]] | None:
    """Return the shim's next message and descriptors, None after `timeout` seconds; empty when it has ended."""
    from hyperkube_runtime.process.shim.program import receive

    ready, _, _ = select.select([line], [], [], timeout)
    if not ready:
        return None
    try:
        raw, descriptors = receive(line, 1)
    except OSError:
        return {}, []
    return (json.loads(raw) if raw else {}), descriptors


class ShimProcess:
    """A command in a container, or the container itself when attached to; see `hyperkube.hookspecs.runtime.Process`."""

    def __init__(
        self, line: socket.socket, stdin: int | None, stdout: int | None, stderr: int | None, tty: int
    ) -> None:
        """Take the connection over; `tty` is the terminal's descriptor, or -1."""
        self._line = line
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self._tty = tty
        self._code: int | None = None

    def resize(self, width: int, height: int) -> None:
        """Set the terminal's size."""
        if self._tty >= 0:
            fcntl.ioctl(self._tty, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def wait(self, timeout: float | None = None) -> int | None:
        """Return the exit code, or None when it has not ended in time."""
        if self._code is None:
            received = receive_message(self._line, timeout)
            if received is None:
                return None
            self._code = int(received[0].get("exit", 137))
            self._release()
        return self._code

    def kill(self) -> None:
        """Close the connection: the shim kills a command, and detaches an attached client."""
        if self._code is None:
            self._code = 137
            self._release()

    def _release(self) -> None:
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)  # wakes another thread that waits on it
        self._line.close()
        if self._tty >= 0:
            os.close(self._tty)
            self._tty = -1


def piped_process(
    line: socket.socket, theirs: contextlib.ExitStack, ours: contextlib.ExitStack, *, stdin: bool
) -> tuple[ShimProcess, list[int]]:
    """Make the streams of a command: our process, and the three ends to send; the stacks close what is kept here."""

    def keep(descriptor: int, stack: contextlib.ExitStack) -> int:
        stack.callback(os.close, descriptor)
        return descriptor

    out, out_end = os.pipe2(os.O_CLOEXEC)
    err, err_end = os.pipe2(os.O_CLOEXEC)
    for descriptor, stack in ((out, ours), (err, ours), (out_end, theirs), (err_end, theirs)):
        keep(descriptor, stack)
    if not stdin:
        nothing = keep(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), theirs)
        return ShimProcess(line, None, out, err, -1), [nothing, out_end, err_end]
    source, entry_end = os.pipe2(os.O_CLOEXEC)
    keep(source, theirs)
    return ShimProcess(line, keep(entry_end, ours), out, err, -1), [source, out_end, err_end]


class ShimEvents:
    """Receives, on one thread, which containers changed: reported by their shims, or seen from the end of a shim."""

    def __init__(self, root: Path, changed: Callable[[str], None], logger: logging.Logger) -> None:
        """Call `changed` with a container's id; it is called on this object's thread."""
        self._changed = changed
        self._logger = logger
        self._poll = select.poll()
        self._watched: dict[int, str] = {}
        path = root / "events.sock"
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._socket.bind(f"/proc/self/fd/{folder}/events.sock")
            Path(f"/proc/self/fd/{folder}/events.sock").chmod(0o600)
        finally:
            os.close(folder)
        self._poll.register(self._socket, select.POLLIN)
        self._closed = threading.Event()
        self._stop, self._stopped = os.pipe2(os.O_CLOEXEC)
        self._poll.register(self._stop, select.POLLIN)
        self._thread = threading.Thread(target=self._run, name="process-changes", daemon=True)
        self._thread.start()

    def follow(self, pid: int, container_id: str) -> None:
        """Notice when the shim `pid` ends; no error if it has already."""
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        self._watched[descriptor] = container_id
        self._poll.register(descriptor, select.POLLIN)
        os.write(self._stopped, b".")  # a poll under way does not see what is registered meanwhile

    def _run(self) -> None:
        while not self._closed.is_set():
            for descriptor, _ in self._poll.poll():
                if descriptor == self._stop:
                    os.read(self._stop, 4096)
                    continue
                if descriptor == self._socket.fileno():
                    container_id = self._socket.recv(4096).decode(errors="replace")
                else:
                    self._poll.unregister(descriptor)
                    container_id = self._watched.pop(descriptor)
                    os.close(descriptor)
                try:
                    self._changed(container_id)
                except Exception:
                    self._logger.exception("container %s: its change could not be processed", container_id)

    def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        os.write(self._stopped, b".")
        self._thread.join()
        for descriptor in (*self._watched, self._stop, self._stopped):
            os.close(descriptor)
        self._socket.close()
