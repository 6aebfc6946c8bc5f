"""How a client knows where the body of an answer ends that is sent in pieces.

Source: RFC 9112 section 6.3.
"""

from __future__ import annotations

from enum import Enum


class Framing(Enum):
    """By chunks, by a length that was announced, or by the end of the connection."""

    CHUNKED = "chunked"
    LENGTH = "length"
    UNTIL_CLOSE = "until close"


def framing_of(length: int | None, *, http_1_0: bool) -> tuple[Framing, str]:
    """Return how a body is framed, and the header field that says so.

    Args:
        length: in bytes, None if it is not known.
        http_1_0: whether the client speaks HTTP/1.0, which knows no chunks.
    """
    if length is not None:
        return Framing.LENGTH, f"Content-Length: {length}\r\n"
    if http_1_0:
        return Framing.UNTIL_CLOSE, ""
    return Framing.CHUNKED, "Transfer-Encoding: chunked\r\n"
