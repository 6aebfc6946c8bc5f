"""The actions that probes and lifecycle hooks share: run a command, ask over HTTP, connect over TCP.

Sources: kubernetes ``pkg/probe/http/http.go``, ``pkg/probe/tcp/tcp.go``, ``pkg/probe/exec/exec.go``.
"""

from __future__ import annotations

import http.client
import os
import select
import socket
import ssl
from collections.abc import Sequence
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from hyperkube.hookspecs.runtime import Process, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

BODY_LIMIT = 10 * 1024
OUTPUT_LIMIT = 10 * 1024


class Outcome(NamedTuple):
    """``success``, ``failure`` (the answer was no) or ``error`` (there was no answer to be had), with its text."""

    result: Literal["success", "failure", "error"]
    text: str


def run_command(
    runtime: Runtime, clock: Clock, container_id: str, command: Sequence[str], timeout: float | None
) -> tuple[int | None, bytes]:
    """Run a command in a container; return its exit code, None after `timeout` seconds, and the start of its output.

    Raises:
        RuntimeFailed: it could not be started.
    """
    process = runtime.exec(container_id, command, stdin=False, tty=False)
    try:
        return _collect(process, clock, timeout)
    finally:
        process.kill()
        for descriptor in (process.stdin, process.stdout, process.stderr):
            if descriptor is not None:
                os.close(descriptor)


def _collect(process: Process, clock: Clock, timeout: float | None) -> tuple[int | None, bytes]:
    deadline = None if timeout is None else clock.monotonic() + timeout
    streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
    output = b""
    while streams:
        left = None if deadline is None else deadline - clock.monotonic()
        if left is not None and left <= 0:
            return None, output
        ready, _, _ = select.select(streams, [], [], left)
        for stream in ready:
            data = _read(stream)
            output = (output + data)[:OUTPUT_LIMIT]
            if not data:
                streams.remove(stream)
    left = None if deadline is None else max(0.0, deadline - clock.monotonic())
    return process.wait(left), output


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # a terminal whose last user is gone
        return b""


def port_number(port: object, container: Object) -> int:
    """Return a port given as number, as text or by the name it has in the container.

    Raises:
        ValueError: the container has no port of that name, or the number is out of range.
    """
    if isinstance(port, str) and not port.isdecimal():
        for entry in container.get("ports") or []:
            if entry.get("name") == port:
                return int(entry["containerPort"])
        raise ValueError(f"couldn't find port: {port!r} in {container['name']!r}")
    number = int(str(port))
    if not 0 < number < 65536:
        raise ValueError(f"invalid port number: {number}")
    return number


def exec_check(runtime: Runtime, clock: Clock, container_id: str, action: Object, timeout: float) -> Outcome:
    """Run the command of an ``exec`` action; exit code 0 is success."""
    command = action.get("command") or []
    try:
        code, output = run_command(runtime, clock, container_id, command, timeout)
    except RuntimeFailed as error:
        return Outcome("error", str(error))
    text = output.decode(errors="replace")
    if code is None:
        return Outcome("failure", f'command timed out: "{" ".join(command)}" timed out after {timeout:g}s')
    return Outcome("success" if code == 0 else "failure", text)


def http_check(action: Object, container: Object, address: str, timeout: float, *, agent: str) -> Outcome:
    """Ask over HTTP; a status from 200 to 399 is success. Certificates are not checked, as with Kubernetes."""
    try:
        port = port_number(action["port"], container)
    except ValueError as error:
        return Outcome("error", str(error))
    host = action.get("host") or address
    secure = str(action.get("scheme") or "HTTP").upper() == "HTTPS"
    path = action.get("path") or "/"
    path = path if path.startswith("/") else "/" + path
    headers = {"User-Agent": agent, "Accept": "*/*", "Connection": "close"}
    headers |= {entry["name"]: entry["value"] for entry in action.get("httpHeaders") or []}
    url = f"{'https' if secure else 'http'}://{host}:{port}{path}"
    connection: http.client.HTTPConnection
    if secure:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read(BODY_LIMIT).decode(errors="replace")
        elsewhere = urlsplit(answer.headers.get("Location", "")).hostname
    except (OSError, http.client.HTTPException) as error:
        return Outcome("failure", f'Get "{url}": {_go_words(error, host, port)}')
    finally:
        connection.close()
    if 300 <= answer.status < 400 and elsewhere and elsewhere != host:
        return Outcome("success", f"Probe terminated redirects, Response body: {body}")
    if 200 <= answer.status < 400:
        return Outcome("success", body)
    return Outcome("failure", f"HTTP probe failed with statuscode: {answer.status}")


def _go_words(error: Exception, host: str, port: int) -> str:
    if isinstance(error, TimeoutError):
        return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    if isinstance(error, ConnectionRefusedError):
        return f"dial tcp {host}:{port}: connect: connection refused"
    return str(error) or type(error).__name__


def tcp_check(action: Object, container: Object, address: str, timeout: float) -> Outcome:
    """Connect over TCP; an open port is success."""
    try:
        port = port_number(action["port"], container)
    except ValueError as error:
        return Outcome("error", str(error))
    host = action.get("host") or address
    try:
        socket.create_connection((host, port), timeout).close()
    except TimeoutError:
        return Outcome("failure", f"dial tcp {host}:{port}: i/o timeout")
    except OSError as error:
        return Outcome("failure", _go_words(error, host, port))
    return Outcome("success", "")
