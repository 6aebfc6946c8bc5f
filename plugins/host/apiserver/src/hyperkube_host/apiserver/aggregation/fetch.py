"""Asks another server and waits for the answer: for parts of this process that are no clients behind the edge."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping
from contextlib import suppress

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
) -> Response:
    """Return the answer of the server at the end of a relay; blocks for up to `ALL_SECONDS`.

    Raises:
        OSError: it cannot be reached, proves not to be who it should be, or has no end.
        UsageError: a certificate file cannot be used.
    """
    connection = http.client.HTTPConnection(relay.host, relay.port, timeout=TIMEOUT_SECONDS)
    plain = _connected(relay)
    limit = _Limit(plain)
    expiry = clock.call_later(ALL_SECONDS, limit.expire)
    try:
        context = client_context(relay.ca_file, relay.certificate_file, relay.key_file, ca_data=relay.ca_data)
        connection.sock = (
            context.wrap_socket(plain, server_hostname=relay.server_name or relay.host) if relay.tls else plain
        )
        sent = [*(headers or {}).items(), *relay.headers, ("Content-Length", str(len(body)))]
        # Go's servers answer 400 to a request with two Host headers, and http.client writes one unless told.
        connection.putrequest(method, relay.path, skip_host=any(name.lower() == "host" for name, _ in sent))
        for name, value in sent:
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = _whole(answer, limit)
        return Response(status=answer.status, headers=answer.getheaders(), body=content)
    except http.client.HTTPException as error:
        raise OSError(f"no HTTP answer from {relay.host}:{relay.port}: {error!r}") from error
    finally:
        expiry.cancel()
        limit.wire.close()
        connection.close()
        plain.close()


def _connected(relay: RelayUpgrade) -> socket.socket:
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

    def __init__(self, connected: socket.socket) -> None:
        self.wire = connected.dup()  # the one that is given becomes a TLS connection
        self.expired = False

    def expire(self) -> None:
        """Cut it."""
        self.expired = True
        with suppress(OSError):
            self.wire.shutdown(socket.SHUT_RDWR)
