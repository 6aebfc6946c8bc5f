"""Lets a Flask application answer an `HttpRequest`: a WSGI call without a socket.

A usual ASGI-to-WSGI bridge costs more than Flask itself; this one builds the environment from what the edge has parsed
already and runs on the worker thread that the request is on anyway.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hyperkube_lib.serving.exchange import HttpRequest, Response

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_FRAMING = frozenset(("content-length", "transfer-encoding", "connection", "date"))


class WsgiBridge:
    """Calls one WSGI application; from any thread."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def answer(self, request: HttpRequest) -> Response:
        """Return the application's answer, whole."""
        head: list[Any] = []
        early = io.BytesIO()

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            if exc_info is not None and head:
                head.clear()
            head.extend((status, headers))
            return early.write

        body: Iterable[bytes] = self._application(environment(request), start_response)
        try:
            content = early.getvalue() + b"".join(body)
        finally:
            close = getattr(body, "close", None)
            if close is not None:
                close()
        status, headers = head
        kept = [(name, value) for name, value in headers if name.lower() not in _FRAMING]
        return Response(status=int(status[:3]), headers=kept, body=content)


def environment(request: HttpRequest) -> dict[str, Any]:
    """Return the WSGI environment of a request (PEP 3333)."""
    host, _, port = request.headers.get("host", "localhost").rpartition(":")
    if not port.isdecimal():
        host, port = request.headers.get("host", "localhost"), "443" if request.secure else "80"
    variables: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": request.path.encode("utf-8", "surrogateescape").decode("latin-1"),
        "QUERY_STRING": request.query_string,
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": request.peer[0],
        "REMOTE_PORT": str(request.peer[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "https" if request.secure else "http",
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "CONTENT_LENGTH": str(len(request.body)),
    }
    for name, value in request.headers.items():
        if name == "content-type":
            variables["CONTENT_TYPE"] = value
        elif name != "content-length":
            variables["HTTP_" + name.upper().replace("-", "_")] = value
    return variables
