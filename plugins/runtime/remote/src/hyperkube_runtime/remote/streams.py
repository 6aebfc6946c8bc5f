"""What a runtime with a streaming server of its own leaves to the kubelet: nothing but to pass connections on."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from hyperkube.hookspecs.runtime import RuntimeFailed

_CONNECT_SECONDS = 5.0


class NoStreams(RuntimeFailed):
    """The runtime hands out no descriptors of streams: connections are passed on to its URL."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} goes through the URL of the runtime's streaming server", "NoStreams")


def port_connection(ips: Sequence[str], port: int) -> int:
    """Return the descriptor of a socket that is connected to a port of a sandbox.

    Raises:
        RuntimeFailed: it has no address, or nothing listens there.
    """
    problem: OSError | str = "the pod has no address"
    for address in ips:
        try:
            return socket.create_connection((address, port), timeout=_CONNECT_SECONDS).detach()
        except OSError as error:
            problem = error
    raise RuntimeFailed(f"failed to connect to port {port} of the pod: {problem}")
