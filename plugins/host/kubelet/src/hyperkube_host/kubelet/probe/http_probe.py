"""HTTP requests of probes and lifecycle hooks: a status from 200 to 299 is success.

Redirects within a host are followed; one to another host, and any other status from 300 to 399, is a success with a
warning.

Source: kubernetes ``pkg/probe/http/http.go``.
"""

from __future__ import annotations

import http.client
import re
import socket
import ssl
from urllib.parse import quote, urljoin, urlsplit

from hyperkube_host.kubelet.probe.deadline import within
from hyperkube_host.kubelet.probe.dial_errors import SCHEME_MISMATCH, SchemeMismatch, dial_error_text
from hyperkube_host.kubelet.probe.ports import port_number
from hyperkube_host.kubelet.probe.result import ProbeOutcome, ProbeResult

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.objects import Object

BODY_LIMIT = 10 * 1024
MOST_REQUESTS = 10
"""As Go's HTTP client counts: the redirect after the tenth request is not followed."""
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_DEFAULT_PORTS = {"http": 80, "https": 443}
_monotonic = SystemClock().monotonic  # of the network, whatever the cluster's time
_REST_SECONDS = 0.1
_IN_TARGET = "%/:=&?~#+!$,;'@()*[]"
"""What a path may have beside letters and digits without being escaped."""


class RequestFailed(Exception):
    """No answer came: the text names the address and says why, in the words of Go's HTTP client."""

    @property
    def is_scheme_mismatch(self) -> bool:
        """Whether it was asked with HTTPS what speaks HTTP."""
        return str(self).endswith(SCHEME_MISMATCH)


def probe_http(action: Object, container: Object, address: str, timeout: float, *, agent: str) -> ProbeOutcome:
    """Send the request of an ``httpGet`` action; all of it may take `timeout` seconds.

    Whatever a pod answers is an outcome: it may be hostile.
    """
    try:
        status, body = request_http(action, container, address, timeout, agent=agent)
    except ValueError as error:
        return ProbeOutcome(ProbeResult.ERROR, str(error))
    except RequestFailed as error:
        return ProbeOutcome(ProbeResult.FAILURE, str(error))
    if 200 <= status < 300:
        return ProbeOutcome(ProbeResult.SUCCESS, body)
    if 300 <= status < 400:
        return ProbeOutcome(ProbeResult.WARNING, f"Probe terminated redirects, Response body: {body}")
    return ProbeOutcome(ProbeResult.FAILURE, f"HTTP probe failed with statuscode: {status}")


def request_http(action: Object, container: Object, address: str, timeout: float, *, agent: str) -> tuple[int, str]:
    """Send the request of an ``httpGet`` action; return the status of the answer and the beginning of its body.

    Certificates are not verified, as in Kubernetes, and redirects are followed only to the host that was asked.

    Raises:
        ValueError: the container has no port of that name.
        RequestFailed: there was no answer within `timeout` seconds, or it is none that HTTP knows.
    """
    port = port_number(action["port"], container)
    host = action.get("host") or address
    scheme = str(action.get("scheme") or "HTTP").lower()
    path = action.get("path") or "/"
    path = path if path.startswith("/") else "/" + path
    headers: dict[str, bytes | str] = {"User-Agent": agent, "Accept": "*/*", "Connection": "close"}
    headers |= {entry["name"]: str(entry.get("value") or "").encode() for entry in action.get("httpHeaders") or []}
    url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{quote(path, _IN_TARGET)}"
    until = _monotonic() + timeout
    for _ in range(MOST_REQUESTS):
        try:
            answer, body = _get(url, headers, until)
            following = _next_url(url, answer)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise RequestFailed(f'Get "{url}": {_error_text(error, url)}') from error
        if following is None or urlsplit(following).hostname != urlsplit(url).hostname:
            return answer.status, body
        url = following
    raise RequestFailed(f'Get "{answer.headers["Location"]}": stopped after {MOST_REQUESTS} redirects')


def _get(url: str, headers: dict[str, bytes | str], until: float) -> tuple[http.client.HTTPResponse, str]:
    """Send one request; return the answer and the beginning of its body."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    left = max(until - _monotonic(), 0.001)
    connection = _connection(parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme], left, secure=secure)
    try:
        within(connection, left)
        connection.request("GET", parts._replace(scheme="", netloc="", fragment="").geturl() or "/", headers=headers)
        answer = connection.getresponse()
        return answer, answer.read(BODY_LIMIT).decode(errors="replace")
    finally:
        connection.close()


def _next_url(url: str, answer: http.client.HTTPResponse) -> str | None:
    """Return where an answer sends its client, if it does."""
    location = answer.headers.get("Location")
    if answer.status not in _REDIRECTS or not location:
        return None
    following = urljoin(url, location)
    if urlsplit(following).scheme not in _DEFAULT_PORTS:
        message = f'unsupported protocol scheme "{urlsplit(following).scheme}"'
        raise ValueError(message)
    return following


def _connection(host: str, port: int, timeout: float, *, secure: bool) -> http.client.HTTPConnection:
    if not secure:
        return http.client.HTTPConnection(host, port, timeout=timeout)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the default one reads the machine's authorities, for 40 ms
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return _TlsConnection(host, port, timeout, context)


class _TlsConnection(http.client.HTTPSConnection):
    """A connection that tells a server without TLS by what it answers."""

    def __init__(self, host: str, port: int, timeout: float, context: ssl.SSLContext) -> None:
        super().__init__(host, port, timeout=timeout, context=context)
        self._tls = context

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        plain = self.sock
        with plain.dup() as seen:
            try:
                self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)
            except ssl.SSLError as error:
                if error.reason == "WRONG_VERSION_NUMBER" and _goes_on_as_http(seen):
                    raise SchemeMismatch from error
                raise


def _goes_on_as_http(seen: socket.socket) -> bool:
    """Tell whether a response goes on after the five bytes that TLS took for the head of a record: ``HTTP/``."""
    seen.settimeout(_REST_SECONDS)
    try:
        rest = seen.recv(8)
    except OSError:
        return False
    return re.match(rb"\d\.\d \d{3}", rest) is not None


def _error_text(error: Exception, url: str) -> str:
    if isinstance(error, TimeoutError):
        return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    parts = urlsplit(url)
    return dial_error_text(error, parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])
