"""What all connections of one server share: the handler, the pool, the bounds, and who is connected."""

from __future__ import annotations

import asyncio
import logging
import os
import select
import ssl
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Protocol

from hyperkube_lib.serving.exchange import (
    Answer,
    AnswersWhenCurrent,
    Handler,
    HttpRequest,
    Postponed,
    PostponesReads,
    RelayUpgrade,
    Response,
    StreamResponse,
    TakesTurns,
)
from hyperkube_lib.serving.finite_streams import is_finite, made_by_workers
from hyperkube_lib.serving.known_heads import KnownHeads
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.loop import EdgeLoop
from hyperkube_lib.serving.request_body import RequestBody
from hyperkube_lib.serving.request_budget import RequestBudget, TimeUp
from hyperkube_lib.serving.tls import client_context
from hyperkube_lib.serving.turns import Turns
from hyperkube_lib.serving.wire import compressed, is_encoded, late, plain, refusal
from hyperkube_lib.serving.workers import WorkerPool

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import InternalError
from hyperkube.plugin.failures import described

Refuse = Callable[[HttpRequest], Response | None]
"""Returns the answer to a request that is not taken any more, None for one that is."""

IDLE, BUSY, STREAM = "idle", "busy", "stream"
_MOST_CONTEXTS = 64
_PRECISE, _LATE = 5.0, 0.002
"""Deadlines nearer than so many seconds do not wait for the second's tick; a timer may be that much early."""
READ_ONLY = frozenset(("GET", "HEAD", "OPTIONS"))
SWEEP_SECONDS = 15
"""Within so many seconds each connection is looked at, also one that rests or carries a stream."""
_FEW = 64
"""So many connections may be looked at every second."""
_LAST_SECONDS = 0.05
"""After so many seconds it is looked whether what a client gets last is on its way."""


@dataclass(slots=True, eq=False)
class Incoming:
    """A request under way, with what the edge needs to know to answer it.

    Attributes:
        upgrade: ``websocket``, ``spdy/3.1`` or another token in lower case; empty for an ordinary request.
        body_stream: the body as it comes, for long-running requests; others have it whole in `request.body`.
        deadline: when it is answered 504, on the service's clock; 0 for never.
        http_1_0: the client may not know chunks.
        answered: an answer has been begun; a later one is dropped.
        counted: it counts among the requests in flight.
    """

    request: HttpRequest
    keep_alive: bool = True
    upgrade: str = ""
    gzip: bool = False
    long_running: bool = False
    body_stream: RequestBody | None = None
    deadline: float = 0.0
    http_1_0: bool = False
    answered: bool = False
    counted: bool = False

    @property
    def unfinished(self) -> bool:
        """Whether the client is still sending the body."""
        return self.body_stream is not None and not self.body_stream.finished


class Connected(Protocol):
    """A connection, as the service sees it; all on the loop."""

    @property
    def occupation(self) -> str:
        """``idle``, ``busy`` with a request, or with a ``stream``."""

    def tick(self, now: float) -> bool:
        """Enforce the timeouts; tell whether to be called again in a second, and not only with `SWEEP_SECONDS`."""

    def drain(self) -> None:
        """The server is closing: finish what is under way and close."""

    def abort(self) -> None:
        """Close at once."""


class Asker(Protocol):
    """Where a request came from: a connection, or one of its streams; all on the loop."""

    def deliver(self, incoming: Incoming, answer: Answer) -> None:
        """Send the answer to a request of this connection."""

    def tick(self, now: float) -> bool:
        """Enforce the timeouts; tell whether to be called again in a second."""


class Relayed(Protocol):
    """A connection to another server, made for a request; all on the loop."""

    def abort(self) -> None:
        """Close at once."""


class Negotiated(Protocol):
    """What is spoken instead of HTTP/1.1 with a client that asks for it in the TLS handshake (ALPN, RFC 7301).

    Attributes:
        name: in the handshake, such as ``h2``.
        preferred: whether a client that offers HTTP/1.1, too, gets it.
    """

    name: str
    preferred: bool

    def take(
        self, service: Service, transport: asyncio.Transport, certificate: tuple[bytes, ...], peer: tuple[str, int]
    ) -> None:
        """Speak it on a connection from now on; called on the loop, once for each, before anything is read."""


