"""The heads of a relayed exchange: what of the client's request is passed on, and what of the other server's answer.

What holds between two neighbours only (RFC 9110, 7.6.1), also what either of them names in ``Connection``, ends here.
So do the client's credentials and all headers that say who acts: the other server must believe ours alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_lib.serving.exchange import RelayUpgrade
from hyperkube_lib.serving.service import Incoming
from hyperkube_lib.serving.websocket import BEARER_PREFIX

_HOP_BY_HOP = frozenset((
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
))  # fmt: skip
_NOT_FORWARDED = _HOP_BY_HOP | {"host", "authorization", "content-length", "expect", "x-stream-protocol-version"}
_FRAMING = frozenset(("content-length", "date"))
_SPENT = ("impersonate-", "x-remote-user", "x-remote-uid", "x-remote-group", "x-remote-extra-")
"""Headers that have had their effect here: the other server must not act on them as well."""
_HANDSHAKE = "sec-websocket-"


def relayed_request(incoming: Incoming, target: RelayUpgrade, *, upgrades: bool, handshake: bool) -> bytes:
    """Return a request as the other server gets it, with its body as far as it is there.

    Args:
        incoming: the client's.
        target: where to.
        upgrades: whether the client's upgrade is asked of the other server.
        handshake: whether the headers of a WebSocket's handshake go with it.

    Raises:
        ValueError: a header cannot be sent as it is; the text is Go's.
    """
    request = incoming.request
    replaced = {name.lower() for name, _ in target.headers}
    drop = _NOT_FORWARDED | replaced | named_in(request.headers.get("connection", ""))
    withheld = (*_SPENT, *target.withheld) if handshake else (*_SPENT, _HANDSHAKE, *target.withheld)
    lines = []
    if "host" not in replaced:
        host = f"[{target.host}]" if ":" in target.host else target.host
        lines.append(("Host", f"{host}:{target.port}"))
    lines += [
        (name, _without_token(name, value))
        for name, value in request.headers.items()
        if name not in drop and not name.startswith(withheld)
    ]
    versions = request.headers.get("x-stream-protocol-version", "")
    lines += [("X-Stream-Protocol-Version", name.strip()) for name in versions.split(",") if name.strip()]
    lines += [(name, _sendable(name, value)) for name, value in target.headers]
    lines += _framing(incoming, upgrades=upgrades)
    text = "".join(f"{name}: {value}\r\n" for name, value in lines)
    if text.count("\n") != len(lines) or any(char in target.path for char in " \r\n"):
        raise ValueError("net/http: invalid header field value")
    return f"{request.method} {target.path} HTTP/1.1\r\n{text}\r\n".encode("latin-1", "replace") + request.body


def passed_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of the other server's answer that are the client's too."""
    headers = list(headers)
    drop = _HOP_BY_HOP | _FRAMING
    drop |= {name for key, value in headers if key.lower() == "connection" for name in named_in(value)}
    return [pair for pair in headers if pair[0].lower() not in drop]


def named_in(connection: str) -> set[str]:
    """Return the headers that a ``Connection`` header names as meant for the next hop alone."""
    return {name.strip().lower() for name in connection.split(",")} if connection else set()


def switched_to(headers: Iterable[tuple[str, str]]) -> str:
    """Return the protocol, in lower case, that the answer of an upgrade switches to."""
    return ", ".join(value.strip().lower() for name, value in headers if name.lower() == "upgrade")


def _framing(incoming: Incoming, *, upgrades: bool) -> list[tuple[str, str]]:
    request = incoming.request
    lines = [("Connection", "Upgrade" if upgrades else "close")]
    if upgrades:
        lines.append(("Upgrade", request.headers["upgrade"]))
    if incoming.body_stream is not None:
        length = request.headers.get("content-length")
        lines.append(("Content-Length", length) if length else ("Transfer-Encoding", "chunked"))
    elif request.body or request.method in {"POST", "PUT", "PATCH"}:
        lines.append(("Content-Length", str(len(request.body))))
    return lines


def _sendable(name: str, value: str) -> str:
    """Return a header's value of ours as its bytes go over the wire: UTF-8, line breaks as blanks, as Go writes it.

    Raises:
        ValueError: control characters stand in it.
    """
    value = value.replace("\r", " ").replace("\n", " ")
    if any((char < " " and char != "\t") or char == "\x7f" for char in value):
        raise ValueError(f'net/http: invalid header field value for "{name}"')
    return value.encode("utf-8", "surrogateescape").decode("latin-1")


def _without_token(name: str, value: str) -> str:
    """Return a header's value without a bearer token hidden among WebSocket sub-protocols."""
    if name != "sec-websocket-protocol" or BEARER_PREFIX not in value:
        return value
    kept = [part.strip() for part in value.split(",")]
    return ", ".join(part for part in kept if not part.startswith(BEARER_PREFIX))
