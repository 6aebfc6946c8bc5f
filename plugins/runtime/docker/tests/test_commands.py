"""Commands in containers, and the streams that they come with."""

import os
import socket
import struct

import pytest
from hyperkube_runtime.docker.engine import RawStream
from hyperkube_runtime.docker.streams import DockerProcess

from hyperkube.hookspecs.runtime import ContainerNotFound, ExecResult, RuntimeFailed
from hyperkube.machinery.clock import SystemClock


@pytest.fixture
def container(rig):
    container = rig.container(rig.sandbox())
    rig.runtime.start_container(container)
    return container


def read(descriptor):
    """Return all that comes from a descriptor, and close it."""
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def test_output_and_errors_are_apart(rig, container):
    process = rig.runtime.exec(container, ["echo", "a"], stdin=False, tty=False)

    assert (read(process.stdout), read(process.stderr), process.wait(60)) == (b"echo a\n", b"err\n", 0)


def test_a_terminal_has_one_stream(rig, container):
    process = rig.runtime.exec(container, ["echo", "a"], stdin=False, tty=True)

    assert process.stderr is None
    assert (read(process.stdout), process.wait(60)) == (b"echo a\n", 0)


def test_a_command_is_run_to_its_end(rig, container):
    assert rig.runtime.exec_sync(container, ["exit", "3"], 5) == ExecResult(b"exit 3\n", b"err\n", 3)


def test_attach_brings_what_the_container_says(rig, container):
    process = rig.runtime.attach(container, stdin=False)

    assert (read(process.stdout), read(process.stderr), process.wait(60)) == (b"attached\n", b"", 0)


def test_commands_need_a_running_container(rig, container):
    rig.runtime.stop_container(container, 1)

    with pytest.raises(RuntimeFailed, match="is not running"):
        rig.runtime.exec(container, ["ls"], stdin=False, tty=False)
    with pytest.raises(ContainerNotFound):
        rig.runtime.attach("nosuch", stdin=False)


class Peer:
    """The other end of a command's connection."""

    def __init__(self, *, stdin=False, tty=False):
        self.socket, theirs = socket.socketpair()
        self.killed = []
        self.process = DockerProcess(
            RawStream(theirs, b""), SystemClock(), stdin=stdin, tty=tty,
            exit_code=lambda: 7, resize=lambda width, height: None, kill=lambda: self.killed.append(True),
        )  # fmt: skip

    def frame(self, number, data, size=None):
        self.socket.sendall(struct.pack(">BxxxL", number, len(data) if size is None else size) + data)


def test_frames_may_come_in_pieces():
    peer = Peer()
    peer.frame(1, b"ab", size=4)
    peer.socket.sendall(b"cd\x02\x00")
    peer.socket.sendall(b"\x00\x00\x00\x00\x00\x01e")
    peer.socket.close()

    assert (read(peer.process.stdout), read(peer.process.stderr), peer.process.wait(60)) == (b"abcd", b"e", 7)


def test_input_goes_to_the_command_until_its_end():
    peer = Peer(stdin=True, tty=True)
    os.write(peer.process.stdin, b"typed")
    os.close(peer.process.stdin)

    assert peer.socket.makefile("rb").read() == b"typed"
    peer.socket.close()
    read(peer.process.stdout)


def test_a_reader_that_is_gone_does_not_hold_the_other_stream_up():
    peer = Peer()
    os.close(peer.process.stdout)
    for _ in range(8):
        peer.frame(1, b"x" * 32768)
    peer.frame(2, b"heard")
    peer.socket.close()

    assert read(peer.process.stderr) == b"heard"


def test_a_command_that_does_not_end_can_be_ended():
    peer = Peer()

    assert peer.process.wait(0.01) is None
    peer.process.kill()

    assert (peer.killed, peer.process.wait(60)) == ([True], 7)
    os.close(peer.process.stdout)
    os.close(peer.process.stderr)
    peer.socket.close()
