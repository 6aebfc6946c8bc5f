"""Kept-alive HTTP/1.1 connections to one server, on the standard library's client.

A connection that the server has closed meanwhile is noticed before it is used again, so that a request that changes
something is never sent twice.
"""

from __future__ import annotations

import http.client
import os
import select
import socket
import ssl
import threading
from urllib.parse import urlsplit

from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.recent import forgets
from hyperkube.machinery.record import Record

MAX_IDLE, MAX_RESTING = 64, 4  # connections kept between requests, so that a server's slow moment opens none; at rest


class TlsOptions(Record):
    """How to trust the server and how to prove who we are; data is PEM text and beats the file of the same thing."""

    ca_file: str = ""
    ca_data: str = ""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""
    insecure: bool = False

    def context(self) -> ssl.SSLContext:
        """Build the TLS context.

        Raises:
            UsageError: a file is missing or is no PEM.
        """
        try:
            if self.insecure:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            else:
                context = ssl.create_default_context(cafile=self.ca_file or None, cadata=self.ca_data or None)
                context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as Go: what is trusted need be no authority
            if self.cert_file:
                context.load_cert_chain(self.cert_file, self.key_file or None)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(name for name in (self.ca_file, self.cert_file, self.key_file) if name)
            raise UsageError(f"cannot use the certificates in {files or 'the kubeconfig'}: {error}") from error
        return context

    def stamp(self) -> tuple[tuple[int, int], ...]:
        """Return what changes when the client's certificate or key is replaced; empty while they are not there."""
        try:
            return tuple(
                (status.st_mtime_ns, status.st_ino)
                for status in map(os.stat, filter(None, (self.cert_file, self.key_file)))
            )
        except OSError:
            return ()


class _DialledConnection(http.client.HTTPConnection):
    """A connection that is dialled another way, or expects a certificate for another name than the one it dials."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        timeout: float,
        context: ssl.SSLContext | None,
        server_name: str,
        dial: Dial | None,
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self.default_port = 443 if context is not None else 80
        self._tls = context
        self._server_name = server_name
        self._dial = dial
        self._seconds = timeout

    def connect(self) -> None:
        """Dial, then shake hands."""
        if self._dial is None:
            super().connect()
        else:
            self.sock = self._dial(self.host, self.port, seconds=self._seconds)
            self.sock.settimeout(self._seconds)
        if self._tls is not None:
            assert self.sock is not None  # noqa: S101  connect either sets it or raises
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._server_name)


class ConnectionPool:
    """Connections to the server at `base_url`; thread-safe."""

    def __init__(self, base_url: str, tls: TlsOptions, *, timeout: float, dial: Dial | None = None) -> None:
        """Remember where to dial, and how if not directly; dials nothing.

        Raises:
            UsageError: the address is no http or https URL.
        """
        try:
            parts = urlsplit(base_url if "://" in base_url else f"http://{base_url}")
            self._host = parts.hostname or ""
            self._port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError as error:
            raise UsageError(f"server address {base_url!r}: {str(error).lower()}") from error
        if parts.scheme not in {"http", "https"} or not self._host:
            raise UsageError(f"server address {base_url!r} is no http or https URL")
        self.prefix = parts.path.rstrip("/")
        self.address = f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"
        """``HOST:PORT``."""
        self.tls = tls
        self.context = tls.context() if parts.scheme == "https" else None
        self.stamp = tls.stamp() if tls.cert_file else ()
        self._timeout = timeout
        self._dial = dial
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._closed = False
        forgets(self)

    def forget(self) -> None:
        """Close the idle connections that a process at rest has no use for."""
        with self._lock:
            idle, self._idle = self._idle[:-MAX_RESTING], self._idle[-MAX_RESTING:]
        for connection in idle:
            connection.close()

    def fresh(self, context: ssl.SSLContext | None = None) -> http.client.HTTPConnection:
        """Return a connection that is not dialled yet; `context` speaks another protocol than HTTP/1.1."""
        context, seconds = context or self.context, self._timeout
        if self._dial is not None or (context is not None and self.tls.server_name):
            name = self.tls.server_name or self._host
            return _DialledConnection(
                self._host, self._port, timeout=seconds, context=context, server_name=name, dial=self._dial
            )
        if context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=seconds)
        return http.client.HTTPSConnection(self._host, self._port, timeout=seconds, context=context)

    def take(self) -> http.client.HTTPConnection:
        """Return an idle connection that is still open, or a fresh one."""
        if self.stamp:
            self._take_up_new_certificate()
        while True:
            with self._lock:
                if not self._idle:
                    break
                connection = self._idle.pop()
            if connection.sock is not None and not _is_readable(connection.sock):
                return connection
            connection.close()
        return self.fresh()

    def _take_up_new_certificate(self) -> None:
        """Use a client certificate that was renewed meanwhile: connections made with the old one are closed."""
        stamp = self.tls.stamp()
        if not stamp or stamp == self.stamp:
            return
        try:
            context = self.tls.context()
        except UsageError:
            return  # it is being written: the old one does until it is whole
        with self._lock:
            self.context, self.stamp = context, stamp
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def give_back(self, connection: http.client.HTTPConnection) -> None:
        """Keep a connection whose response was read to its end for the next request."""
        with self._lock:
            if not self._closed and connection.sock is not None and len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the idle connections and keep none from now on."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _is_readable(sock: socket.socket) -> bool:
    """Tell whether an idle socket has something to say: then the server has closed it."""
    poll = select.poll()
    poll.register(sock, select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(0))
