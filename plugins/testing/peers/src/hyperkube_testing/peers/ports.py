"""Ports for servers that tests start as processes of their own."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager

# Below what kernels hand out to outgoing connections (Linux: from 32768) and to node ports (from 30000): a port chosen
# there cannot be taken by a client's connection between the choice and the server's bind.
_LOWEST, _HIGHEST = 12000, 29999


def free_port() -> int:
    """Return a port of 127.0.0.1 that no process listens on, and that no outgoing connection takes."""
    for port in random.SystemRandom().sample(range(_LOWEST, _HIGHEST + 1), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port between {_LOWEST} and {_HIGHEST}")


@contextmanager
def refusing_port(host: str = "127.0.0.1") -> Iterator[int]:
    """Hold a port on which connections are refused: bound, so that no other process gets it, but not listened on."""
    with socket.socket() as held:
        held.bind((host, 0))
        yield held.getsockname()[1]
