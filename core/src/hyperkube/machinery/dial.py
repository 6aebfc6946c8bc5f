"""Connecting to a server by way of another: what the API server's egress selector gives to those who make requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from socket import socket


class Dial(Protocol):
    """Connects to a host and port, through a proxy, say."""

    def __call__(self, host: str, port: int, *, seconds: float = 30.0) -> socket:
        """Return a connected socket; blocks for so many seconds at most.

        Raises:
            OSError: it cannot be had.
        """
