"""How much one server takes on before it says no, and how long it waits."""

from __future__ import annotations

from urllib.parse import parse_qs

from hyperkube.machinery.durations import DurationError, parse_duration
from hyperkube.machinery.record import Record

MAX_BODY = 3 * 1024 * 1024
"""Bytes of a request body; source: kubernetes apiserver ``pkg/server/config.go`` (MaxRequestBodyBytes)."""

MAX_HEAD = 1 << 20
"""Bytes of a request's first line and headers; source: Go ``net/http`` (DefaultMaxHeaderBytes)."""

GZIP_FROM = 128 * 1024
"""Bytes of a body from which it is compressed; source: kubernetes ``responsewriters/writers.go``."""


class EdgeLimits(Record):
    """The bounds of one server; times in seconds, sizes in bytes, 0 in-flight means unlimited.

    Attributes:
        workers: threads that run `Handler.handle`; started when first needed.
        queue: requests that may wait for a thread.
        read_only_inflight: GET, HEAD and OPTIONS under way; for servers that do not count for themselves, as the API
            server does, which knows whom to exempt.
        mutating_inflight: the others; long-running ones count in neither.
        request_timeout: after which a request that is not long-running is answered 504; 0 for never.
        client_timeouts: whether ``timeout`` in a URL shortens that, as it does in the API.
        stream_rate: bytes per second that each way of an upgraded connection to another server may carry; 0 for any.
        idle_timeout: after which a connection without a request is closed.
        head_timeout: within which a begun request's headers must be complete, and before it a TLS handshake.
            Source: Go ``net/http`` (tlsHandshakeTimeout), kubernetes apiserver ``pkg/server/secure_serving.go``.
        stream_idle_timeout: after which an upgraded connection that carries nothing either way is closed; 0 for never.
        stall_timeout: after which a client that reads nothing of what waits for it is cut off.
    """

    workers: int = 64
    queue: int = 2000
    read_only_inflight: int = 0
    mutating_inflight: int = 0
    max_body: int = MAX_BODY
    max_head: int = MAX_HEAD
    gzip_from: int = GZIP_FROM
    request_timeout: float = 60.0
    client_timeouts: bool = False
    stream_rate: int = 0
    idle_timeout: float = 90.0
    head_timeout: float = 32.0
    stream_idle_timeout: float = 0.0
    stall_timeout: float = 30.0

    def allotted(self, query: str) -> float:
        """Return the seconds that a request with a query string may take; 0 for any.

        A client may ask for less than the server's time, not for more; what is no duration is the handler's to refuse.
        Source: kubernetes apiserver ``pkg/endpoints/filters/request_deadline.go``.
        """
        if not self.client_timeouts or "timeout=" not in query:
            return self.request_timeout
        given = parse_qs(query).get("timeout")
        try:
            wanted = parse_duration(given[0]) if given else 0.0
        except DurationError:
            return self.request_timeout
        if wanted <= 0 or wanted >= self.request_timeout > 0:
            return self.request_timeout
        return wanted
