"""A webhook for tests: an HTTPS server on loopback that answers reviews as a function says.

::

    with WebhookServer(lambda review: {"allowed": False}) as server:
        config = {"url": server.url, "caBundle": server.ca_bundle}
"""

from __future__ import annotations

import ssl
import threading
from base64 import b64encode
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

import orjson
from hyperkube_lib.serving.certificates import KeyPair, issue, make_ca

from hyperkube.machinery.objects import Object

Respond = Callable[[Object], Object | bytes]
"""Gets a review; returns the ``response`` of the answer (its uid is filled in), or a whole body as it is."""


class WebhookServer:
    """Serves one webhook until closed.

    Args:
        respond: what it answers.
        dns: the names of its certificate.
        port: where it listens; any free one unless given.
        authority: who issues its certificate, such as that of a server whose place it takes; a new one unless given.

    Attributes:
        authority: who issued its certificate.
        own_certificate: what it shows, in base64: Go trusts it as a bundle too.
        reviews: what was asked so far.
        status: the HTTP status of its answers.
    """

    def __init__(
        self,
        respond: Respond,
        *,
        dns: tuple[str, ...] = ("localhost",),
        port: int = 0,
        authority: KeyPair | None = None,
    ) -> None:
        self.reviews: list[Object] = []
        self.status = 200
        self._respond = respond
        self.authority = authority = authority or make_ca("webhooks")
        pair = issue(authority, dns[0], dns=dns, ips=("127.0.0.1",), server=True)
        self.ca_bundle = b64encode(authority.certificate).decode()
        self.own_certificate = b64encode(pair.certificate).decode()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with TemporaryDirectory() as folder:
            certificate, key = Path(folder) / "tls.crt", Path(folder) / "tls.key"
            pair.write(certificate, key)
            context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Where it is."""
        return f"https://127.0.0.1:{self.port}/review"

    def answer(self, body: bytes) -> bytes:
        """Return the answer to a review."""
        review = orjson.loads(body)
        self.reviews.append(review)
        response = self._respond(review)
        if isinstance(response, bytes):
            return response
        uid = (review.get("request") or {}).get("uid")
        answered = {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": {"uid": uid, **response}}
        return orjson.dumps(answered)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = server.answer(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(server.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
                """Say nothing."""

        return Handler

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
