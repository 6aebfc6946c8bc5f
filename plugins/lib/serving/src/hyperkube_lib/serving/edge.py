"""A listening server: takes connections on the loop's thread and asks a `Handler` for answers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable

from hyperkube_lib.serving.exchange import Handler
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.loop import EdgeLoop
from hyperkube_lib.serving.protocol import Connection
from hyperkube_lib.serving.service import IDLE, STREAM, Negotiated, Refuse, Service
from hyperkube_lib.serving.tls import HTTP_1_1, ServerTls, TlsFiles

from hyperkube.machinery.errors import UsageError

_BACKLOG = 1024
_LAST_PORT = 65535
_PROBE_SECONDS = 15
"""Silence after which the system asks whether a client is still there; source: Go ``net`` (defaultTCPKeepAliveIdle)."""

_ABORTED_WITHIN = 0.5
"""Seconds that connections which are cut off get to be closed: two turns of the loop."""

_RELOAD_EVERY = 30
"""Seconds between looks at the certificate files."""


class Edge:
    """One listener and its connections; several may share one `EdgeLoop`."""

    def __init__(
        self,
        handler: Handler,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: TlsFiles | None = None,
        logger: logging.Logger | None = None,
        loop: EdgeLoop | None = None,
        limits: EdgeLimits | None = None,
        name: str = "edge",
        shared: bool = False,
        dual_stack: bool = True,
        negotiated: Negotiated | None = None,
    ) -> None:
        """Prepare a listener; nothing is opened before `start`.

        Args:
            handler: the server.
            host: address to bind.
            port: 0 lets the system choose; see `port` after `start`.
            tls: None serves plain HTTP.
            logger: for what goes wrong here.
            loop: shared with other edges; by default the edge has one of its own and ends it in `close`.
            limits: the bounds; by default Kubernetes' own.
            name: of the threads.
            shared: whether other processes may listen on the same port.
            dual_stack: whether the address ``::`` takes IPv4 too, where the system can.
            negotiated: what is spoken over TLS beside HTTP/1.1.
        """
        self._shared = shared
        self._dual_stack = dual_stack
        self._host = host
        self._wanted_port = port
        self._tls_files = tls
        self._tls: ServerTls | None = None
        self._logger = logger or logging.getLogger("hyperkube.serving")
        self._owns_loop = loop is None
        self.loop = loop or EdgeLoop(logger=self._logger, name=f"{name}-loop")
        self._service = Service(handler, loop=self.loop, limits=limits or EdgeLimits(), logger=self._logger, name=name)
        self._service.negotiated = negotiated
        self._names: dict[bytes, str] = {}
        self._server: asyncio.AbstractServer | None = None
        self._stop_ticking: Callable[[], None] | None = None
        self._ticks = 0
        self.port = port
        """The port in use, once started."""

    def start(self) -> None:
        """Listen; returns when connections are taken.

        Raises:
            UsageError: the address cannot be bound, or a TLS file cannot be used.
        """
        spoken = _spoken(self._service.negotiated)
        self._tls = ServerTls(self._tls_files, spoken) if self._tls_files is not None else None
        listener = self._bind()
        self.port = listener.getsockname()[1]
        if self._owns_loop:
            self.loop.start()
        self.loop.run(self._listen(listener))

    def close(self, drain_seconds: float = 1.0) -> None:
        """Take no more connections, end streams, let requests finish for `drain_seconds`, then cut; idempotent."""
        server, self._server = self._server, None
        if server is None:
            return
        self.loop.run(self._drain(server, drain_seconds))
        self._service.workers.close()
        if self._owns_loop:
            self.loop.close()

    def wind_down(self, *, request_seconds: float, stream_seconds: float = 0.0, refuse: Refuse | None = None) -> None:
        """Let requests finish, then end streams, so that little is left for `close` to cut off; only once.

        Args:
            request_seconds: how long requests under way may take.
            stream_seconds: over how long streams are ended, one after another; 0: all at once.
            refuse: answers requests that come while others finish; without it no client can connect any more.
        """
        if self._server is not None:
            self.loop.run(self._wind_down(self._server, request_seconds, stream_seconds, refuse))

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._service.connections)

    def _bind(self) -> socket.socket:
        if not 0 <= self._wanted_port <= _LAST_PORT:  # a socket would say so with an error of its own kind, and leak
            raise UsageError(
                f"cannot listen on {self._host!r} port {self._wanted_port}: it must be between 0 and {_LAST_PORT}"
            )
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        try:
            listener = socket.create_server(
                (self._host, self._wanted_port),
                family=family,
                backlog=_BACKLOG,
                reuse_port=self._shared,
                dualstack_ipv6=self._dual_stack and self._host == "::" and socket.has_dualstack_ipv6(),
            )
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"cannot listen on {self._host!r} port {self._wanted_port}: {reason}") from error
        _keep_alive(listener)
        return listener

    async def _listen(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._service.now = loop.time()
        service, names = self._service, self._names
        self._server = await loop.create_server(
            lambda: Connection(service, names),
            sock=listener,
            ssl=self._tls.context if self._tls is not None else None,
            backlog=_BACKLOG,
            ssl_handshake_timeout=(service.limits.head_timeout or None) if self._tls is not None else None,
        )
        self._stop_ticking = self.loop.every_second(self._tick)

    def _tick(self) -> None:
        self._service.tick()
        self._ticks += 1
        if self._tls is not None and self._ticks % _RELOAD_EVERY == 0:
            try:
                if self._tls.reload():
                    self._logger.info("took up new TLS files")
            except UsageError as error:
                self._logger.warning("keeping the old TLS files: %s", error)

    async def _wind_down(
        self, server: asyncio.AbstractServer, seconds: float, stream_seconds: float, refuse: Refuse | None
    ) -> None:
        service = self._service
        service.refuse = refuse
        if refuse is None:
            self._take_no_more(server)
        deadline = asyncio.get_running_loop().time() + seconds
        while service.busy() and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110  callbacks end them
            await asyncio.sleep(0.01)
        self._take_no_more(server)
        streams = [one for one in service.connections if one.occupation is STREAM]
        for number, connection in enumerate(streams):
            if number and stream_seconds:
                await asyncio.sleep(stream_seconds / len(streams))
            connection.drain()

    def _take_no_more(self, server: asyncio.AbstractServer) -> None:
        server.close()
        self._service.draining = True
        for connection in list(self._service.connections):
            if connection.occupation is IDLE:
                connection.drain()

    async def _drain(self, server: asyncio.AbstractServer, seconds: float) -> None:
        server.close()
        service = self._service
        service.draining = True
        if self._stop_ticking is not None:
            self._stop_ticking()
        connections = service.connections
        for connection in list(connections):
            connection.drain()
        deadline = asyncio.get_running_loop().time() + seconds
        while connections and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110  callbacks empty the set
            await asyncio.sleep(0.01)
        for connection in list(connections):
            connection.abort()
        for relay in list(service.relays):
            relay.abort()
        deadline = asyncio.get_running_loop().time() + _ABORTED_WITHIN
        while service.relays and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110  as above
            await asyncio.sleep(0.001)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(server.wait_closed(), _ABORTED_WITHIN)


def _spoken(other: Negotiated | None) -> tuple[str, ...]:
    """Return the names of the protocols, the preferred one first."""
    if other is None:
        return (HTTP_1_1,)
    return (other.name, HTTP_1_1) if other.preferred else (HTTP_1_1, other.name)


def _keep_alive(listener: socket.socket) -> None:
    """Have the system notice clients that have vanished; connections inherit this from their listener."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
        option = getattr(socket, name, None)  # not on every system
        if option is not None:
            listener.setsockopt(socket.IPPROTO_TCP, option, _PROBE_SECONDS)
