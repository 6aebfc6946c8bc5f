"""HTTP requests of probes and lifecycle hooks: a status from 200 to 399 is success.

Source: kubernetes ``pkg/probe/http/http.go``.
"""

from __future__ import annotations

import http.client
import ssl
from urllib.parse import quote, urlsplit

from hyperkube_host.kubelet.probe.deadline import within
from hyperkube_host.kubelet.probe.dial_errors import dial_error_text
from hyperkube_host.kubelet.probe.ports import port_number
from hyperkube_host.kubelet.probe.result import ProbeOutcome, ProbeResult

from hyperkube.machinery.objects import Object

BODY_LIMIT = 10 * 1024
_IN_TARGET = "%/:=&?~#+!$,;'@()*[]"
"""What a path may have beside letters and digits without being escaped."""


def probe_http(action: Object, container: Object, address: str, timeout: float, *, agent: str) -> ProbeOutcome:
    """Send the request of an ``httpGet`` action; all of it may take `timeout` seconds.

    Certificates are not verified, as in Kubernetes. Whatever a pod answers is an outcome: it may be hostile.
    """
    try:
        port = port_number(action["port"], container)
    except ValueError as error:
        return ProbeOutcome(ProbeResult.ERROR, str(error))
    host = action.get("host") or address
    secure = str(action.get("scheme") or "HTTP").upper() == "HTTPS"
    path = action.get("path") or "/"
    path = path if path.startswith("/") else "/" + path
    headers: dict[str, bytes | str] = {"User-Agent": agent, "Accept": "*/*", "Connection": "close"}
    headers |= {entry["name"]: str(entry.get("value") or "").encode() for entry in action.get("httpHeaders") or []}
    connection = _connection(host, port, timeout, secure=secure)
    try:
        within(connection, timeout)
        connection.request("GET", quote(path, _IN_TARGET), headers=headers)
        answer = connection.getresponse()
        body = answer.read(BODY_LIMIT).decode(errors="replace")
        redirected_to = urlsplit(answer.headers.get("Location", "")).hostname
    except (OSError, ValueError, http.client.HTTPException) as error:
        url = f"{'https' if secure else 'http'}://{host}:{port}{path}"
        return ProbeOutcome(ProbeResult.FAILURE, f'Get "{url}": {_error_text(error, host, port)}')
    finally:
        connection.close()
    if 300 <= answer.status < 400 and redirected_to and redirected_to != host:
        return ProbeOutcome(ProbeResult.SUCCESS, f"Probe terminated redirects, Response body: {body}")
    if 200 <= answer.status < 400:
        return ProbeOutcome(ProbeResult.SUCCESS, body)
    return ProbeOutcome(ProbeResult.FAILURE, f"HTTP probe failed with statuscode: {answer.status}")


def _connection(host: str, port: int, timeout: float, *, secure: bool) -> http.client.HTTPConnection:
    if not secure:
        return http.client.HTTPConnection(host, port, timeout=timeout)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the default one reads the machine's authorities, for 40 ms
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)


def _error_text(error: Exception, host: str, port: int) -> str:
    if isinstance(error, TimeoutError):
        return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    return dial_error_text(error, host, port)
