"""Errors of connections, in the words of Go's net package that people search for."""

from __future__ import annotations


def dial_error_text(error: Exception, host: str, port: int) -> str:
    """Return the text for a connection that failed for another reason than a timeout."""
    if isinstance(error, ConnectionRefusedError):
        return f"dial tcp {host}:{port}: connect: connection refused"
    return str(error) or type(error).__name__
