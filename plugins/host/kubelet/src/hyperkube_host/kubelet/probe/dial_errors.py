"""Errors of connections, in the words of Go's net and net/http packages that people search for."""

from __future__ import annotations

import errno
import http.client
import os
import socket
import ssl

SCHEME_MISMATCH = "http: server gave HTTP response to HTTPS client"
_OF_CONNECT = frozenset((errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EADDRNOTAVAIL))
"""Numbers of errors that only connecting has."""


class SchemeMismatch(ConnectionError):
    """The server answered the beginning of TLS with a plain HTTP response."""

    def __init__(self) -> None:
        super().__init__(SCHEME_MISMATCH)


def place(host: str, port: int) -> str:
    """Return an address and a port as one text; source: Go ``net`` (JoinHostPort)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def dial_error_text(error: Exception, host: str, port: int) -> str:
    """Return the text for a connection that failed for another reason than a timeout."""
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    if isinstance(error, http.client.RemoteDisconnected | ssl.SSLEOFError):
        return "EOF"
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return "tls: first record does not look like a TLS handshake"
    number = error.errno if isinstance(error, OSError) else None
    if number is not None and number in _OF_CONNECT:
        return f"dial tcp {place(host, port)}: connect: {os.strerror(number).lower()}"
    return str(error) or type(error).__name__
