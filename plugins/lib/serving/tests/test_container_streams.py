"""exec and attach: the streams of a process on their way to a client, with a process of pipes."""

from __future__ import annotations

import os
import threading

import pytest
from hyperkube_lib.serving.container_streams import serve_process


class PipedProcess:
    """Has written both outputs and ended before the client listens."""

    stdin = None

    def __init__(self, stdout: bytes, stderr: bytes | None) -> None:
        self.stdout = _filled(stdout)
        self.stderr = None if stderr is None else _filled(stderr)
        self.killed = False

    def resize(self, width: int, height: int) -> None:
        raise AssertionError((width, height))

    def wait(self, timeout: float | None = None) -> int:
        return 137 if self.killed else 2

    def kill(self) -> None:
        self.killed = True


class RecordingChannels:
    """Keeps what is written, in order; a client that says nothing and leaves at `leaves_at`, a channel's number."""

    protocol = "v5.channel.k8s.io"

    def __init__(self, leaves_at: int = -1) -> None:
        self.written = []
        self.closed = threading.Event()
        self._leaves_at = leaves_at

    def read(self, _channel: int) -> bytes:
        return b""

    def write(self, channel: int, data: bytes) -> None:
        if channel == self._leaves_at:
            raise ConnectionError
        self.written.append((channel, data))

    def close(self) -> None:
        self.closed.set()


def _filled(data: bytes) -> int:
    ours, theirs = os.pipe()
    os.write(theirs, data)
    os.close(theirs)
    return ours


def _is_closed(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


def test_why_a_program_failed_goes_before_the_output_that_a_client_leaves_with():
    process, channels = PipedProcess(stdout=bytes(10240), stderr=b"tar: no such file\n"), RecordingChannels()

    serve_process(lambda: process, tells_exit=True)(channels)

    assert [channel for channel, _ in channels.written] == [2, 1, 3]
    assert channels.closed.is_set()


def test_both_outputs_arrive_whole():
    out, err = bytes(range(256)) * 200, b"e" * 50_000
    process, channels = PipedProcess(out, err), RecordingChannels()

    serve_process(lambda: process, tells_exit=True)(channels)

    assert b"".join(data for channel, data in channels.written if channel == 1) == out
    assert b"".join(data for channel, data in channels.written if channel == 2) == err


def test_a_terminal_has_one_output():
    process, channels = PipedProcess(b"done\r\n", stderr=None), RecordingChannels()

    serve_process(lambda: process, tells_exit=False)(channels)

    assert channels.written[0] == (1, b"done\r\n")


@pytest.mark.parametrize("leaves_at", [1, 2])
def test_a_client_that_leaves_ends_the_process_and_its_streams(leaves_at):
    process, channels = PipedProcess(b"out", b"err"), RecordingChannels(leaves_at)

    serve_process(lambda: process, tells_exit=True)(channels)

    assert process.killed
    assert _is_closed(process.stdout)
    assert _is_closed(process.stderr)
