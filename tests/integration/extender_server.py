"""An HTTP extender on the loopback, plain or with TLS and client certificates, that answers as it is told."""

from __future__ import annotations

import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import orjson
from hyperkube_lib.serving.certificates import issue, make_ca

NAME = "extender.example.com"


class ExtenderServer:
    """Serves verbs, each a function of the request's body; what was asked is in `asked` as (verb, body)."""

    def __init__(self, folder: Path | None = None, **verbs):
        self.asked = []
        self.verbs = verbs
        self.authority = make_ca("extenders")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.scheme = "http"
        if folder is not None:
            self.scheme = "https"
            issue(self.authority, NAME, dns=(NAME,), server=True).write(folder / "server.crt", folder / "server.key")
            (folder / "ca.crt").write_bytes(self.authority.certificate)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder / "server.crt", folder / "server.key")
            context.load_verify_locations(folder / "ca.crt")
            context.verify_mode = ssl.CERT_REQUIRED
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self._server.server_address[1]}/scheduler"

    def about(self, verb):
        """Return the bodies that a verb was called with."""
        return [body for name, body in list(self.asked) if name == verb]

    def _handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
                verb = self.path.rpartition("/")[2]
                server.asked.append((verb, body))
                data = orjson.dumps(server.verbs[verb](body))
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_args):
                """Say nothing."""

        return Handler

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def names_in(body):
    """Return the nodes that a filter or prioritize call is about."""
    names = body.get("nodenames")
    return names if names is not None else [each["metadata"]["name"] for each in body["nodes"]["items"]]
