"""What uvloop's TLS transports hold, and that they tell their end through it."""

import asyncio
import contextlib
import socket
import ssl

import pytest
import uvloop
from hyperkube_lib.serving.uvloop_tls import ssl_protocol, tls_end

MUCH = bytes(32 << 20)
"""More than the system takes for a client that reads nothing."""


def without_a_word(client):
    socket.socket.shutdown(client, socket.SHUT_WR)


def with_goodbye(client):
    client.settimeout(0.1)
    with contextlib.suppress(OSError):  # the server's, which waits behind all that it has written
        client.unwrap()


async def ended(server_context, client_context, leave):
    """Let a client leave that has read nothing; return whether the end was told before, and then, and what was lost."""
    loop, made = asyncio.get_running_loop(), asyncio.Future()

    class Server(asyncio.Protocol):
        lost = False

        def connection_made(self, transport):
            self.transport, self.end = transport, tls_end(transport)
            made.set_result(self)

        def connection_lost(self, exc):
            self.lost = True

    server = await loop.create_server(Server, "127.0.0.1", 0, ssl=server_context)
    raw = await asyncio.to_thread(socket.create_connection, server.sockets[0].getsockname())
    client = await asyncio.to_thread(client_context.wrap_socket, raw, server_hostname="localhost")
    connection = await made
    before = bool(connection.end)
    connection.transport.write(MUCH)

    await asyncio.to_thread(leave, client)
    async with asyncio.timeout(60):
        while not (connection.end or connection.lost):  # noqa: ASYNC110  nothing tells it
            await asyncio.sleep(0.001)
    found = before, bool(connection.end), connection.lost

    client.close()
    connection.transport.abort()
    server.close()
    await server.wait_closed()
    return found


@pytest.mark.parametrize("leave", [without_a_word, with_goodbye])
def test_the_end_is_told_while_what_was_written_still_waits(pki, leave):
    tls = pki.server_tls()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.cert_file, tls.key_file)

    found = uvloop.run(ended(context, ssl.create_default_context(cafile=pki.ca_file), leave))

    assert found == (False, True, False)


def test_other_transports_have_neither():
    assert ssl_protocol(asyncio.Transport()) is None
    assert tls_end(asyncio.Transport()) is None
