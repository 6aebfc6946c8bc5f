"""Asks another server and waits for the answer: for parts of this process that are no clients behind the edge."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from hyperkube_host.apiserver.aggregation.kept_connections import Connected, KeptConnections, place_of
from hyperkube_lib.serving.exchange import RelayUpgrade, Response
from hyperkube_lib.serving.tls import client_context

from hyperkube.machinery.clock import Clock

TIMEOUT_SECONDS = 5.0
"""For each step: to connect, to greet, for each piece of the answer."""
ALL_SECONDS = 30.0
"""For all of them: a server that sends a byte now and then holds up nothing else for longer."""
MOST_BYTES = 64 << 20


def fetch(
    relay: RelayUpgrade,
    clock: Clock,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    kept: KeptConnections | None = None,
) -> Response:
    """Return the answer of the server at the end of a relay; blocks for up to `ALL_SECONDS`.

    With `kept`, a GET is asked over a connection that an earlier one has left there, and leaves its own; where the
    server has closed that meanwhile, it is asked again over a new one.

    Raises:
        OSError: it cannot be reached, proves not to be who it should be, or has no end.
        UsageError: a certificate file cannot be used.
    """
    sent = [*(headers or {}).items(), *relay.headers, ("Content-Length", str(len(body)))]
    before: Connected | None = None
    after: Callable[[Connected], None] = Connected.close
    if kept is not None and method == "GET" and not body:
        place = place_of(relay)
        before, after = kept.take(place), partial(kept.put, place)
    try:
        if before is not None:
            with suppress(ConnectionError, ssl.SSLError):
                return _answer(relay, clock, before, method, sent, body, after)
        return _answer(relay, clock, _connected(relay, clock), method, sent, body, after)
    except http.client.HTTPException as error:
        raise OSError(f"no HTTP answer from {relay.host}:{relay.port}: {error!r}") from error


def _answer(
    relay: RelayUpgrade,
    clock: Clock,
    connected: Connected,
    method: str,
    sent: Sequence[tuple[str, str]],
    body: bytes,
    after: Callable[[Connected], None],
) -> Response:
    """Return the answer to a request, and hand the connection to `after` where it may be used again; else close it.

    Raises:
        OSError: there is none, or not in time.
        http.client.HTTPException: it is none of HTTP's, or too long.
    """
    connection, limit = connected.http, _Limit(connected.wire)
    expiry = clock.call_later(ALL_SECONDS, limit.expire)
    reusable = False
    try:
        # Go's servers answer 400 to a request with two Host headers, and http.client writes one unless told.
        connection.putrequest(method, relay.path, skip_host=any(name.lower() == "host" for name, _ in sent))
        for name, value in sent:
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = _whole(answer, limit)
        reusable = not answer.will_close and answer.isclosed()
        return Response(status=answer.status, headers=answer.getheaders(), body=content)
    except (OSError, http.client.HTTPException) as error:
        if limit.expired:
            raise TimeoutError("timed out") from error
        raise
    finally:
        expiry.cancel()
        (after if reusable and not limit.expired else Connected.close)(connected)


def _connected(relay: RelayUpgrade, clock: Clock) -> Connected:
    """Return a new connection, on which the handshake is over.

    Raises:
        OSError: the server cannot be reached, or proves not to be who it should be.
        UsageError: a certificate file cannot be used.
    """
    plain = _dialled(relay)
    wire = plain.dup()  # the one that is given becomes a TLS connection
    limit = _Limit(wire)
    expiry = clock.call_later(ALL_SECONDS, limit.expire)
    connection = http.client.HTTPConnection(relay.host, relay.port, timeout=TIMEOUT_SECONDS)
    connection.auto_open = 0  # it would connect without TLS
    try:
        context = client_context(relay.ca_file, relay.certificate_file, relay.key_file, ca_data=relay.ca_data)
        name = relay.server_name or relay.host
        connection.sock = context.wrap_socket(plain, server_hostname=name) if relay.tls else plain
    except BaseException:
        wire.close()
        plain.close()
        raise
    finally:
        expiry.cancel()
    return Connected(connection, wire)


def _dialled(relay: RelayUpgrade) -> socket.socket:
    if relay.dial is None:
        return socket.create_connection((relay.host, relay.port), TIMEOUT_SECONDS)
    plain = relay.dial(relay.host, relay.port)
    plain.settimeout(TIMEOUT_SECONDS)
    return plain


def _whole(answer: http.client.HTTPResponse, limit: _Limit) -> bytes:
    """Return the body of an answer.

    Raises:
        TimeoutError: the time is over, and there may be more of it.
        http.client.HTTPException: it is too long.
    """
    content = answer.read(MOST_BYTES + 1)
    if limit.expired:
        raise TimeoutError("timed out")
    if len(content) > MOST_BYTES:
        raise http.client.HTTPException(f"the answer is longer than {MOST_BYTES} bytes")
    return content


class _Limit:
    """Cuts a connection when its time is over, from any thread: a socket's own time-out starts anew with each byte."""

    def __init__(self, wire: socket.socket) -> None:
        self._wire = wire
        self.expired = False

    def expire(self) -> None:
        """Cut it."""
        self.expired = True
        with suppress(OSError):
            self._wire.shutdown(socket.SHUT_RDWR)
