"""Large answers over TLS: in pieces, in order, and without a buffer of their size for each connection."""

import ctypes
import ssl

import pytest
from hyperkube_lib.serving.exchange import Response, StreamResponse
from hyperkube_lib.serving.pieces import BUSY_FROM, BUSY_PIECE, PIECE, STREAM_PIECE, Pieces

LARGE = bytes(range(256)) * (16 * 1024)
"""4 MiB: more than a socket takes that is not read."""


class _Blocks(ctypes.Structure):
    """The numbers of `mallinfo2`, of which two matter: what is given out of the heap, and of blocks of their own."""

    _fields_ = [
        *((f"_{place}", ctypes.c_size_t) for place in range(4)),
        ("mapped", ctypes.c_size_t),
        *((f"_{place}", ctypes.c_size_t) for place in range(5, 7)),
        ("used", ctypes.c_size_t),
        *((f"_{place}", ctypes.c_size_t) for place in range(8, 10)),
    ]


def allocated() -> int:
    """Return the bytes that the C library has given out; skips the test where it does not tell."""
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        pytest.skip("this C library does not tell what it has given out")
    mallinfo.restype = _Blocks
    found = mallinfo()
    return int(found.used + found.mapped)


def trusting(pki):
    return ssl.create_default_context(cafile=pki.ca_file)


def test_bytes_are_cut_and_none_is_lost():
    pieces = Pieces()
    pieces.put(b"abcdefg", 3)
    pieces.put(b"hi", 1)

    assert len(pieces) == 9
    assert [bytes(pieces.take()) for _ in range(5)] == [b"abc", b"def", b"g", b"h", b"i"]
    assert pieces.take() is None
    assert not pieces.last


def test_answers_to_a_client_that_is_behind_come_whole_and_in_order(toy, pki, start, connect):
    toy.hot_routes["/large"] = lambda _: Response(body=LARGE)
    toy.hot_routes["/small"] = lambda _: Response(body=b"small")
    client = connect(start(tls=pki.server_tls()), trusting(pki))

    for path in ("/large", "/small", "/large", "/small"):
        client.get(path)

    assert [client.answer()[2] for _ in range(4)] == [LARGE, b"small", LARGE, b"small"]


def test_a_connection_that_is_to_be_closed_sends_first_what_waits(toy, pki, start, connect):
    toy.hot_routes["/large"] = lambda _: Response(body=LARGE)
    client = connect(start(tls=pki.server_tls()), trusting(pki))

    client.get("/large", "Connection: close")

    assert client.answer()[2] == LARGE
    assert client.rest() == b""


def test_pieces_of_a_stream_grow_when_it_has_much_to_say(toy, pki, start, connect, source, monkeypatch):
    sizes = []
    put = Pieces.put
    monkeypatch.setattr(Pieces, "put", lambda self, data, size: (sizes.append(size), put(self, data, size))[1])
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(start(tls=pki.server_tls()), trusting(pki))
    client.get("/watch")
    client.head()

    for _ in range(BUSY_FROM // len(LARGE) + 1):
        source.put(LARGE)
        assert client.chunk() == LARGE
        source.put(LARGE[: 2 * BUSY_PIECE])
        assert client.chunk() == LARGE[: 2 * BUSY_PIECE]

    assert sizes[0] == STREAM_PIECE
    assert sizes[-1] == BUSY_PIECE


def test_a_stream_goes_on_and_ends_behind_what_waits(toy, pki, start, connect, source):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(start(tls=pki.server_tls()), trusting(pki))
    client.get("/watch")
    client.head()

    source.put(LARGE)
    source.put(b"last")
    source.end()
    received = b""
    while chunk := client.chunk():
        received += chunk

    assert received == LARGE + b"last"


def test_a_connection_keeps_no_buffer_of_the_size_of_its_largest_answer(toy, pki, start, connect):
    toy.hot_routes["/large"] = lambda _: Response(body=LARGE)
    edge = start(tls=pki.server_tls())
    clients = [connect(edge, trusting(pki)) for _ in range(10)]
    for client in clients:
        client.get("/nothing")
        client.answer()
    before = allocated()

    for client in clients:
        client.get("/large")
        assert len(client.answer()[2]) == len(LARGE)

    assert (allocated() - before) / len(clients) < 16 * PIECE
