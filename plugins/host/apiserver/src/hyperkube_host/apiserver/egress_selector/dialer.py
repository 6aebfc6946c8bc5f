"""Connects through an HTTP proxy, which is asked by ``CONNECT``.

Source: kubernetes apiserver ``pkg/server/egressselector/egress_selector.go``.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from hyperkube_host.apiserver.egress_selector.configuration import Proxy
from hyperkube_host.apiserver.egress_selector.pump import pump

from hyperkube.machinery.errors import UsageError

_HEAD_BOUND = 65_536


def connect_request(address: str) -> bytes:
    """Return what a proxy is asked; the Host is upstream's."""
    return f"CONNECT {address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def check_answer(head: bytes, proxy: str, address: str) -> None:
    """Check that a proxy has connected.

    Raises:
        OSError: it has not; the text is upstream's.
    """
    version, _, status = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")
    code = status.partition(" ")[0]
    if not version.startswith("HTTP/") or not code.isdigit():
        raise OSError(f"reading HTTP response from CONNECT to {address} via proxy {proxy} failed: malformed answer")
    if int(code) != http.client.OK:
        raise OSError(f"proxy error from {proxy} while dialing {address}, code {code}: {status}")


class ProxyDialer:
    """Returns connected sockets to hosts and ports behind a proxy; thread-safe, blocks."""

    def __init__(self, proxy: Proxy) -> None:
        """Read the files.

        Raises:
            UsageError: the URL is none, or a file is not what it should be.
        """
        self._socket = proxy.socket
        try:
            parts = urlsplit(proxy.url)
            self._host = parts.hostname or ""
            self._port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError as error:
            raise UsageError(f'invalid proxy server url "{proxy.url}": {error}') from error
        self._shown = proxy.socket or parts.netloc
        self._context = _context(proxy) if parts.scheme == "https" else None

    def __call__(self, host: str, port: int, *, seconds: float = 30.0) -> socket.socket:
        """Connect within so many seconds.

        Raises:
            OSError: the proxy cannot be reached, or refuses.
        """
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        wire = self._connected(address, seconds)
        if isinstance(wire, ssl.SSLSocket):
            return _pumped(wire, address)
        wire.settimeout(None)
        return wire

    def _connected(self, address: str, seconds: float) -> socket.socket:
        """Return the connection to a proxy that has connected; it still has its time-out."""
        wire = self._reach(seconds)
        try:
            if self._context is not None:
                wire = self._greeted(self._context, wire)
            wire.sendall(connect_request(address))
            check_answer(_read_head(wire), self._shown, address)
        except BaseException:
            wire.close()
            raise
        return wire

    def _reach(self, seconds: float) -> socket.socket:
        try:
            if not self._socket:
                return socket.create_connection((self._host, self._port), seconds)
            wire = socket.socket(socket.AF_UNIX)
            try:
                wire.settimeout(seconds)
                wire.connect(self._socket)
            except BaseException:
                wire.close()
                raise
        except OSError as error:
            raise OSError(f'dialing proxy "{self._shown}" failed: {error}') from error
        return wire

    def _greeted(self, context: ssl.SSLContext, wire: socket.socket) -> ssl.SSLSocket:
        try:
            return context.wrap_socket(wire, server_hostname=self._host)
        except OSError as error:
            raise OSError(f'dialing proxy "{self._shown}" failed: {error}') from error


def _pumped(tls: ssl.SSLSocket, address: str) -> socket.socket:
    """Return one end of a pair; a thread moves bytes between the other and the proxy until either side closes."""
    ours, theirs = socket.socketpair()

    def run() -> None:
        with tls, theirs, suppress(OSError):
            pump(tls, theirs)

    threading.Thread(target=run, name=f"egress {address}", daemon=True).start()
    return ours


def _read_head(wire: socket.socket) -> bytes:
    """Return an answer's head, and take not one byte more: what follows is the other server's.

    Raises:
        OSError: it has no end.
    """
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = wire.recv(1)
        if not byte or len(head) > _HEAD_BOUND:
            raise OSError("reading HTTP response from CONNECT failed: unexpected EOF")
        head += byte
    return head


def _context(proxy: Proxy) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=proxy.ca_bundle or None)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as Go: what is trusted need be no authority
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"failed to read cert file {proxy.ca_bundle}, got {error}") from error
    try:
        context.load_cert_chain(proxy.client_cert, proxy.client_key)
    except (OSError, ssl.SSLError) as error:
        pair = f"{proxy.client_cert} & {proxy.client_key}"
        raise UsageError(f"failed to read key pair {pair}, got {error}") from error
    return context
