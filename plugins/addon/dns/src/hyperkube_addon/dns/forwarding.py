"""Questions about names that are not the cluster's: asked of other servers, answers remembered.

A question goes out as it came in, from a port of its own and with a number that cannot be guessed, and over the
transport by which it came: an answer that was cut over UDP reaches the asker as it is, who then asks over TCP.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_bytes
from typing import NamedTuple

from hyperkube_addon.dns.streams import READ, Stream, framed
from hyperkube_addon.dns.timers import Timers

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError

PORT = 53
TRY_SECONDS = 2.0
"""How long one server may take before the next is asked."""
ROUNDS = 2
MOST_AT_ONCE = 1000
MOST_KEPT = 4096
LONGEST_KEPT = 30
"""Seconds; Kubernetes' own configuration of CoreDNS has ``cache 30``."""
_LARGEST = 65535

Done = Callable[[bytes | None], None]


class Upstream(NamedTuple):
    """A server elsewhere."""

    host: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """Which kind of socket reaches it."""
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET


def upstream(text: str) -> Upstream:
    """Return the server that ``HOST``, ``HOST:PORT`` or ``[HOST]:PORT`` names.

    Raises:
        UsageError: it is none of these.
    """
    import ipaddress

    host, port = text, str(PORT)
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":") or port
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        ipaddress.ip_address(host.partition("%")[0])
        return Upstream(host, int(port))
    except ValueError as error:
        raise UsageError(f"invalid DNS server {text!r}, expected ADDRESS or ADDRESS:PORT") from error


def resolver_servers(path: Path) -> tuple[str, ...]:
    """Return the servers that a resolver file names; none without one."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    rows = [line.split() for line in lines]
    return tuple(row[1] for row in rows if len(row) > 1 and row[0] == "nameserver")


@dataclass(frozen=True, slots=True)
class Routes:
    """Which servers are asked about which names.

    Attributes:
        stubs: domain → servers, domains in small letters without the last dot.
        default: asked about all others.
    """

    stubs: Mapping[str, Sequence[Upstream]]
    default: Sequence[Upstream]

    def servers(self, name: str) -> Sequence[Upstream]:
        """Return the servers for a name: those of the longest domain that it is in."""
        domain = name
        while domain:
            if domain in self.stubs:
                return self.stubs[domain]
            domain = domain.partition(".")[2]
        return self.default


class Forwarder:
    """Asks and remembers; of one thread, and woken by its selector and timers."""

    def __init__(self, routes: Routes, selector: selectors.BaseSelector, timers: Timers) -> None:
        self._routes = routes
        self._selector = selector
        self._timers = timers
        self._kept: dict[bytes, tuple[bytes, float, float]] = {}
        self._asking: set[_Exchange] = set()

    @property
    def is_used(self) -> bool:
        """Whether there is anyone to ask."""
        return bool(self._routes.default or self._routes.stubs)

    def ask(self, name: str, wire: bytes, done: Done, *, over_tcp: bool) -> None:
        """Ask about a name; `done` gets the answer with the question's number, None if there is none to be had."""
        key = wire[2:]
        kept = self._kept.get(key)
        now = self._timers.now()
        if kept is not None and now < kept[2]:
            from hyperkube_addon.dns.messages import aged

            done(wire[:2] + aged(kept[0], int(now - kept[1]))[2:])
            return
        servers = self._routes.servers(name)
        if not servers or len(self._asking) >= MOST_AT_ONCE:
            done(None)
            return

        def finished(exchange: _Exchange, answer: bytes | None) -> None:
            self._asking.discard(exchange)
            if answer is not None:
                self._keep(key, answer)
                answer = wire[:2] + answer[2:]
            done(answer)

        exchange = _Exchange(self._selector, self._timers, list(servers) * ROUNDS, wire, finished, over_tcp=over_tcp)
        self._asking.add(exchange)
        exchange.begin()

    def close(self) -> None:
        """Ask no more; answers that are still out are not waited for."""
        for exchange in self._asking:
            exchange.abandon()
        self._asking.clear()

    def _keep(self, key: bytes, answer: bytes) -> None:
        from hyperkube_addon.dns.messages import lifetime

        seconds = lifetime(answer)
        if not seconds:
            return
        self._kept.pop(key, None)
        if len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        now = self._timers.now()
        self._kept[key] = (answer, now, now + min(seconds, LONGEST_KEPT))


class _Exchange:
    """One question and the servers that are left to ask about it."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        timers: Timers,
        servers: list[Upstream],
        wire: bytes,
        finished: Callable[[_Exchange, bytes | None], None],
        *,
        over_tcp: bool,
    ) -> None:
        self._selector = selector
        self._timers = timers
        self._servers = servers
        self._question = wire[2:]
        self._number = b""
        self._finished = finished
        self._over_tcp = over_tcp
        self._stream: Stream | None = None
        self._socket: socket.socket | None = None
        self._attempt = 0

    def begin(self) -> None:
        """Ask the next server, or give up."""
        self.abandon()
        if not self._servers:
            self._finished(self, None)
            return
        server = self._servers.pop(0)
        self._number = token_bytes(2)
        self._attempt += 1
        attempt = self._attempt
        self._timers.after(TRY_SECONDS, lambda: self._expired(attempt))
        try:
            self._send(server)
        except OSError:
            self.begin()

    def abandon(self) -> None:
        """Wait for no answer any more."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        if self._socket is not None:
            self._selector.unregister(self._socket)
            self._socket.close()
            self._socket = None

    def _send(self, server: Upstream) -> None:
        message = self._number + self._question
        kind = socket.SOCK_STREAM if self._over_tcp else socket.SOCK_DGRAM
        made = socket.socket(server.family, kind)
        made.setblocking(False)
        try:
            if self._over_tcp:
                made.connect_ex((server.host, server.port))
            else:
                made.connect((server.host, server.port))
                made.send(message)
        except OSError:
            made.close()
            raise
        if self._over_tcp:
            self._stream = Stream(made, self._selector, self._received, self.begin, framed(message))
        else:
            self._socket = made
            self._selector.register(made, READ, self._readable)

    def _readable(self, _mask: int) -> None:
        if self._socket is None:
            return
        try:
            answer = self._socket.recv(_LARGEST)
        except BlockingIOError:
            return
        except OSError:  # nothing listens there
            self.begin()
            return
        self._received(answer)

    def _received(self, answer: bytes) -> None:
        from hyperkube_addon.dns.messages import answers

        if answer[:2] != self._number or not answers(self._question, answer):
            return  # a forged or belated answer: the true one may yet come
        self.abandon()
        self._attempt += 1
        self._finished(self, answer)

    def _expired(self, attempt: int) -> None:
        if attempt == self._attempt:
            self.begin()
