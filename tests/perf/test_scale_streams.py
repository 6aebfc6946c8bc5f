"""The load's watches over HTTP/2, against a server that sends one piece of each."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import RequestReceived, StreamReset

sys.path.insert(0, str(Path(__file__).parent))

from scale.streams import Streams


class Server(asyncio.Protocol):
    """Answers each request with a piece of a body that does not end; `resets` has what was given up."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="latin-1"))
        self.resets: asyncio.Queue[tuple[int, int]] = asyncio.Queue()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]  one of TCP
        self.h2.initiate_connection()
        self._transport.write(self.h2.data_to_send())

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            if isinstance(event, RequestReceived):
                self.h2.send_headers(event.stream_id, [(":status", "200")])
                self.h2.send_data(event.stream_id, b"piece")
            elif isinstance(event, StreamReset):
                self.resets.put_nowait((event.stream_id, int(event.error_code)))
        self._transport.write(self.h2.data_to_send())


def test_a_watch_that_is_cancelled_is_reset_and_the_next_one_shares_the_connection():
    async def run() -> list[tuple[int, int]]:
        server, pieces = Server(), asyncio.Queue()
        listening = await asyncio.get_running_loop().create_server(lambda: server, "127.0.0.1", 0)
        address = listening.sockets[0].getsockname()
        streams, resets = Streams(f"http://127.0.0.1:{address[1]}", None), []
        async with asyncio.timeout(30), listening:
            for _ in range(2):
                watch = asyncio.create_task(streams.follow("/watch", {}, pieces.put_nowait))
                assert await pieces.get() == b"piece"
                watch.cancel()
                with suppress(asyncio.CancelledError):
                    await watch
                resets.append(await server.resets.get())
            streams._connection.abort()
            await server.ended.wait()
        return resets

    assert asyncio.run(run()) == [(1, ErrorCodes.CANCEL), (3, ErrorCodes.CANCEL)]
