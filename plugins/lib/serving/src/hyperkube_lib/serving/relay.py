"""Passes a request on to another server and its answer back, on the loop, without a thread.

One way serves three needs: exec, attach and port-forward through the API server (the other server upgrades, and from
then on bytes go both ways unread), followed logs (an answer that grows), and proxies (bodies of any size both ways).
The other server's answer is parsed up to the end of its head in any case: only if it has agreed to the upgrade does
the client's connection leave our hands.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any

import httptools
from hyperkube_lib.serving.bandwidth import BandwidthLimit
from hyperkube_lib.serving.connection import BodySink, Connection
from hyperkube_lib.serving.dialled import dialled
from hyperkube_lib.serving.exchange import RelayUpgrade, Response
from hyperkube_lib.serving.relayed_head import passed_headers, relayed_request, switched_to
from hyperkube_lib.serving.service import Incoming
from hyperkube_lib.serving.upgraded import Upgraded
from hyperkube_lib.serving.uvloop_tls import transport_of
from hyperkube_lib.serving.wire import LAST_CHUNK, chunk, head, refusal

from hyperkube.machinery.errors import HyperkubeError, InternalError, ServiceUnavailable

REFUSAL_BOUND = 2048
"""Bytes of a refusal's body that are given to `RelayUpgrade.refusal`."""

HEAD_BOUND = 1 << 20
"""Bytes of an answer's head, with all that comes before it (``100 Continue``): as much as Go's servers read of one."""
_REDIRECTED = "the backend attempted to redirect this request, which is not permitted"


