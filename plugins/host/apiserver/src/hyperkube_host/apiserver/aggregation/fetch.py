"""Asks another server and waits for the answer: for parts of this process that are no clients behind the edge."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping

from hyperkube_lib.serving.exchange import RelayUpgrade, Response
from hyperkube_lib.serving.tls import client_context

TIMEOUT_SECONDS = 5.0


def fetch(
    relay: RelayUpgrade, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes = b""
) -> Response:
    """Return the answer of the server at the end of a relay; blocks for up to `TIMEOUT_SECONDS` per step.

    Raises:
        OSError: it cannot be reached, or proves not to be who it should be.
        UsageError: a certificate file cannot be used.
    """
    connection = http.client.HTTPConnection(relay.host, relay.port, timeout=TIMEOUT_SECONDS)
    plain = socket.create_connection((relay.host, relay.port), TIMEOUT_SECONDS)
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
        return Response(status=answer.status, headers=answer.getheaders(), body=answer.read())
    except http.client.HTTPException as error:
        raise OSError(f"no HTTP answer from {relay.host}:{relay.port}: {error!r}") from error
    finally:
        connection.close()
        plain.close()
