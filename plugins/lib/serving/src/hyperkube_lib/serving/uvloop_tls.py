"""What uvloop's TLS transports do not say of themselves, found by looking at what they hold.

A transport holds its ``SSLProtocol``, and that the TCP transport below. Where uvloop's connections look different from
here, nothing is found.
"""

from __future__ import annotations

import asyncio
import gc
from typing import Any


def ssl_protocol(transport: asyncio.BaseTransport) -> Any:
    """Return the ``SSLProtocol`` of a TLS transport of uvloop's; None for any other transport."""
    for referent in gc.get_referents(transport):
        if type(referent).__name__ == "SSLProtocol" and _is_of_uvloop(referent):
            return referent
    return None


class TlsEnd:
    """Tells when a TLS connection takes nothing more, though its protocol has not lost it yet.

    That is so when either side has closed it, and for as long as what was written before waits for the client. uvloop
    drops what is written from then on, and says so on standard error from the sixth time on. A client that goes without
    TLS's own goodbye, as many do, ends the TCP connection below; the TLS transport does not tell.
    """

    __slots__ = ("_below", "_transport")

    def __init__(self, transport: asyncio.BaseTransport, below: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._below = below

    def __bool__(self) -> bool:
        """Tell whether it has come."""
        return self._transport.is_closing() or self._below.is_closing()


def tls_end(transport: asyncio.BaseTransport) -> TlsEnd | None:
    """Return what tells the end of a TLS transport of uvloop's; None for any other transport."""
    protocol = ssl_protocol(transport)
    if protocol is None:
        return None
    for referent in gc.get_referents(protocol):
        if referent is not transport and hasattr(referent, "is_closing") and _is_of_uvloop(referent):
            return TlsEnd(transport, referent)
    return TlsEnd(transport, transport)


def _is_of_uvloop(thing: object) -> bool:
    return type(thing).__module__ == "uvloop.loop"
