"""`Peer`: a small HTTPS server that stands for whomever a plugin calls, such as a webhook or an OpenID issuer.

::

    with Peer(tmp_path) as peer:
        peer.answers["/review"] = lambda review: {**review, "status": {"allowed": True}}
        plugin = Webhook(context(settings={"authorization_webhook_config_file": peer.kubeconfig("/review")}))
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import orjson
from hyperkube_lib.serving.certificates import self_signed

from hyperkube.client import kubeconfig
from hyperkube.machinery.dataclass import dataclass

_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer of another status than 200."""

    status: int
    body: bytes = b"{}"


Answers = Callable[[Any], Any]
"""The parsed body of the request, None without one → what to answer as JSON, or a `Failure`."""


class Peer:
    """An HTTPS server on loopback whose answers are functions; a context manager.

    Attributes:
        answers: path → what answers there; others are not found.
        asked: (path, parsed body) of each request, in order.
        credentials: the Authorization header of each, empty for none.
        ca_file: the certificate to trust.
    """

    def __init__(self, folder: Path) -> None:
        self.answers: dict[str, Answers] = {}
        self.asked: list[tuple[str, Any]] = []
        self.credentials: list[str] = []
        self._folder = folder
        pair = self_signed("peer", dns=["localhost"], ips=[_HOST])
        self.ca_file, key_file = folder / "peer.crt", folder / "peer.key"
        pair.write(self.ca_file, key_file)
        self._server = ThreadingHTTPServer((_HOST, 0), _handler_of(self))
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.ca_file, key_file)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), name="peer", daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"https://{_HOST}:{self._server.server_address[1]}"

    def kubeconfig(self, path: str = "") -> str:
        """Write a kubeconfig for one of its paths and return the file's name."""
        file = self._folder / f"peer{path.replace('/', '-')}.kubeconfig"
        cluster = {"server": self.url + path, "certificate-authority": str(self.ca_file)}
        config = kubeconfig.put(kubeconfig.empty(), "clusters", "peer", cluster)
        config = kubeconfig.put(config, "contexts", "peer", {"cluster": "peer"})
        kubeconfig.write(file, {**config, "current-context": "peer"})
        return str(file)

    def bodies(self, path: str) -> list[Any]:
        """Return what was posted to a path."""
        return [body for asked, body in self.asked if asked == path]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Listen no more; idempotent."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()


def _handler_of(peer: Peer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._answer(orjson.loads(data) if data else None)

        def _answer(self, body: Any) -> None:
            path = self.path.partition("?")[0]
            peer.asked.append((path, body))
            peer.credentials.append(self.headers.get("Authorization") or "")
            call = peer.answers.get(path)
            made = call(body) if call is not None else Failure(404)
            status, data = (made.status, made.body) if isinstance(made, Failure) else (200, orjson.dumps(made))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing: the tests look at `Peer.asked`."""

    return Handler
