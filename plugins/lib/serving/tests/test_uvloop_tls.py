"""What uvloop's TLS transports hold, and that nothing is written behind their end."""

import asyncio
import contextlib
import socket
import ssl

import pytest
import uvloop
from hyperkube_lib.serving.uvloop_tls import ssl_protocol, transport_of

MUCH = bytes(32 << 20)
"""More than the system takes for a client that reads nothing."""


def without_a_word(client):
    socket.socket.shutdown(client, socket.SHUT_WR)


def with_goodbye(client):
    client.settimeout(0.1)
    with contextlib.suppress(OSError):  # the server's, which waits behind all that it has written
        client.unwrap()


async def ended(server_context, client_context, leave):
    """Let a client leave that has read nothing; return what the transport told before, and what happened then."""
    loop, made = asyncio.get_running_loop(), asyncio.Future()

    class Server(asyncio.Protocol):
        lost, paused = False, 0

        def connection_made(self, transport):
            self.transport = transport_of(transport)
            made.set_result(self)

        def pause_writing(self):
            self.paused += 1

        def connection_lost(self, exc):
            self.lost = True

    server = await loop.create_server(Server, "127.0.0.1", 0, ssl=server_context)
    raw = await asyncio.to_thread(socket.create_connection, server.sockets[0].getsockname())
    client = await asyncio.to_thread(client_context.wrap_socket, raw, server_hostname="localhost")
    connection = await made
    transport, before = connection.transport, connection.transport.is_closing()
    transport.write(MUCH)

    await asyncio.to_thread(leave, client)
    async with asyncio.timeout(60):
        while not (transport.is_closing() or connection.lost):  # noqa: ASYNC110  nothing tells it
            await asyncio.sleep(0.001)
    paused, waiting = connection.paused, transport.get_write_buffer_size()
    for _ in range(10):
        transport.write(b"more")
    found = {
        "closing before": before,
        "closing": transport.is_closing(),
        "lost": connection.lost,
        "paused": connection.paused - paused,
        "added": transport.get_write_buffer_size() > waiting,
    }

    client.close()
    transport.abort()
    server.close()
    await server.wait_closed()
    return found


@pytest.mark.parametrize("leave", [without_a_word, with_goodbye])
def test_what_is_written_behind_the_end_pauses_its_protocol_and_goes_nowhere(pki, leave, caplog):
    tls = pki.server_tls()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.cert_file, tls.key_file)

    found = uvloop.run(ended(context, ssl.create_default_context(cafile=pki.ca_file), leave))

    assert found == {"closing before": False, "closing": True, "lost": False, "paused": 10, "added": False}
    assert [record.message for record in caplog.records] == []


def test_another_transport_stays_what_it_is():
    plain = asyncio.Transport()

    assert ssl_protocol(plain) is None
    assert transport_of(plain) is plain