class Relay(asyncio.Protocol):
    """The connection to the other server, and between it and the client."""

    def __init__(
        self,
        connection: Connection,
        incoming: Incoming,
        target: RelayUpgrade,
        messages: Callable[[Relay], BodySink] | None = None,
    ) -> None:
        """Relay a request.

        Args:
            connection: the client's.
            incoming: its request.
            target: where to.
            messages: upgrades the client's connection once there is a plain answer, and returns what takes its body;
                None where the upgrade that the client asks for, if any, is the other server's to agree to.
        """
        self._connection = connection
        self._sink: BodySink = connection
        self._messages = messages
        self._upgrades = bool(incoming.upgrade) and messages is None
        self._service = connection.service
        self._incoming = incoming
        self._target = target
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._parser: Any = httptools.HttpResponseParser(self)
        self._headers: list[tuple[str, str]] = []
        self._head_bytes = 0
        self._length: int | None = None
        self._until_close = False
        self._started = False
        self._over = False
        self._refused: bytearray | None = None
        self._rewrite: Callable[[bytes], bytes] | None = None
        self._client: Upgraded | None = None
        self._writable = True
        self._held = 0
        self._reading = True
        rate = self._service.limits.stream_rate
        self._down, self._up = BandwidthLimit(rate), BandwidthLimit(rate)
        self._client_reads = True

    def start(self) -> None:
        """Connect."""
        self._connection.attach(self)
        self._task = self._service.loop.asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        target = self._target
        try:
            context = self._service.client_context(target) if target.tls else None
            name = (target.server_name or target.host) if context is not None else None
            connect = partial(
                asyncio.get_running_loop().create_connection, lambda: self, ssl=context, server_hostname=name
            )
            async with asyncio.timeout(target.connect_seconds):
                if target.dial is None:
                    await connect(target.host, target.port)
                else:
                    await connect(sock=await dialled(target.dial, target.host, target.port))
        except TimeoutError:
            self._fail(f"dial tcp {target.host}:{target.port}: i/o timeout")
        except (OSError, HyperkubeError) as error:
            self._fail(_reason(target, error))

    # the other server's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Repeat the request."""
        self._transport = transport_of(transport)
        self._service.relays.add(self)
        if self._over:
            self._transport.abort()
            return
        try:
            head_and_body = relayed_request(
                self._incoming, self._target, upgrades=self._upgrades, handshake=self._messages is None
            )
        except ValueError as error:
            self._fail(str(error))
            return
        self._write(head_and_body)
        if self._incoming.body_stream is not None:
            self._incoming.body_stream.attach(self._forward_body)

    def data_received(self, data: bytes) -> None:
        """Part of the answer, or, after the upgrade, bytes for the client."""
        if self._client is not None:
            self._client.send(data)
            self._rest(self._down.spend(len(data), self._now()))
            self._balance(self._client.writable)
            return
        if not self._started:
            # Counted before it is parsed, and over all heads: an endless row of 100s never starts an answer.
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._upgrade(data[upgrade.args[0] :])
            return
        except httptools.HttpParserError as error:
            self._fail(f"malformed HTTP response: {error}")
        if not self._started and self._head_bytes > HEAD_BOUND:
            self._fail(f"net/http: server response headers exceeded {HEAD_BOUND} bytes; aborted")

    def connection_lost(self, exc: Exception | None) -> None:
        """The other server has closed, or we have."""
        self._service.relays.discard(self)
        self._transport = None
        if self._client is not None:
            self._client.finish()
        elif self._started and not self._over:
            self._complete(broken=not self._until_close)
        else:
            self._fail("EOF")

    def pause_writing(self) -> None:
        """The other server is behind."""
        self._writable = False

    def resume_writing(self) -> None:
        """It has caught up."""
        self._writable = True
        held, self._held = self._held, 0
        if self._client is not None and held:
            self._client.took(held)
        if self._client is None and self._incoming.body_stream is not None:
            self._forward_body()

    # its answer, from the parser

    def on_message_begin(self) -> None:
        """An answer begins."""
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header line; those behind a body, its trailers, mean nothing here."""
        if self._started:
            return
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """The head is whole."""
        status = self._parser.get_status_code()
        if status < 200 or self._over:
            return
        fields = {name.lower(): value for name, value in self._headers}
        chunked = "chunked" in fields.get("transfer-encoding", "").lower()
        empty = status in {204, 304} or self._incoming.request.method == "HEAD"
        self._length = int(fields["content-length"]) if "content-length" in fields and not chunked else None
        self._until_close = self._length is None and not chunked and not empty
        if self._upgrades and status < 400:
            self._fail(f"invalid upgrade response: status code {status}")
            return
        self._started = True
        if status < 400 and "location" in fields and status >= 300 and not self._target.redirects:
            self._answer_instead(Response(status=502, body=_REDIRECTED.encode()))
            return
        self._count(status)
        if status >= 400 and self._target.refusal is not None:
            self._refused = bytearray()
        else:
            self._open_body(status, empty=empty)
        if empty:
            self._complete(broken=False)

    def _open_body(self, status: int, *, empty: bool) -> None:
        """Pass the head on; a body that is rewritten has another length than the server said."""
        kept = passed_headers(self._headers)
        length = 0 if status == 204 else self._length
        if self._target.answered is not None:
            passed = self._target.answered(kept)
            kept = passed.headers
            if passed.body is not None and not empty:
                self._rewrite, length = passed.body, None
        if self._messages is not None:
            self._sink = self._messages(self)
        else:
            self._connection.open_body(self._incoming, status, kept, length=length)

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        if self._over:
            return
        if self._refused is not None:
            self._refused += body[: REFUSAL_BOUND - len(self._refused)]
            return
        self._pass(body)
        self._balance(self._sink.writable)

    def _pass(self, body: bytes) -> None:
        """Send a piece of the body, or the end of one that is rewritten."""
        if self._rewrite is not None:
            body = self._rewrite(body)
        if body:
            self._sink.send_chunks((body,))

    def on_message_complete(self) -> None:
        """The answer is whole."""
        if self._started and not self._over:
            self._complete(broken=False)

    # the client's side

    def resume(self) -> None:
        """The client has caught up."""
        self._balance(writable=True)

    def stop(self) -> None:
        """The client is gone."""
        if self._task is not None:
            self._task.cancel()
        self._leave()

    def received(self, data: bytes) -> None:
        """Bytes from the client, after the upgrade."""
        if self._transport is None:
            return
        self._write(data)
        if self._writable and self._client is not None:
            pause = self._up.spend(len(data), self._now())
            if pause:
                self._service.loop.asyncio.call_later(pause, self._client.took, len(data))
            else:
                self._client.took(len(data))
        else:
            self._held += len(data)

    def ended(self) -> None:
        """The client has closed, after the upgrade."""
        if self._transport is not None:
            self._transport.close()

    # between them

    def abort(self) -> None:
        """Close the connection to the other server at once; on the loop."""
        if self._transport is not None:
            self._transport.abort()

    def _write(self, data: bytes) -> None:
        """Write to the other server."""
        if self._transport is not None:
            self._transport.write(data)

    def _forward_body(self) -> None:
        body = self._incoming.body_stream
        if body is None or self._transport is None or not self._writable:
            return
        if body.broken:
            self._transport.abort()
            return
        chunked = not self._incoming.request.headers.get("content-length")
        data = body.take()
        if data:
            self._write(chunk((data,)) if chunked else data)
        if body.finished and chunked:
            self._write(LAST_CHUNK)
            self._incoming.body_stream = None

    def _upgrade(self, rest: bytes) -> None:
        """The other server has agreed: from here on bytes pass unread, if this is what the client has asked for."""
        if self._over:
            return
        protocol, wanted = switched_to(self._headers), self._incoming.upgrade if self._upgrades else ""
        if protocol != wanted:
            self._fail(f'backend tried to switch protocol "{protocol}" when "{wanted}" was requested')
            return
        self._count(101)
        client = Upgraded(self._service)
        client.listener = self
        client.caught_up = self.resume
        kept = [pair for pair in self._headers if pair[0].lower() != "date"]
        greeting = head(101, kept, close=False) + b"\r\n" + rest
        self._client = client
        try:
            transport, early = self._connection.release(client)
        except ConnectionError:
            self.stop()
            return
        client.begin(transport, greeting, early)

    def _balance(self, writable: bool) -> None:
        """Read from the other server only while the client reads from us, and no faster than may be."""
        self._client_reads = writable
        wanted = writable and not self._down.resting
        if self._transport is not None and wanted != self._reading:
            self._reading = wanted
            if wanted:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _now(self) -> float:
        return self._service.loop.asyncio.time()

    def _rest(self, seconds: float) -> None:
        """Read nothing from the other server for a while."""
        if seconds:
            self._down.resting = True
            self._service.loop.asyncio.call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        self._down.resting = False
        self._balance(self._client_reads)

    def _complete(self, *, broken: bool) -> None:
        self._over = True
        if self._transport is not None:
            self._transport.close()
        if self._refused is not None and self._target.refusal is not None:
            answer = self._target.refusal(self._parser.get_status_code(), bytes(self._refused))
            self._connection.refuse_upgrade(self._incoming, answer)
        else:
            if self._rewrite is not None and not broken:
                self._pass(b"")
            self._sink.end_body(broken=broken)

    def _answer_instead(self, answer: Response) -> None:
        """Answer the client ourselves, and be done with the other server."""
        self._count(answer.status)
        self._leave()
        self._connection.refuse_upgrade(self._incoming, answer)

    def _leave(self) -> None:
        self._over = True
        self.abort()

    def _fail(self, reason: str) -> None:
        if self._over:
            return
        if self._started:
            self._leave()
            self._sink.end_body(broken=True)
        elif self._upgrades:
            self._answer_instead(refusal(InternalError(f"error dialing backend: {reason}")))
        else:
            self._answer_instead(refusal(ServiceUnavailable(f"error trying to reach service: {reason}")))

    def _count(self, status: int) -> None:
        if self._target.counted is not None:
            self._target.counted(status)


def _reason(target: RelayUpgrade, error: Exception) -> str:
    """Return what went wrong in the words that Go's dialer uses."""
    place = f"dial tcp {target.host}:{target.port}: "
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {target.host}: no such host"
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError):
        return f"{place}connect: {os.strerror(error.errno).lower()}"
    return place + str(error)
