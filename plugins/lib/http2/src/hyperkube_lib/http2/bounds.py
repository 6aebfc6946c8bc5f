"""What a server lets a client of HTTP/2 do."""

from __future__ import annotations

from hyperkube.machinery.record import Record

STREAMS = 100
"""Streams that a client may have open unless told; source: kubernetes apiserver ``pkg/server/secure_serving.go``."""


class Bounds(Record):
    """The bounds of each connection.

    Attributes:
        max_streams: that may be open at a time.
        goaway_chance: share of requests behind which the client is asked to connect anew, between 0 and 1.
        keeps_strangers: whether a connection stays open behind a request without credentials, or with wrong ones.
            Source: kubernetes apiserver ``pkg/endpoints/filters/authentication.go``.
    """

    max_streams: int = STREAMS
    goaway_chance: float = 0.0
    keeps_strangers: bool = True
