"""How clients end TLS connections."""

from __future__ import annotations

import contextlib
import socket
import ssl


def without_a_word(sock: ssl.SSLSocket) -> None:
    """End the TCP connection below."""
    socket.socket.shutdown(sock, socket.SHUT_RDWR)


def with_goodbye(sock: ssl.SSLSocket) -> None:
    """Send TLS's close_notify."""
    with contextlib.suppress(OSError):  # what was on its way comes before the server's
        sock.unwrap()
