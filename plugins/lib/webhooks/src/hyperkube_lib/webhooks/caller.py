"""Calling a webhook, of admission or of conversion: where it is, whom to trust, how long to wait.

Source: kubernetes apiserver ``pkg/util/webhook/client.go``.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from hyperkube.client.client import Client
from hyperkube.kinds.resources import ENDPOINTS, SERVICES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import Object

_MAX_ANSWER = 16 * 1024 * 1024
_CHUNK = 65_536


class CallFailed(Exception):
    """A webhook gave no answer; ``str()`` says why, in the words of Go's HTTP client."""


class NoAddress(CallFailed):
    """A webhook is nowhere to be found.

    Attributes:
        url: where it was looked for.
    """

    def __init__(self, url: str, why: str) -> None:
        super().__init__(why)
        self.url = url


@dataclass(frozen=True, slots=True)
class Address:
    """Where a webhook is: its URL, the host and port to connect to, and the network that these are in.

    Networks are those of the egress selector: ``cluster`` for services, ``controlplane`` for URLs.
    """

    url: str
    host: str
    port: int
    server_name: str
    path: str
    network: str = "controlplane"


Resolve = Callable[[Object], Address]


class Resolver:
    """Finds the address of a webhook's client configuration."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, config: Object) -> Address:
        """Return where to connect.

        Raises:
            NoAddress: the service has none.
        """
        service = config.get("service")
        return self._service(service) if service else _of_url(str(config.get("url") or ""))

    def _service(self, service: Object) -> Address:
        namespace, name = str(service["namespace"]), str(service["name"])
        port, path = int(service.get("port") or 443), str(service.get("path") or "/")
        server_name = f"{name}.{namespace}.svc"
        url = f"https://{server_name}:{port}{path}"
        try:
            host, actual = self._backend(namespace, name, port)
        except (ApiError, CallFailed) as error:
            raise NoAddress(url, str(error)) from error
        return Address(url, host, actual, server_name, path, "cluster")

    def _backend(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        try:
            service = self._client.get(SERVICES, name, namespace)
        except NotFound:
            raise CallFailed(f'service "{name}" not found') from None
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            return str(spec["externalName"]), port
        own = next((one for one in spec.get("ports") or () if one.get("port") == port), None)
        if own is None:
            raise CallFailed(f'no service port {port} found for service "{name}"')
        found = self._endpoint(namespace, name, str(own.get("name") or ""))
        if found is not None:
            return found
        cluster_ip = spec.get("clusterIP") or "None"
        if cluster_ip == "None" or spec.get("selector"):
            raise CallFailed(f'no endpoints available for service "{name}"')
        return str(cluster_ip), port

    def _endpoint(self, namespace: str, name: str, port_name: str) -> tuple[str, int] | None:
        try:
            endpoints = self._client.get(ENDPOINTS, name, namespace)
        except NotFound:
            return None
        for subset in endpoints.get("subsets") or ():
            port = next((one for one in subset.get("ports") or () if (one.get("name") or "") == port_name), None)
            if port is not None and subset.get("addresses"):
                return str(subset["addresses"][0]["ip"]), int(port["port"])
        return None


def _of_url(url: str) -> Address:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 443
    except ValueError as error:
        raise NoAddress(url, str(error)) from error
    return Address(url, host, port, host, parts.path or "/")


@lru_cache(64)
def _trust(bundle: str) -> ssl.SSLContext:
    if not bundle:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # As Go, and as test environments of operators need it: the bundle may be the webhook's own certificate.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=b64decode(bundle).decode("ascii", errors="ignore"))
    return context


class _Connection(http.client.HTTPSConnection):
    """Connects to one address and checks the certificate of another name."""

    def __init__(self, address: Address, context: ssl.SSLContext, timeout: float, dial: Dial | None = None) -> None:
        super().__init__(address.host, address.port, context=context, timeout=timeout)
        self._address = address
        self._trusted = context
        self._dial = dial
        self._wire: socket.socket | None = None
        self.expired = False

    def connect(self) -> None:
        """Connect, and check who answers."""
        raw = self._connected()
        self._wire = raw.dup()
        if self.expired:
            raise TimeoutError
        self.sock = self._trusted.wrap_socket(raw, server_hostname=self._address.server_name)

    def _connected(self) -> socket.socket:
        place = (self._address.host, self._address.port)
        if self._dial is None:
            return socket.create_connection(place, self.timeout)
        seconds = float(self.timeout or 0)
        raw = self._dial(*place, seconds=seconds)
        raw.settimeout(seconds)
        return raw

    def expire(self) -> None:
        """Cut the connection, from any thread: a socket's timeout starts anew with each byte, the call's does not."""
        self.expired = True
        if self._wire is not None:
            with contextlib.suppress(OSError):
                self._wire.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        super().close()
        if self._wire is not None:
            self._wire.close()


class Caller:
    """Posts reviews to webhooks."""

    def __init__(self, resolve: Resolve, clock: Clock, egress: Mapping[str, Dial] | None = None) -> None:
        """Call webhooks; `egress` is what dials in a network, where that is not reached directly."""
        self._resolve = resolve
        self._clock = clock
        self._egress = egress or {}

    def post(self, config: Object, body: bytes, timeout_seconds: int) -> bytes:
        """Post a review and return the answer's body.

        Raises:
            CallFailed: no connection, no trust, no answer in time, or none with status 200.
        """
        try:
            address = self._resolve(config)
        except NoAddress as error:
            raise CallFailed(f'Post "{error.url}?timeout={timeout_seconds}s": {error}') from error
        deadline = self._clock.monotonic() + timeout_seconds
        shown = f'Post "{address.url}?timeout={timeout_seconds}s"'
        try:
            trusted = _trust(str(config.get("caBundle") or ""))
            connection = _Connection(address, trusted, timeout_seconds, self._egress.get(address.network))
        except (ssl.SSLError, ValueError) as error:
            raise CallFailed(f"unable to load root certificates: {error}") from error
        expiry = self._clock.call_later(timeout_seconds, connection.expire)
        try:
            status, answer = self._exchange(connection, f"{address.path}?timeout={timeout_seconds}s", body, deadline)
            if connection.expired:
                raise TimeoutError
        except (OSError, ValueError, http.client.HTTPException) as error:
            why = "context deadline exceeded" if connection.expired else _in_words(error, address)
            raise CallFailed(f"{shown}: {why}") from error
        finally:
            expiry.cancel()
            connection.close()
        if status != 200:
            raise CallFailed(_refused(status, answer))
        return answer

    def _exchange(self, connection: _Connection, path: str, body: bytes, deadline: float) -> tuple[int, bytes]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, */*",
            "User-Agent": "kube-apiserver-admission",
        }
        connection.request("POST", path, body=body, headers=headers)
        response = connection.getresponse()
        parts: list[bytes] = []
        size = 0
        while True:
            left = deadline - self._clock.monotonic()
            if left <= 0:
                raise TimeoutError
            if connection.sock is not None:
                connection.sock.settimeout(left)
            part = response.read(_CHUNK)
            if not part:
                return response.status, b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > _MAX_ANSWER:
                raise http.client.HTTPException("the answer is too large")


def _in_words(error: Exception, address: Address) -> str:
    if isinstance(error, TimeoutError):
        return "context deadline exceeded"
    if isinstance(error, ConnectionRefusedError):
        return f"dial tcp {address.host}:{address.port}: connect: connection refused"
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {address.host}: no such host"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {_certificate_words(error, address)}"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError):
        return "EOF"
    return str(error)


def _certificate_words(error: ssl.SSLCertVerificationError, address: Address) -> str:
    text = error.verify_message
    if "mismatch" in text or "not valid for" in text:
        return f"certificate is not valid for {address.server_name}"
    if "expired" in text:
        return "certificate has expired or is not yet valid"
    return "certificate signed by unknown authority"


def _refused(status: int, answer: bytes) -> str:
    if status == 404:
        return "the server could not find the requested resource"
    if status >= 500:
        text = answer.decode(errors="replace").strip().replace('"', '\\"')
        return f'an error on the server ("{text or "unknown"}") has prevented the request from succeeding'
    return "the server rejected our request for an unknown reason"