class Service:
    """One server's shared state; used on the loop only, but for `_work`."""

    def __init__(
        self, handler: Handler, *, loop: EdgeLoop, limits: EdgeLimits, logger: logging.Logger, name: str
    ) -> None:
        self.handler = handler
        self.loop = loop
        self.limits = limits
        self.logger = logger
        self.workers = WorkerPool(limits.workers, queue=limits.queue, name=name, logger=logger)
        self._turns: Turns | None = None
        if isinstance(handler, TakesTurns):
            self._turns, self._takes_turns, self._priority = handler.turns, handler.takes_turns, handler.priority
            if self._turns is not None:
                self._turns.join(loop)
        self._reads: AnswersWhenCurrent | None = None
        if isinstance(handler, PostponesReads):
            self._reads = handler.postponed_reads
        self.heads = KnownHeads()
        self.connections: set[Connected] = set()
        self.relays: set[Relayed] = set()
        """Connections to other servers, until they are closed: over TLS that waits for the other side."""
        self.watched: set[Connected | Asker] = set()
        """Those that are to be looked at in the next second: with a request under way, or a client that is behind."""
        self._sweeping: Iterator[Connected] = iter(())
        self._share = 0
        self.draining = False
        self.refuse: Refuse | None = None
        self.negotiated: Negotiated | None = None
        self.now = 0.0
        """Coarse monotonic seconds, moved on once a second."""
        self._read_only = 0
        self._mutating = 0
        self._contexts: dict[tuple[str, tuple[tuple[str, int], ...]], ssl.SSLContext] = {}

    def tick(self) -> None:
        """Move the coarse time on and let connections look at their timeouts: all of them would take too long."""
        self.now = self.loop.asyncio.time()
        if self._turns is not None:
            self._turns.relieve(partial(self.workers.submit, begun=True))
        if not self.connections:  # no timeouts to look at
            self._sweeping = iter(())  # it holds the last ones
            return
        self.workers.relieve()
        for connection in list(self.watched):
            if not connection.tick(self.now):
                self.watched.discard(connection)
        self._sweep()

    def _sweep(self) -> None:
        """Look at a share of all connections, so that each has its turn."""
        swept = list(islice(self._sweeping, self._share))
        if not swept:
            everyone = list(self.connections)
            self._sweeping, self._share = iter(everyone), max(_FEW, len(everyone) // SWEEP_SECONDS + 1)
            swept = list(islice(self._sweeping, self._share))
        for connection in swept:
            if connection in self.connections and connection.tick(self.now):
                self.watched.add(connection)

    def join(self, connection: Connected) -> None:
        """Count a connection in."""
        self.connections.add(connection)
        self.watched.add(connection)

    def leave(self, connection: Connected) -> None:
        """Forget a connection; harmless when it is not there."""
        self.connections.discard(connection)
        self.watched.discard(connection)

    def hang_up(self, connection: object, transport: asyncio.Transport) -> None:
        """Close a connection once all is sent: while the server closes, whether its client does the same or not.

        Over TLS closing waits for the client's close_notify, for half a minute. Go's server waits for none.
        Source: Go ``net/http`` (Server.Shutdown), ``crypto/tls`` (Conn.Close).
        """
        transport.close()
        if self.draining:
            self.loop.asyncio.call_later(_LAST_SECONDS, self._cut, connection, transport)

    def _cut(self, connection: object, transport: asyncio.Transport) -> None:
        if connection not in self.connections:  # its client has closed, too
            return
        if _is_all_sent(transport):
            transport.abort()
        else:
            self.loop.asyncio.call_later(_LAST_SECONDS, self._cut, connection, transport)

    def busy(self) -> bool:
        """Tell whether requests are under way, streams left out."""
        return any(connection.occupation is BUSY for connection in self.connections)

    def submit(self, connection: Asker, incoming: Incoming) -> None:
        """Have the handler answer on a thread, or refuse for want of room."""
        self.watched.add(connection)
        refused, reads = self._count(incoming), self._reads
        if refused is None and reads is not None and self._waits(reads, connection, incoming):
            pass
        elif refused is None and not self._begin(partial(self._work, connection, incoming), incoming.request):
            self._release(incoming)
            refused = _too_many()
        if refused is not None:
            connection.deliver(incoming, refused)
        elif incoming.deadline and incoming.deadline - self.loop.asyncio.time() < _PRECISE:
            self.loop.asyncio.call_at(incoming.deadline + _LATE, self._look, connection)

    def _begin(self, work: Callable[[], None], request: HttpRequest, *, begun: bool = False) -> bool:
        """Have a request handled on a turn if it can be, else on a thread; tell False when there is no room."""
        if self._turns is not None and request.method not in READ_ONLY and self._takes_turns(request):
            return self._turns.submit(work, begun=begun, priority=self._priority(request))
        return self.workers.submit(work, begun=begun)

    def _waits(self, reads: AnswersWhenCurrent, connection: Asker, incoming: Incoming) -> bool:
        """Let a read wait for the store; tell whether it does."""
        if incoming.request.method != "GET" or incoming.upgrade or incoming.body_stream is not None:
            return False
        wait = reads.waits_for(incoming.request)
        if wait is None:
            return False
        wait(lambda error: self.loop.post(self._read, reads, connection, incoming, error))
        return True

    def _read(self, reads: AnswersWhenCurrent, connection: Asker, incoming: Incoming, error: Exception | None) -> None:
        """Answer a read that has waited; where that was in vain, the handler says why."""
        try:
            answer = reads.answer(incoming.request) if error is None and not incoming.answered else None
        except Exception as bug:
            self.logger.exception("%s %s failed", incoming.request.method, incoming.request.path)
            answer = refusal(InternalError.because(described(bug)))
        if answer is not None and incoming.gzip and len(answer.body) >= self.limits.gzip_from:
            self._release(incoming)
            self.shrink_later(connection, incoming, answer)
        elif answer is not None or incoming.answered:
            self._done(connection, incoming, answer or late(incoming.request))
        else:
            self._begin(partial(self._work, connection, incoming), incoming.request, begun=True)

    def _look(self, connection: Asker) -> None:
        connection.tick(self.loop.asyncio.time())

    def _count(self, incoming: Incoming) -> Response | None:
        if incoming.long_running:
            return None
        limits = self.limits
        seconds = limits.allotted(incoming.request.query_string)
        if seconds:
            incoming.deadline = self.loop.asyncio.time() + seconds
            incoming.request.budget = RequestBudget()
        if incoming.request.method in READ_ONLY:
            if limits.read_only_inflight and self._read_only >= limits.read_only_inflight:
                return _too_many()
            self._read_only += 1
        else:
            if limits.mutating_inflight and self._mutating >= limits.mutating_inflight:
                return _too_many()
            self._mutating += 1
        incoming.counted = True
        return None

    def _release(self, incoming: Incoming) -> None:
        if not incoming.counted:
            return
        incoming.counted = False
        if incoming.request.method in READ_ONLY:
            self._read_only -= 1
        else:
            self._mutating -= 1

    def _work(
        self, connection: Asker, incoming: Incoming, proceed: Callable[[], Answer | Postponed] | None = None
    ) -> None:
        request = incoming.request
        try:
            answer = self.handler.handle(request) if proceed is None else proceed()
            if isinstance(answer, Postponed):
                further = partial(self._work, connection, incoming, answer.proceed)
                answer.wait(partial(self._go_on, further, request))
                return
            if incoming.gzip and isinstance(answer, Response):
                answer = self.shrink(answer)
            elif is_finite(answer):
                made_by_workers(answer, self.workers, self.loop, gzip=incoming.gzip)
        except TimeUp:
            answer = late(request)
        except Exception as error:
            self.logger.exception("%s %s failed", request.method, request.path)
            answer = refusal(InternalError.because(described(error)))
        if self._turns is not None and self._turns.is_here():
            self._turns.answer(self.loop, self._done, connection, incoming, answer)
        else:
            self.loop.post(self._done, connection, incoming, answer)

    def _go_on(self, further: Callable[[], None], request: HttpRequest) -> None:
        self.loop.post(partial(self._begin, begun=True), further, request)

    def client_context(self, target: RelayUpgrade) -> ssl.SSLContext:
        """Return the context for connecting to another server; read again when a file has changed.

        Raises:
            UsageError: a file cannot be used.
        """
        files = (target.ca_file, target.certificate_file, target.key_file)
        times = tuple((name, os.stat(name).st_mtime_ns if name and os.path.exists(name) else 0) for name in files)  # noqa: PTH110, PTH116  plain strings, on the loop
        key = (target.ca_data, times)
        context = self._contexts.get(key)
        if context is None:
            if len(self._contexts) > _MOST_CONTEXTS:
                self._contexts.clear()
            context = self._contexts[key] = client_context(*files, ca_data=target.ca_data)
        return context

    def shrink(self, answer: Response) -> Response:
        """Return the answer compressed if that pays; takes milliseconds, so not on the loop."""
        if len(answer.body) < self.limits.gzip_from or is_encoded(answer.headers):
            return answer
        return compressed(answer)

    def shrink_later(self, connection: Asker, incoming: Incoming, answer: Response) -> None:
        """Compress on a thread and then deliver."""

        def work() -> None:
            self.loop.post(connection.deliver, incoming, self.shrink(answer))

        if not self.workers.submit(work):
            connection.deliver(incoming, answer)

    def _done(self, connection: Asker, incoming: Incoming, answer: Answer) -> None:
        self._release(incoming)
        connection.deliver(incoming, answer)


def discard(answer: Answer) -> None:
    """Let go of an answer that is not waited for any more."""
    if isinstance(answer, StreamResponse):
        answer.source.close()


def _is_all_sent(transport: asyncio.Transport) -> bool:
    """Tell whether the system has all that was written: the transport holds nothing, and its socket would take more.

    Over TLS a transport whose connection is lost has no socket before the protocol is told.
    """
    if transport.get_write_buffer_size():
        return False
    socket = transport.get_extra_info("socket")
    if socket is None:
        return True
    poll = select.poll()
    poll.register(socket.fileno(), select.POLLOUT)
    return bool(poll.poll(0))


def _too_many() -> Response:
    return plain(429, "Too many requests, please try again later.", ("Retry-After", "1"))
