"""HttpClient: the API over HTTP/1.1, as every remote component and every test with a real socket uses it.

It stands on the standard library and a small parser, so that a server that needs the API starts fast. Refusals come
back as the errors of `hyperkube.machinery.errors`; when there is no server, `ConnectionError` is raised. A request that
the server throttles (429) is repeated after the time that it asks for.
"""

from __future__ import annotations

import http.client
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from hyperkube.client.client import APPLY_PATCH, MERGE_PATCH, ObjectList, PatchBody, RawResponse, Watch
from hyperkube.client.connection_pool import ConnectionPool, TlsOptions
from hyperkube.client.credentials import Credentials
from hyperkube.client.exchange import BOUNDS, Bounds, Stream, exchange, read_body
from hyperkube.client.http_watch import HttpWatch, OpenStream
from hyperkube.client.readiness import Readiness
from hyperkube.client.request_counts import UNANSWERED, RequestCounts
from hyperkube.client.shared_threads import SharedThreads
from hyperkube.client.wire import as_connection_error, error_of, read_list
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import InternalError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object, name_of, namespace_of

REQUEST_SECONDS = 60.0
WATCH_GRACE_SECONDS = 30
MAX_THROTTLED = 10
REFUSAL = Bounds(size=1 << 20, seconds=60.0)
"""Of the answer to a watch that is refused."""
LINGER_SECONDS = 5.0
"""How long a thread of informers waits for news before it ends."""
_JSON = "application/json"


