"""What uvloop's TLS transports do not say of themselves, found by looking at what they hold.

A transport holds its ``SSLProtocol``, and that the TCP transport below. Where uvloop's connections look different from
here, nothing is found.
"""

from __future__ import annotations

import asyncio
import gc
from typing import Any, cast


def ssl_protocol(transport: asyncio.BaseTransport) -> Any:
    """Return the ``SSLProtocol`` of a TLS transport of uvloop's; None for any other transport."""
    for referent in gc.get_referents(transport):
        if type(referent).__name__ == "SSLProtocol" and _is_of_uvloop(referent):
            return referent
    return None


class TlsTransport(asyncio.Transport):
    """A TLS transport of uvloop's that writes nothing more once the connection has ended.

    That is so when either side has closed it, and for as long as what was written before waits for the client. uvloop
    drops what is written from then on, and says so on standard error from the sixth time on. A client that goes without
    TLS's own goodbye, as many do, ends the TCP connection below; uvloop's transport does not tell. Here the protocol is
    paused instead, with each write, so that nothing more is made for the client; `is_closing` tells it why.
    """

    __slots__ = ("_below", "_protocol", "_tls")

    def __init__(self, tls: asyncio.Transport, below: asyncio.BaseTransport) -> None:
        """Write to `tls` for as long as neither it nor the TCP transport `below` is closing."""
        self._tls = tls
        self._below = below
        self._protocol = cast("asyncio.Protocol", tls.get_protocol())
        """Known here, too, as `tls` forgets it a turn of the loop before the protocol loses its connection."""

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Write, or pause the protocol where nothing is taken any more."""
        if self._tls.is_closing() or self._below.is_closing():
            self._protocol.pause_writing()
        else:
            self._tls.write(data)

    def is_closing(self) -> bool:
        """Tell whether the connection has ended, though its protocol may not have lost it yet."""
        return self._tls.is_closing() or self._below.is_closing()

    # what is uvloop's to do

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return what is known of the connection."""
        return self._tls.get_extra_info(name, default)

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give the connection to another protocol."""
        self._protocol = cast("asyncio.Protocol", protocol)
        self._tls.set_protocol(protocol)

    def close(self) -> None:
        """Close behind what waits."""
        self._tls.close()

    def abort(self) -> None:
        """Close at once."""
        self._tls.abort()

    def pause_reading(self) -> None:
        """Read nothing for a while."""
        self._tls.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        self._tls.resume_reading()

    def get_write_buffer_size(self) -> int:
        """Return how many bytes wait."""
        return self._tls.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Say how many bytes may wait before the protocol is paused, and how few before it is resumed."""
        self._tls.set_write_buffer_limits(high, low)

    def can_write_eof(self) -> bool:
        """Tell that one side of TLS alone cannot be closed."""
        return False


def transport_of(transport: asyncio.BaseTransport) -> asyncio.Transport:
    """Return a TLS transport of uvloop's as one that knows its end; any other transport as it is."""
    given = cast("asyncio.Transport", transport)  # uvloop's transports only look like it
    protocol = ssl_protocol(transport)
    if protocol is None:
        return given
    for referent in gc.get_referents(protocol):
        if referent is not transport and hasattr(referent, "is_closing") and _is_of_uvloop(referent):
            return TlsTransport(given, referent)
    return TlsTransport(given, given)


def _is_of_uvloop(thing: object) -> bool:
    return type(thing).__module__ == "uvloop.loop"
