"""Streams of a runtime that has a streaming server of its own: the client's connection is passed on to its URL.

Source: kubernetes ``pkg/kubelet/server/server.go`` (proxyStream): the request goes there as it is, with its upgrade;
what protocols there are for it, SPDY or WebSocket, is between the client and the runtime.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from hyperkube_lib.serving.exchange import RelayUpgrade

from hyperkube.machinery.errors import InternalError

_CONNECT_SECONDS = 30.0


def relay_to_url(url: str) -> RelayUpgrade:
    """Return the answer that passes a connection on.

    Raises:
        InternalError: the URL, which the runtime gave, is none of an HTTP server.
    """
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port is None:
        raise InternalError(f"the runtime's streaming URL {url!r} is not http://HOST:PORT/PATH")
    return RelayUpgrade(
        host=parts.hostname,
        port=port,
        path=f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/",
        tls=parts.scheme == "https",
        connect_seconds=_CONNECT_SECONDS,
        redirects=False,
    )
