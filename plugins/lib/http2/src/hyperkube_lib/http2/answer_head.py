"""The header fields of an answer over HTTP/2: lower-case names, and none that only HTTP/1.1 knows."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_lib.serving.wire import BadHeader

_OF_CONNECTIONS = frozenset(("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"))


def answer_fields(
    status: int, headers: Iterable[tuple[str, str]], date: bytes, *, length: int | None
) -> list[tuple[bytes, bytes]]:
    """Return the fields of an answer.

    Args:
        status: its code.
        headers: its own.
        date: the line that HTTP/1.1 has for it, with its end.
        length: of the body in bytes, None where it is not known or there is none.

    Raises:
        BadHeader: a line break in a header.
    """
    fields = [(b":status", b"%d" % status)]
    for name, value in headers:
        if "\n" in value or "\r" in value or "\n" in name or "\r" in name:
            raise BadHeader(f"line break in the headers of a {status} answer")
        key = name.lower()
        if key not in _OF_CONNECTIONS:
            fields.append((key.encode("latin-1", "replace"), value.encode("latin-1", "replace")))
    fields.append((b"date", date[6:-2]))
    if length is not None:
        fields.append((b"content-length", b"%d" % length))
    return fields


def closes(headers: Iterable[tuple[str, str]]) -> bool:
    """Tell whether an answer asks for the end of its connection: over HTTP/2 that is a GOAWAY."""
    return any(name.lower() == "connection" and value.lower() == "close" for name, value in headers)
