"""Copying: one TCP connection to one backend, and UDP packets with a socket per client."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable
from typing import cast

from hyperkube_proxier.userspace.balancer import Address, Balancer

CHUNK = 64 * 1024
CONNECT_SECONDS = (0.25, 0.5, 1.0, 2.0)
"""Time-outs of successive tries, each at another backend while there is one; as upstream's userspace proxier."""
UDP_CLIENTS = 1024


async def relay_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, balancer: Balancer) -> None:
    """Connect to a backend and copy both ways until both sides are done."""
    try:
        backend = await _connect(writer.get_extra_info("peername")[0], balancer)
        if backend is None:
            return
        backend_reader, backend_writer = backend
        try:
            await asyncio.gather(_copy(reader, backend_writer), _copy(backend_reader, writer))
        finally:
            backend_writer.close()
    except (ConnectionError, asyncio.CancelledError):
        writer.transport.abort()
    finally:
        writer.close()


async def _connect(client: str, balancer: Balancer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    failed: list[Address] = []
    for seconds in CONNECT_SECONDS:
        backend = balancer.choose(client, failed) or balancer.choose(client)
        if backend is None:
            return None
        try:
            return await asyncio.wait_for(asyncio.open_connection(*backend), seconds)
        except (OSError, TimeoutError):
            failed.append(backend)
    return None


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()


class DatagramRelay(asyncio.DatagramProtocol):
    """Listens for clients; each gets a socket towards its backend for as long as packets flow."""

    def __init__(self, balancer: Callable[[], Balancer], idle_seconds: float) -> None:
        """Take what chooses backends, and how long a client may be silent."""
        self._balancer = balancer
        self._idle_seconds = idle_seconds
        self._transport: asyncio.DatagramTransport | None = None
        self._clients: OrderedDict[Address, _Answers] = OrderedDict()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to send answers."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        """Pass a client's packet on."""
        answers = self._clients.get(addr)
        if answers is None:
            backend = self._balancer().choose(addr[0])
            if backend is None:
                return
            answers = self._clients[addr] = _Answers(self, addr, self._idle_seconds)
            asyncio.get_running_loop().create_task(answers.open(backend))
            if len(self._clients) > UDP_CLIENTS:
                self._clients.popitem(last=False)[1].close()
        self._clients.move_to_end(addr)
        answers.send(data)

    def answer(self, data: bytes, client: Address) -> None:
        """Send a backend's packet to its client."""
        if self._transport is not None:
            self._transport.sendto(data, client)

    def forget(self, client: Address) -> None:
        """Drop a client that has been silent."""
        self._clients.pop(client, None)

    def close(self) -> None:
        """Close the listener and all clients' sockets."""
        for answers in list(self._clients.values()):
            answers.close()
        if self._transport is not None:
            self._transport.close()


class _Answers(asyncio.DatagramProtocol):
    """One client's socket towards its backend."""

    def __init__(self, relay: DatagramRelay, client: Address, idle_seconds: float) -> None:
        self._relay = relay
        self._client = client
        self._idle_seconds = idle_seconds
        self._transport: asyncio.DatagramTransport | None = None
        self._waiting: list[bytes] = []
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    async def open(self, backend: Address) -> None:
        """Connect, then send what arrived meanwhile."""
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, remote_addr=backend)
        if self._closed:
            transport.close()
            return
        self._transport = transport
        for data in self._waiting:
            transport.sendto(data)
        self._waiting.clear()

    def send(self, data: bytes) -> None:
        """Send a packet to the backend."""
        self._touch()
        if self._transport is None:
            self._waiting.append(data)
        else:
            self._transport.sendto(data)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        """Pass the backend's packet to the client."""
        self._touch()
        self._relay.answer(data, self._client)

    def error_received(self, exc: Exception) -> None:
        """Close the socket: the backend does not listen, and the next packet may go to another one."""
        self.close()

    def close(self) -> None:
        """Close the socket."""
        self._closed = True
        self._relay.forget(self._client)
        if self._idle is not None:
            self._idle.cancel()
        if self._transport is not None:
            self._transport.close()

    def _touch(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(self._idle_seconds, self.close)
