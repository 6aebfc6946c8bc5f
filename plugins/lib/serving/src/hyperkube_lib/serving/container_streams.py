"""exec, attach and port-forward: bytes copied between a client's channels and a container's streams.

Source of the final Status: kubernetes cri-streaming ``pkg/streaming/remotecommand/{exec,attach}.go``.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Callable

import orjson
from hyperkube_lib.serving.exchange import Channels, ForwardedConnection, PortStreams
from hyperkube_lib.serving.exit_status import exit_status, failure_status, write_status

from hyperkube.hookspecs.runtime import Process, Runtime, RuntimeFailed
from hyperkube.machinery.objects import Object

STDIN, STDOUT, STDERR, RESIZE = 0, 1, 2, 4
_CHUNK = 32768


def serve_process(begin: Callable[[], Process], *, tells_exit: bool) -> Callable[[Channels], None]:
    """Return what serves an upgraded connection: start the process, copy its streams, tell its end.

    Args:
        begin: starts or attaches; may raise RuntimeFailed.
        tells_exit: whether the exit code matters to the client (exec, not attach).
    """

    def serve(channels: Channels) -> None:
        try:
            process = begin()
        except RuntimeFailed as error:
            _finish(channels, failure_status(str(error)))
            return
        if process.stdin is not None:
            _thread(_pump_in, channels, process.stdin)
        _thread(_pump_sizes, channels, process)
        _pump_out(channels, process)
        code = process.wait()
        _finish(channels, exit_status(code or 0 if tells_exit else 0))

    return serve


def _thread(call: Callable[..., None], *args: object) -> threading.Thread:
    thread = threading.Thread(target=call, args=args, name=call.__name__.strip("_"), daemon=True)
    thread.start()
    return thread


def _finish(channels: Channels, status: Object) -> None:
    try:
        write_status(channels, status)
    except ConnectionError:
        return  # the client is gone
    finally:
        channels.close()


def _pump_out(channels: Channels, process: Process) -> None:
    """Copy both outputs to their ends; what waits on stderr goes before what waits on stdout.

    A program that fails tells why, unbuffered, before its stdout is flushed, and a client may leave with the end of
    stdout: ``kubectl cp`` does at the end of the archive.
    """
    open_streams = [(s, n) for s, n in ((process.stdout, STDOUT), (process.stderr, STDERR)) if s is not None]
    # poll looks at them in this order: what was written to stderr before it saw stdout ready, it sees as well
    poller = select.poll()
    for stream, _ in open_streams:
        poller.register(stream, select.POLLIN)
    try:
        while open_streams:
            ready = {stream for stream, _ in poller.poll()}
            for stream, number in reversed(open_streams):
                if stream not in ready:
                    continue
                if data := _read(stream):
                    channels.write(number, data)
                else:
                    poller.unregister(stream)
                    open_streams.remove((stream, number))
                    os.close(stream)
    except ConnectionError:
        process.kill()  # the client is gone
    finally:
        for stream, _ in open_streams:
            os.close(stream)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:  # a terminal whose last user is gone
        return b""


def _pump_in(channels: Channels, stream: int) -> None:
    try:
        while data := channels.read(STDIN):
            while data:
                data = data[os.write(stream, data) :]
    except OSError:
        return  # the process reads no more, or the client is gone
    finally:
        os.close(stream)


def _pump_sizes(channels: Channels, process: Process) -> None:
    rest = b""
    try:
        while data := channels.read(RESIZE):
            *lines, rest = (rest + data).replace(b"}", b"}\n").split(b"\n")
            for line in lines:
                if line.strip():
                    size = orjson.loads(line)
                    process.resize(int(size.get("Width", 0)), int(size.get("Height", 0)))
    except (OSError, ValueError):
        return  # the client is gone, or makes no sense; the size stays


def serve_ports(runtime: Runtime, sandbox_id: str) -> Callable[[PortStreams], None]:
    """Return what serves a port-forward connection: each forwarded connection on threads of its own."""

    def serve(streams: PortStreams) -> None:
        while (connection := streams.accept()) is not None:
            _thread(_forward, runtime, sandbox_id, connection)
        streams.close()

    return serve


def _forward(runtime: Runtime, sandbox_id: str, connection: ForwardedConnection) -> None:
    try:
        remote = socket.socket(fileno=runtime.port_forward(sandbox_id, connection.port))
    except (RuntimeFailed, OSError) as error:
        connection.fail(f"error forwarding port {connection.port} to pod: {error}")
        connection.close()
        return
    with remote:
        remote.settimeout(None)
        back = _thread(_carry_back, remote, connection)
        try:
            while data := connection.read():
                remote.sendall(data)
            remote.shutdown(socket.SHUT_WR)
        except OSError:
            _end(remote)
        back.join()
    connection.close()


def _carry_back(remote: socket.socket, connection: ForwardedConnection) -> None:
    try:
        while data := remote.recv(_CHUNK):
            connection.write(data)
    except OSError:
        _end(remote)
    connection.close()


def _end(remote: socket.socket) -> None:
    try:
        remote.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is closed already
