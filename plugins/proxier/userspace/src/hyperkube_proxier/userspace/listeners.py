"""The sockets: listeners that come and go on one event loop with a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple, TypeVar

from hyperkube_proxier.userspace.balancer import Balancer
from hyperkube_proxier.userspace.relay import DatagramRelay, relay_connection
from hyperkube_proxier.userspace.settings import UserspaceSettings

Result = TypeVar("Result")

LOOP_ITERATIONS_TO_CLOSE = 3
"""Iterations of the event loop after which every closed transport has closed its socket."""


class ListenAddress(NamedTuple):
    """A protocol, address and port to listen on; `of_cluster`: the address is a cluster IP, no machine's own."""

    protocol: str
    ip: str
    port: int
    of_cluster: bool = False

    def __str__(self) -> str:
        return f"{self.protocol} {self.ip}:{self.port}"


class _Stream:
    """A TCP listener and its connections."""

    def __init__(self, balancer: Balancer) -> None:
        self.balancer = balancer
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, bound: socket.socket) -> None:
        self._server = await asyncio.start_server(self._serve, sock=bound)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await relay_connection(reader, writer, self.balancer)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def abort(self) -> None:
        """End the connections too."""
        for task in list(self._tasks):
            task.cancel()


class _Datagrams:
    """A UDP listener."""

    def __init__(self, balancer: Balancer, idle_seconds: float) -> None:
        self.balancer = balancer
        self._idle_seconds = idle_seconds
        self._relay: DatagramRelay | None = None

    async def open(self, bound: socket.socket) -> None:
        relay = self._relay = DatagramRelay(lambda: self.balancer, self._idle_seconds)
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: relay, sock=bound)

    async def close(self) -> None:
        if self._relay is not None:
            self._relay.close()

    def abort(self) -> None:
        """Do nothing: datagrams have no connections."""


class Listeners:
    """All listeners of one proxier; its methods are called from one thread, the loop runs on another."""

    def __init__(
        self, settings: UserspaceSettings, add_address: Callable[[str], None], *, with_portals: bool = False
    ) -> None:
        """Prepare.

        Args:
            settings: of the proxier.
            add_address: makes a cluster IP one of this node's addresses, or raises an OSError.
            with_portals: whether an address that is not this machine's is listened for at another port of it.
        """
        self._settings = settings
        self._add_address = add_address
        self._with_portals = with_portals
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="userspace-proxier", daemon=True)
        self._open: dict[ListenAddress, _Stream | _Datagrams] = {}
        self.portals: dict[ListenAddress, int] = {}
        """The port where each address that is not this machine's is listened for."""

    def start(self) -> None:
        """Start the loop's thread."""
        self._thread.start()

    def converge(self, wanted: Mapping[ListenAddress, Balancer]) -> dict[ListenAddress, str]:
        """Open the missing listeners, close those that are not wanted; return why an address could not be bound.

        One that is served at another port than its own is told of once, when that is opened.
        """
        return self._call(self._converge(wanted))

    def close(self) -> None:
        """Close everything and end the thread."""
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2.0)
        self._loop.close()

    def _call(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10.0)

    async def _converge(self, wanted: Mapping[ListenAddress, Balancer]) -> dict[ListenAddress, str]:
        failed = {}
        for address in [address for address in self._open if address not in wanted]:
            await self._open.pop(address).close()
            self.portals.pop(address, None)
        for address, balancer in wanted.items():
            listener = self._open.get(address)
            if listener is not None:
                listener.balancer = balancer
                continue
            try:
                bound = self._bind(address)
            except OSError as error:
                failed[address] = _reason(address, error)
                substitute = self._bind_substitute(address, error)
                if substitute is None:
                    continue
                bound, port = substitute
                failed[address] += f": it is served at {address._replace(port=port)}"
            opened = self._open[address] = self._listener(address, balancer)
            await opened.open(bound)
        return failed

    def _listener(self, address: ListenAddress, balancer: Balancer) -> _Stream | _Datagrams:
        if address.protocol == "UDP":
            return _Datagrams(balancer, self._settings.udp_timeout)
        return _Stream(balancer)

    def _bind(self, address: ListenAddress) -> socket.socket:
        try:
            return _bind(address)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL and self._with_portals and not address.of_cluster:
                bound = self._bind_portal(address)
                self.portals[address] = bound.getsockname()[1]
                return bound
            if error.errno != errno.EADDRNOTAVAIL or not address.of_cluster:
                raise
            with contextlib.suppress(PermissionError):  # then the address stays what it is: not available
                self._add_address(address.ip)
            return _bind(address)

    def _bind_portal(self, address: ListenAddress) -> socket.socket:
        """Bind the first port for portals that is free, of every address of this machine."""
        everywhere = address._replace(ip="::" if ":" in address.ip else "0.0.0.0")
        for port in self._settings.portal_ports:
            with contextlib.suppress(OSError):
                return _bind(everywhere._replace(port=port))
        raise OSError(errno.EADDRINUSE, f"no port of --proxy-port-range={self._settings.proxy_port_range} is free")

    def _bind_substitute(self, address: ListenAddress, error: OSError) -> tuple[socket.socket, int] | None:
        """Bind the port that stands for one without the privilege for it; None where there is none."""
        offset = self._settings.unprivileged_port_offset
        if error.errno != errno.EACCES or not offset:
            return None
        port = address.port + offset
        try:
            return self._bind(address._replace(port=port)), port
        except OSError:
            return None

    async def _close(self) -> None:
        for listener in self._open.values():
            listener.abort()
            await listener.close()
        self._open.clear()
        pending = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in pending:
            task.cancel()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*pending, return_exceptions=True), 1.0)
        for _ in range(LOOP_ITERATIONS_TO_CLOSE):
            await asyncio.sleep(0)


def _bind(address: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.ip else socket.AF_INET
    if address.protocol == "SCTP":
        raise OSError(errno.EPROTONOSUPPORT, "SCTP is not relayed by this proxier")
    kind = socket.SOCK_DGRAM if address.protocol == "UDP" else socket.SOCK_STREAM
    bound = socket.socket(family, kind)
    try:
        if kind == socket.SOCK_STREAM:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.setblocking(False)
        bound.bind((address.ip, address.port))
        if kind == socket.SOCK_STREAM:
            bound.listen(128)
    except OSError:
        bound.close()
        raise
    return bound


def _reason(address: ListenAddress, error: OSError) -> str:
    if error.errno == errno.EACCES:
        return f"cannot listen on {address} without privilege (ports below 1024 need it)"
    if error.errno == errno.EADDRNOTAVAIL and address.of_cluster:
        return (
            f"cannot listen on {address}: the address is not one of this machine (kube-proxy adds it when it runs as"
            " root; an ordinary user needs a --service-cluster-ip-range within 127.0.0.0/8)"
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return f"cannot listen on {address}: the address is not one of this machine"
    return f"cannot listen on {address}: {error.strerror or error}"
