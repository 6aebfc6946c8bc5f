"""How much one server takes on before it says no, and how long it waits."""

from __future__ import annotations

from dataclasses import dataclass

MAX_BODY = 3 * 1024 * 1024
"""Bytes of a request body; source: kubernetes apiserver ``pkg/server/config.go`` (MaxRequestBodyBytes)."""

MAX_HEAD = 1 << 20
"""Bytes of a request's first line and headers; source: Go ``net/http`` (DefaultMaxHeaderBytes)."""

GZIP_FROM = 128 * 1024
"""Bytes of a body from which it is compressed; source: kubernetes ``responsewriters/writers.go``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLimits:
    """The bounds of one server; times in seconds, sizes in bytes, 0 in-flight means unlimited.

    Attributes:
        workers: threads that run `Handler.handle`; started when first needed.
        queue: requests that may wait for a thread.
        read_only_inflight: GET, HEAD and OPTIONS under way; for servers that do not count for themselves, as the API
            server does, which knows whom to exempt.
        mutating_inflight: the others; long-running ones count in neither.
        request_timeout: after which a request that is not long-running is answered 504.
        idle_timeout: after which a connection without a request is closed.
        head_timeout: within which a begun request's headers must be complete.
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
    idle_timeout: float = 90.0
    head_timeout: float = 32.0
    stall_timeout: float = 30.0