class HttpClient:
    """The API at one address as one identity; implements `hyperkube.client.client.Client`; thread-safe."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | Callable[[], str] = "",
        token_file: str = "",
        username: str = "",
        password: str = "",
        ca_file: str = "",
        ca_data: str = "",
        cert_file: str = "",
        key_file: str = "",
        server_name: str = "",
        insecure: bool = False,
        user_agent: str = "hyperkube/0.1.0",
        timeout: float = REQUEST_SECONDS,
        headers: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        counts: RequestCounts | None = None,
        dial: Dial | None = None,
        bounds: Bounds = BOUNDS,
        streams: Callable[[ConnectionPool], OpenStream] | None = None,
    ) -> None:
        """Prepare to talk to `base_url`; nothing is sent yet.

        Args:
            base_url: ``https://host:port``, with a path when the API lives below one.
            token: a bearer token, or a function that returns the current one.
            token_file: a file with one, read again every minute; beats `token`.
            username: for HTTP basic, with `password`.
            password: see `username`.
            ca_file: PEM file of the authorities that may have signed the server's certificate.
            ca_data: the same as text.
            cert_file: PEM file of the client's certificate.
            key_file: PEM file of its key, where it is not in `cert_file`.
            server_name: the name to expect in the server's certificate.
            insecure: accept any certificate.
            user_agent: how to introduce ourselves.
            timeout: seconds without a byte after which a request has failed.
            headers: sent with every request (impersonation).
            clock: for waiting when throttled and for re-reading the token.
            counts: is told of every request.
            dial: connects to the server, where that is not reached directly.
            bounds: of an answer, and of how long a server that throttles is waited for; not of watches.
            streams: makes watches share connections where the server can; else each is one.

        Raises:
            UsageError: the address or a certificate cannot be used.
        """
        tls = TlsOptions(ca_file=ca_file, ca_data=ca_data, cert_file=cert_file, key_file=key_file,
                         server_name=server_name, insecure=insecure)  # fmt: skip
        self._pool = ConnectionPool(base_url, tls, timeout=timeout, dial=dial)
        self._open_stream = streams(self._pool) if streams is not None else None
        self._clock, self._counts, self._bounds = clock or SystemClock(), counts, bounds
        self._headers = {"User-Agent": user_agent, "Accept": _JSON, **(headers or {})}
        self._credentials = Credentials(token, token_file, username, password, self._clock)
        self._readiness = Readiness("watches")
        can_share = Readiness.is_available
        self.shared_threads = SharedThreads("informers", SystemClock(), linger=LINGER_SECONDS) if can_share else None
        """Where this client's informers take turns: a thread each would be sixty in a controller manager."""

    def as_bearer(self, token: Callable[[], str], user_agent: str) -> HttpClient:
        """Return a client of another identity that shares this one's connections, which must carry no certificate."""
        other = copy(self)
        other._headers = {**self._headers, "User-Agent": user_agent}  # noqa: SLF001  our own copy
        other._credentials = Credentials(token, "", "", "", self._clock)  # noqa: SLF001  our own copy
        return other

    def close(self) -> None:
        """Close the idle connections; running requests and watches are left alone."""
        self._pool.close()

    def get(
        self,
        resource: GroupVersionResource,
        name: str,
        namespace: str = "",
        *,
        subresource: str = "",
        resource_version: str = "",
    ) -> Object:
        """Return one object (or its subresource)."""
        path = _path(resource, namespace, name, subresource)
        return self._call("GET", path, query={"resourceVersion": resource_version})

    def list(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        limit: int = 0,
        continue_token: str = "",
    ) -> ObjectList:
        """Return the objects of a namespace, or of all with an empty one."""
        query = {
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
            "resourceVersion": resource_version,
            "limit": str(limit) if limit else "",
            "continue": continue_token,
        }
        answer = self._call("GET", _path(resource, namespace), query=query)
        return read_list(answer)

    def watch(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> Watch:
        """Watch from `resource_version` on; the server has accepted the watch when this returns."""
        query = {
            "watch": "true",
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true" if bookmarks else "",
            "timeoutSeconds": "" if timeout_seconds is None else str(timeout_seconds),
        }
        target = self._target(_path(resource, namespace), query)
        headers = {**self._headers, **self._credentials.headers()}
        silence = None if timeout_seconds is None else float(timeout_seconds + WATCH_GRACE_SECONDS)
        if self._open_stream is not None and (opened := self._open_stream(target, headers, silence)) is not None:
            self._count(str(opened.status) if isinstance(opened, RawResponse) else "200", "GET")
            if isinstance(opened, RawResponse):
                raise error_of(opened.status, opened.headers, opened.body)
            return opened
        connection = self._pool.fresh()
        stream = Stream(connection)
        try:
            with as_connection_error(self._pool.address):
                stream.begin("GET", target, headers)
                self._count(str(stream.status), "GET")
                is_refused = stream.status != http.HTTPStatus.OK
                refusal = read_body(lambda _: stream.read() or b"", REFUSAL) if is_refused else b""
            if is_refused:
                raise error_of(stream.status, stream.headers, refusal)  # noqa: TRY301  one clean-up
            connection.sock.settimeout(silence)
        except BaseException:
            connection.close()
            raise
        return HttpWatch(connection, stream, self._readiness, silence)

    def create(
        self,
        resource: GroupVersionResource,
        obj: Object,
        namespace: str = "",
        *,
        name: str = "",
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Object:
        """Create an object; with `name` and `subresource`, post to a subresource."""
        path = _path(resource, namespace or namespace_of(obj), name, subresource)
        return self._call("POST", path, query=_write_query(dry_run, field_manager), body=obj)

    def update(
        self,
        resource: GroupVersionResource,
        obj: Object,
        namespace: str = "",
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Object:
        """Replace an object, or its status or other subresource."""
        path = _path(resource, namespace or namespace_of(obj), name_of(obj), subresource)
        return self._call("PUT", path, query=_write_query(dry_run, field_manager), body=obj)

    def patch(
        self,
        resource: GroupVersionResource,
        name: str,
        patch: PatchBody,
        namespace: str = "",
        *,
        patch_type: str = MERGE_PATCH,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        force: bool = False,
    ) -> Object:
        """Change part of an object; `force` is for apply patches."""
        query = _write_query(dry_run, field_manager)
        if force and patch_type == APPLY_PATCH:
            query["force"] = "true"
        path = _path(resource, namespace, name, subresource)
        return self._call("PATCH", path, query=query, body=patch, content_type=patch_type)

    def delete(
        self, resource: GroupVersionResource, name: str, namespace: str = "", *, options: Object | None = None
    ) -> Object:
        """Delete an object; `options` is a DeleteOptions body."""
        return self._call("DELETE", _path(resource, namespace, name), body=_delete_options(options))

    def delete_collection(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        options: Object | None = None,
    ) -> None:
        """Delete all objects that match."""
        query = {"labelSelector": label_selector, "fieldSelector": field_selector}
        self._call("DELETE", _path(resource, namespace), query=query, body=_delete_options(options))

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> RawResponse:
        """Make any request and return the answer whatever its status."""
        target = self._target(path, query or {})
        end = self._clock.monotonic() + self._bounds.seconds
        for attempt in range(MAX_THROTTLED + 1):
            sent = {**self._headers, **self._credentials.headers(), **(headers or {})}
            answer = self._send(method, target, sent, body)
            wait = _throttled(answer)
            if wait is None or attempt == MAX_THROTTLED or self._clock.monotonic() + wait > end:
                return answer
            self._clock.sleep(wait)
        raise AssertionError("unreachable")

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = _JSON,
    ) -> Object:
        headers = {} if body is None else {"Content-Type": content_type}
        data = b"" if body is None else orjson.dumps(body)
        answer = self.request(method, path, query=query, headers=headers, body=data)
        if not 200 <= answer.status < 300:
            raise error_of(answer.status, answer.headers, answer.body)
        return _decode(answer.body)

    def _target(self, path: str, query: Mapping[str, str]) -> str:
        asked = urlencode({key: value for key, value in query.items() if value})
        return f"{self._pool.prefix}{path}{'?' if asked else ''}{asked}"

    def _send(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> RawResponse:
        connection = self._pool.take()
        reused = connection.sock is not None
        try:
            return self._exchange(connection, method, target, headers, body)
        except (ConnectionResetError, BrokenPipeError):
            # The server may close an idle connection at the very moment we use it; only a read is sent again.
            if not reused or method not in {"GET", "HEAD"}:
                raise
        return self._exchange(self._pool.fresh(), method, target, headers, body)

    def _exchange(
        self, connection: http.client.HTTPConnection, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> RawResponse:
        try:
            with as_connection_error(self._pool.address):
                answer, reusable = exchange(connection, method, target, headers, body, self._bounds)
        except BaseException:
            self._count(UNANSWERED, method)
            connection.close()
            raise
        self._count(str(answer.status), method)
        if reusable:
            self._pool.give_back(connection)
        else:
            connection.close()
        return answer

    def _count(self, code: str, method: str) -> None:
        if self._counts is not None:
            self._counts.count(code, method, self._pool.address)


def _throttled(answer: RawResponse) -> float | None:
    """Return the seconds that a throttling server wants us to wait, or None when it has answered."""
    if answer.status != http.HTTPStatus.TOO_MANY_REQUESTS:
        return None
    for name, value in answer.headers.items():
        if name.lower() == "retry-after" and (seconds := parse_int(value)) is not None and seconds >= 0:
            return float(seconds)
    return None


def _decode(body: bytes) -> Object:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InternalError.because(f"the server's answer is no JSON: {body[:200]!r}") from error
    if not isinstance(answer, dict):
        raise InternalError.because(f"the server's answer is no object: {body[:200]!r}")
    return answer


def _path(resource: GroupVersionResource, namespace: str, name: str = "", subresource: str = "") -> str:
    return quote(resource.path(namespace, name, subresource), safe="/:@!$&'()*+,;=~")


def _write_query(dry_run: bool, field_manager: str) -> dict[str, str]:
    return {"dryRun": "All" if dry_run else "", "fieldManager": field_manager}


def _delete_options(options: Object | None) -> Object | None:
    return None if options is None else {"kind": "DeleteOptions", "apiVersion": "v1", **options}
