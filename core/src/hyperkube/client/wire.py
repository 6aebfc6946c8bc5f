"""How the API's answers look on the wire: lists, refusals, and watches as lines of JSON."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator, Mapping

import orjson

from hyperkube.client.client import ObjectList, WatchEvent
from hyperkube.machinery.errors import ApiError, from_status
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object


@contextlib.contextmanager
def as_connection_error(address: str) -> Iterator[None]:
    """Let every way in which the server at an address can be away look like one: `ConnectionError`, which names it."""
    try:
        yield
    except (ConnectionResetError, BrokenPipeError):
        raise  # a request may be sent again after these
    except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        # ValueError and AttributeError are what http.client gives for a socket that another thread closed.
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ConnectionError(f"{address}: {reason}") from error


class HttpWatch:
    """A watch that reads one connection of its own; `close` shuts the socket down under a blocked read."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._address = f"{connection.host}:{connection.port}"
        self._response = response
        self._lock = threading.Lock()
        self._closed = False

    def __iter__(self) -> Iterator[WatchEvent]:
        """Yield events until the server or `close` ends the watch.

        Raises:
            ConnectionError: the connection broke or was silent too long.
        """
        rest = b""
        try:
            while True:
                data = self._read()
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n") if rest else data.split(b"\n")
                for line in lines:
                    if line and not self._closed:
                        event = orjson.loads(line)
                        yield WatchEvent(event["type"], event["object"])
        finally:
            self.close()
            self._response.close()
            self._connection.close()

    def _read(self) -> bytes:
        try:
            with as_connection_error(self._address):
                return self._response.read1(1 << 20)
        except ConnectionError:
            if self._closed:
                return b""
            raise

    def close(self) -> None:
        """End the iteration; idempotent, from any thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            sock = self._connection.sock
        if sock is None and self._response.fp is not None:
            sock = getattr(getattr(self._response.fp, "raw", None), "_sock", None)
        if sock is not None:
            with contextlib.suppress(OSError):  # the server was faster
                # not SSLSocket.shutdown: that takes the TLS state away from under the reading thread
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


def read_list(answer: Object) -> ObjectList:
    """Turn a list as the wire has it into a page whose items know their kind and version."""
    kind = str(answer.get("kind", "")).removesuffix("List")
    api_version = answer.get("apiVersion", "")
    items: list[Object] = answer.get("items") or []
    for index, item in enumerate(items):
        if "kind" not in item:
            items[index] = {"kind": kind, "apiVersion": api_version, **item}
    meta = answer.get("metadata") or {}
    return ObjectList(items, meta.get("resourceVersion", ""), meta.get("continue", ""), meta.get("remainingItemCount"))


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """Return the error that a refusal stands for, also when its body is no Status (a proxy's page)."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    if isinstance(answer, dict) and answer.get("kind") == "Status":
        return from_status({"code": status, **answer})
    text = body.decode("utf-8", "replace").strip() or http.client.responses.get(status, "unknown")
    reasons = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed",
               406: "NotAcceptable", 409: "Conflict", 410: "Expired", 415: "UnsupportedMediaType",
               429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}  # fmt: skip
    retry = parse_int(headers.get("Retry-After", ""), 32)
    details = {} if retry is None else {"retryAfterSeconds": retry}
    return from_status({"code": status, "reason": reasons.get(status, ""), "message": text, "details": details})
