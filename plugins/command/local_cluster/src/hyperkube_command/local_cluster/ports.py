"""Ports that a cluster is to listen on: whether they can be bound, and which one is free."""

from __future__ import annotations

import socket

from hyperkube.machinery.errors import UsageError


def free_port(address: str, wanted: int) -> int:
    """Return `wanted` if it can be bound, else a port the kernel picks.

    Raises:
        UsageError: nothing can be bound at the address.
    """
    for port in (wanted, 0):
        try:
            return _bound(address, port)
        except OSError:
            continue
    raise UsageError(f"cannot listen on {address}")


def refusal(address: str, port: int) -> str:
    """Return why the port cannot be bound; empty if it can."""
    try:
        _bound(address, port)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _bound(address: str, port: int) -> int:
    """Bind a port for a moment; return which one it was.

    Raises:
        OSError: it cannot be bound.
    """
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, port))
        return int(probe.getsockname()[1])
