"""HTTP/2 behind the HTTP edge, for clients that ask for it in the TLS handshake (ALPN ``h2``).

HTTP/1.1 is what a client gets that offers both, as it costs the server less for each request; what HTTP/2 is for are
clients with many streams that are silent most of the time, which share one connection then. Everything dear is imported
when the first of them comes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hyperkube_lib.http2.bounds import STREAMS, Bounds
from hyperkube_lib.serving.service import Service

if TYPE_CHECKING:
    from hyperkube_lib.http2.request_head import KnownFields


class Http2Serving:
    """How one server speaks HTTP/2; implements `hyperkube_lib.serving.service.Negotiated`.

    Args:
        max_streams: that a connection may have open at a time; 0 for the usual number, and for HTTP/1.1 with clients
            that speak both.
        goaway_chance: as in `Bounds`.
        keeps_strangers: as in `Bounds`.
    """

    name = "h2"

    def __init__(self, *, max_streams: int = 0, goaway_chance: float = 0.0, keeps_strangers: bool = True) -> None:
        self.preferred = max_streams > 0
        self._bounds = Bounds(
            max_streams=max_streams or STREAMS, goaway_chance=goaway_chance, keeps_strangers=keeps_strangers
        )
        self._known: KnownFields | None = None

    def take(
        self, service: Service, transport: asyncio.Transport, certificate: tuple[bytes, ...], peer: tuple[str, int]
    ) -> None:
        """Speak HTTP/2 on a connection from now on."""
        from hyperkube_lib.http2.fields_log import keep_fields_from_the_log
        from hyperkube_lib.http2.request_head import KnownFields
        from hyperkube_lib.http2.server_connection import ServerConnection

        if self._known is None:
            self._known = KnownFields()
            keep_fields_from_the_log()
        successor = ServerConnection(
            service,
            self._known,
            certificate=certificate,
            peer=peer,
            bounds=self._bounds,
        )
        transport.set_protocol(successor)
        successor.connection_made(transport)
