"""Connections to the ports of a sandbox, from inside its network namespace.

Source: kubernetes ``pkg/kubelet/dockershim/docker_streaming_others.go`` (portForward), which let ``nsenter`` and
``socat`` do it.
"""

from __future__ import annotations

import ctypes
import os
import socket
import threading

_CLONE_NEWNET = 0x40000000
_CONNECT_SECONDS = 5.0
_libc = ctypes.CDLL(None, use_errno=True)


def connect_in_namespace(path: str, port: int) -> int:
    """Return the descriptor of a connection to a port of the loopback device of a network namespace.

    A thread of its own goes there, and ends: namespaces belong to threads.

    Raises:
        OSError: nothing listens there, or this process may not enter the namespace.
    """
    found: list[int | OSError] = []

    def enter_and_connect() -> None:
        try:
            namespace = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                if _libc.setns(namespace, _CLONE_NEWNET) != 0:
                    number = ctypes.get_errno()
                    raise OSError(number, os.strerror(number))
            finally:
                os.close(namespace)
            found.append(_connect(port))
        except OSError as error:
            found.append(error)

    thread = threading.Thread(target=enter_and_connect, name="docker-port-forward")
    thread.start()
    thread.join()
    (outcome,) = found
    if isinstance(outcome, OSError):
        raise outcome
    return outcome


def _connect(port: int) -> int:
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_SECONDS).detach()
    except OSError as error:
        try:
            return socket.create_connection(("::1", port), timeout=_CONNECT_SECONDS).detach()
        except OSError:
            raise error from None
