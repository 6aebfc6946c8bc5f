"""The load's own HTTP client, against a server that answers what a test says."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

pytest.importorskip("httptools")
sys.path.insert(0, str(Path(__file__).parent))

from scale.http_connections import Connection, Connections, Lost

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Server:
    """Gives each request the next answer, in two pieces; an empty one closes the connection."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.clients = 0
        self.at_rest = asyncio.Event()
        self._connected = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.clients += 1
        self._connected += 1
        self.at_rest.clear()
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                answer = self.answers.pop(0)
                if not answer:
                    break
                writer.write(answer[:40])
                await writer.drain()
                await asyncio.sleep(0.001)
                writer.write(answer[40:])
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self._connected -= 1
            if not self._connected:
                self.at_rest.set()


def against(server: Server, use) -> object:
    """Return what `use` returns, which is given connections (without TLS) and their server's name."""

    async def run() -> object:
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        connections = Connections([url], None)  # type: ignore[arg-type]  # no TLS
        async with listening:
            try:
                return await asyncio.wait_for(use(connections, url), 30)
            finally:
                await connections.close()
                if server.clients:
                    await server.at_rest.wait()
                await asyncio.sleep(0.01)  # the loop lets go of what is closed in its next turn

    return asyncio.run(run())


def test_requests_one_after_another_share_a_connection():
    server = Server(PLAIN, CHUNKED, PLAIN)

    async def use(connections, url):
        return [await (await connections.connection(url)).send(GET) for _ in range(3)]

    answers = against(server, use)

    assert [(answer.status, answer.body) for answer in answers] == [(200, b"ok"), (200, b"abc"), (200, b"ok")]
    assert server.clients == 1


def test_the_pieces_of_a_watch_are_given_as_they_come_and_those_of_a_refusal_are_not():
    taken: list[bytes] = []

    async def use(connections, url):
        answers = [await (await connections.connection(url)).send(GET, taken.append) for _ in range(2)]
        return [(answer.status, answer.body) for answer in answers]

    assert against(Server(CHUNKED, REFUSED), use) == [(200, b""), (403, b"no")]
    assert b"".join(taken) == b"abc"


def test_a_connection_that_breaks_off_is_lost_and_another_is_made():
    server = Server(b"", PLAIN)

    async def use(connections, url):
        with pytest.raises(Lost):
            await (await connections.connection(url)).send(GET)
        return await (await connections.connection(url)).send(GET)

    assert against(server, use).body == b"ok"
    assert server.clients == 2


def test_who_gives_up_leaves_the_connection_to_the_next():
    server = Server(PLAIN, PLAIN)

    async def use(connections, url):
        connection: Connection = await connections.connection(url)
        connection.send(GET).cancel()
        while not connections._unused[url]:  # noqa: ASYNC110  it tells no one
            await asyncio.sleep(0.001)
        return await (await connections.connection(url)).send(GET)

    assert against(server, use).body == b"ok"
    assert server.clients == 1


def test_a_server_that_is_not_there_is_lost():
    async def use(connections, _url):
        with pytest.raises(Lost):
            await Connections(["http://127.0.0.1:1"], None).connection("http://127.0.0.1:1")  # type: ignore[arg-type]

    against(Server(), use)


def test_no_more_connections_are_made_than_may_be():
    server = Server(*[PLAIN] * 6)

    async def use(_connections, url):
        few = Connections([url], None, most=2)  # type: ignore[arg-type]

        async def ask():
            return await (await few.connection(url)).send(GET)

        answers = await asyncio.gather(*(ask() for _ in range(6)))
        await few.close()
        return [answer.body for answer in answers]

    assert against(server, use) == [b"ok"] * 6
    assert server.clients == 2
