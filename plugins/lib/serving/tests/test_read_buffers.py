"""Read buffers of TLS connections go back to the system, and are read into again."""

import asyncio
import ssl

import pytest
import uvloop
from hyperkube_lib.serving import read_buffers

LARGE = b"x" * 400_000 + b"\n"


async def conversation(server_context, client_context):
    """Release the buffer of a server's connection at its start and between two requests; return what it gave back."""
    given = []

    class Echo(asyncio.Protocol):
        def connection_made(self, transport):
            self.transport = transport
            given.append(read_buffers.release(transport))

        def data_received(self, data):
            self.transport.write(data)
            given.append(read_buffers.release(self.transport))

    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0, ssl=server_context)
    port = server.sockets[0].getsockname()[1]
    host = "localhost" if client_context else None
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=client_context, server_hostname=host, limit=1 << 20
    )
    for message in (b"one\n", LARGE, b"three\n"):
        writer.write(message)
        assert await reader.readline() == message
    writer.close()
    server.close()
    return given


@pytest.mark.skipif(read_buffers._ADVICE is None, reason="the system has no madvise")
def test_a_connection_gives_its_buffer_back_and_reads_on(pki):
    tls = pki.server_tls()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.cert_file, tls.key_file)

    given = uvloop.run(conversation(context, ssl.create_default_context(cafile=pki.ca_file)))

    assert min(given) > 200_000


def test_a_plain_connection_has_none():
    assert set(uvloop.run(conversation(None, None))) == {0}


def test_what_is_no_connection_of_uvloop_is_left_alone():
    assert read_buffers.release(asyncio.Transport()) == 0
