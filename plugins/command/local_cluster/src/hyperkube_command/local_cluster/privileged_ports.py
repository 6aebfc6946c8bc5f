"""Service ports below 1024: who may bind them, and what serves those who may not."""

from __future__ import annotations

import socket

from hyperkube_command.local_cluster.arguments import ANYWHERE, ClusterOptions

HTTPS_PORT = 443
PORT_OFFSET = 10_000
"""What the proxier adds to a port below 1024 that it may not bind; the pods' variables tell the sum."""


def may_bind(address: str) -> bool:
    """Tell whether this process may bind ports below 1024."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, HTTPS_PORT))
        except PermissionError:
            return False
        except OSError:
            return True  # another program has the port: that is no question of privilege
    return True


def kubernetes_service_port(cluster: ClusterOptions, *, is_privileged: bool) -> int:
    """Return the port of the Service kubernetes: 443 where that may be bound, else one that every user may bind.

    It is a port of the Service itself, so that its variables, its object and what is served say the same.
    """
    if is_privileged:
        return HTTPS_PORT
    if cluster.bind_address in ANYWHERE:
        # There the API server's own port is taken on every address.
        return HTTPS_PORT + PORT_OFFSET
    return cluster.secure_port
