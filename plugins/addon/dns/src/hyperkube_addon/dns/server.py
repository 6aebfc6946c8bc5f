"""The sockets of the DNS server: one thread, one selector, nothing to do without queries.

Answers about the cluster's zone are kept as bytes until the zone changes, except those with several addresses, whose
order differs from answer to answer.
"""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from hyperkube_addon.dns.forwarding import Forwarder, Routes
from hyperkube_addon.dns.streams import READ, Stream
from hyperkube_addon.dns.timers import Timers

from hyperkube.machinery.clock import Clock

if TYPE_CHECKING:
    from hyperkube_addon.dns.messages import Query
    from hyperkube_addon.dns.zone import Answer, Zone

LARGEST = 65535
MOST_KEPT = 4096
MOST_CONNECTIONS = 200
IDLE_SECONDS = 10.0
BUFFER = 4 << 20
"""Bytes of questions that wait while the thread is busy: thousands."""
_A_TURN = 256
_TRIES = 20

Reply = Callable[[bytes], None]
_Address = tuple[Any, ...]


class Server:
    """Serves a zone on one address, from `run` to `close`.

    Args:
        zone: the cluster's.
        lock: held by who changes the zone's records.
        routes: who is asked about other names.
        clock: for time-outs.
        address: to listen on.
        port: to listen on; 0 for a free one.

    Raises:
        OSError: the address cannot be bound.
    """

    def __init__(
        self, zone: Zone, lock: threading.Lock, routes: Routes, clock: Clock, address: str, port: int = 0
    ) -> None:
        self._zone = zone
        self._lock = lock
        self._selector = selectors.DefaultSelector()
        self._timers = Timers(clock)
        self._forwarder = Forwarder(routes, self._selector, self._timers)
        self._kept: dict[bytes, bytes] = {}
        self._generation = -1
        self._streams: set[Stream] = set()
        self._udp, self._tcp = _bound(address, port)
        self._woken, self._waker = socket.socketpair()
        self._is_closing = False
        self._selector.register(self._udp, READ, self._on_datagrams)
        self._selector.register(self._tcp, READ, self._on_connection)
        self._selector.register(self._woken, READ, lambda _mask: None)

    @property
    def port(self) -> int:
        """The port, of UDP and TCP."""
        port: int = self._udp.getsockname()[1]
        return port

    def run(self) -> None:
        """Serve until `close`, on this thread."""
        try:
            while not self._is_closing:
                for key, mask in self._selector.select(self._timers.wait()):
                    # An earlier event of this turn may have ended what this one is about, and given its number away.
                    current = self._selector.get_map().get(key.fd)
                    if current is not None and current.fileobj is key.fileobj:
                        key.data(mask)
                self._timers.run()
        finally:
            self._forwarder.close()
            for stream in [*self._streams]:
                stream.close()
            for one in (self._udp, self._tcp, self._woken, self._waker):
                one.close()
            self._selector.close()

    def close(self) -> None:
        """End `run`, from any thread."""
        self._is_closing = True
        with contextlib.suppress(OSError):
            self._waker.send(b"\0")

    def _on_datagrams(self, _mask: int) -> None:
        for _ in range(_A_TURN):
            try:
                wire, sender = self._udp.recvfrom(LARGEST)
            except BlockingIOError:
                return
            except OSError:  # an earlier answer did not arrive
                continue
            kept = self._kept.get(wire[2:])
            if kept is not None and self._generation == self._zone.records.generation:
                self._send(wire[:2] + kept, sender)
            else:
                self._handle(wire, partial(self._send, receiver=sender), over_tcp=False)

    def _send(self, answer: bytes, receiver: _Address) -> None:
        with contextlib.suppress(OSError):  # who asked is gone, or too slow: he asks again
            self._udp.sendto(answer, receiver)

    def _on_connection(self, _mask: int) -> None:
        try:
            connection, _ = self._tcp.accept()
        except OSError:
            return
        if len(self._streams) >= MOST_CONNECTIONS:
            connection.close()
            return
        last = [self._timers.now()]

        def received(wire: bytes) -> None:
            last[0] = self._timers.now()
            self._handle(wire, stream.send, over_tcp=True)

        def look() -> None:
            if stream not in self._streams:
                return
            left = last[0] + IDLE_SECONDS - self._timers.now()
            if left > 0:
                self._timers.after(left, look)
            else:
                self._streams.discard(stream)
                stream.close()

        stream = Stream(connection, self._selector, received, lambda: self._streams.discard(stream))
        self._streams.add(stream)
        self._timers.after(IDLE_SECONDS, look)

    def _handle(self, wire: bytes, reply: Reply, *, over_tcp: bool) -> None:
        """Answer a question, now or when others have answered."""
        from hyperkube_addon.dns.messages import Query, failure, read

        query = read(wire)
        if not isinstance(query, Query):
            if query is not None:
                reply(query)
            return
        with self._lock:
            generation = self._zone.records.generation
            answer = self._zone.answer(query.name, query.kind)
        if answer is None:
            self._forwarder.ask(
                query.name,
                wire,
                lambda found: reply(failure(query) if found is None else found),
                over_tcp=over_tcp,
            )
        else:
            self._answer(query, answer, reply, wire, generation, over_tcp=over_tcp)

    def _answer(
        self, query: Query, answer: Answer, reply: Reply, wire: bytes, generation: int, *, over_tcp: bool
    ) -> None:
        from hyperkube_addon.dns import messages

        limit = messages.LARGEST if over_tcp else query.limit
        made = messages.response(query, answer, self._zone.soa, recursion=self._forwarder.is_used)
        if answer.alias:
            asked = messages.question(answer.alias, query.kind)

            def found(other: bytes | None) -> None:
                reply(messages.written(messages.with_alias_target(made, other), limit))

            self._forwarder.ask(answer.alias, asked, found, over_tcp=over_tcp)
            return
        done = messages.written(made, limit)
        reply(done)
        if generation != self._generation or len(self._kept) >= MOST_KEPT:
            self._kept.clear()
            self._generation = generation
        if len(answer.records) <= 1 and not over_tcp:
            self._kept[wire[2:]] = done[2:]


def _bound(address: str, port: int) -> tuple[socket.socket, socket.socket]:
    """Return a UDP and a listening TCP socket of one port.

    Raises:
        OSError: the address or port is not to be had.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for tried in range(_TRIES):
        udp, tcp = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_STREAM)
        try:
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tcp.bind((address, port))
            udp.bind((address, tcp.getsockname()[1]))
            tcp.listen(128)
        except OSError as error:
            udp.close()
            tcp.close()
            # The kernel chose a port that is free for TCP only.
            if port or error.errno != errno.EADDRINUSE or tried == _TRIES - 1:
                raise
            continue
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        with contextlib.suppress(OSError):
            force = 33  # SO_RCVBUFFORCE: beyond the machine's limit, for root
            udp.setsockopt(socket.SOL_SOCKET, force, BUFFER)
        udp.setblocking(False)
        tcp.setblocking(False)
        return udp, tcp
    raise AssertionError("every try ends above")
