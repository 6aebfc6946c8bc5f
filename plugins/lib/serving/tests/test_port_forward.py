"""Port-forward: SPDY streams bare and inside WebSocket messages, and WebSocket channels."""

from __future__ import annotations

import threading

import pytest
from hyperkube_lib.serving import spdy_session, spdy_streams
from hyperkube_lib.serving.exchange import PortForwardUpgrade
from hyperkube_lib.serving.spdy import REFUSED_STREAM, Data, Reset, SpdyCodec, SynReply, SynStream


def echo(streams):
    """Echo each connection in a thread of its own; port 13 fails."""
    while (connection := streams.accept()) is not None:
        threading.Thread(target=converse, args=(connection,), daemon=True).start()


def converse(connection):
    if connection.port == 13:
        connection.fail("connection refused")
    else:
        while data := connection.read():
            connection.write(b"%d:" % connection.port + data)
    connection.close()


@pytest.fixture
def forward_edge(toy, edge):
    toy.routes["/forward"] = lambda _: PortForwardUpgrade(serve=echo)
    return edge


class Peer:
    """A SPDY client over anything that sends and receives bytes."""

    def __init__(self, send, receive, early=b""):
        self.codec, self._send, self._receive = SpdyCodec(), send, receive
        self.frames = list(self.codec.decode(early))

    def send(self, *frames):
        self._send(b"".join(map(self.codec.encode, frames)))

    def next(self, kind):
        while True:
            while self.frames:
                frame = self.frames.pop(0)
                if isinstance(frame, kind):
                    return frame
            self.frames += self.codec.decode(self._receive())

    def open(self, number, port, request):
        headers = {"port": str(port), "requestid": str(request)}
        self.send(
            SynStream(number, {**headers, "streamtype": "error"}),
            SynStream(number + 2, {**headers, "streamtype": "data"}),
        )
        return number + 2


@pytest.fixture(params=["bare", "tunnelled"])
def peer(request, forward_edge, connect, ws):
    if request.param == "bare":
        client = connect(forward_edge)
        client.get(
            "/forward",
            "Connection: Upgrade",
            "Upgrade: SPDY/3.1",
            "X-Stream-Protocol-Version: portforward.k8s.io",
            method="POST",
        )
        status, headers = client.head()
        assert (status, headers["x-stream-protocol-version"]) == (101, "portforward.k8s.io")
        yield Peer(client.send, lambda: client.sock.recv(65536), client.buffer)
        return
    client = ws(forward_edge, "/forward", "SPDY/3.1+portforward.k8s.io")
    assert client.getsubprotocol() == "spdy/3.1+portforward.k8s.io"  # the client spells it so
    yield Peer(client.send_binary, client.recv)


def test_a_connection_is_a_pair_of_streams(peer):
    data = peer.open(1, 80, 0)
    assert {peer.next(SynReply).stream, peer.next(SynReply).stream} == {1, 3}
    peer.send(Data(data, b"hello"))

    assert peer.next(Data) == Data(data, b"80:hello")


def test_two_connections_do_not_mix(peer):
    first, second = peer.open(1, 80, 0), peer.open(5, 443, 1)
    peer.send(Data(second, b"b"), Data(first, b"a", fin=True))

    found = {}
    while len(found) < 2:
        frame = peer.next(Data)
        if frame.payload:
            found[frame.stream] = frame.payload
    assert found == {first: b"80:a", second: b"443:b"}


def test_the_end_of_the_clients_side_ends_both_streams(peer):
    data = peer.open(1, 80, 0)
    peer.send(Data(data, b"", fin=True))

    assert {peer.next(Data), peer.next(Data)} == {Data(1, b"", fin=True), Data(3, b"", fin=True)}


def test_a_failure_goes_out_on_the_error_stream(peer):
    peer.open(1, 13, 0)

    assert peer.next(Data) == Data(1, b"connection refused")


@pytest.mark.parametrize("port", ["0", "65536", "8" * 5000, "\u0668", ""], ids=["0", "65536", "long", "other", "none"])
def test_a_port_that_is_none_is_reset(peer, port):
    peer.open(1, port, 0)

    assert peer.next(Reset).stream == 1


def test_streams_without_request_id_are_paired_by_number(peer):
    peer.send(SynStream(1, {"streamtype": "error", "port": "80"}), SynStream(3, {"streamtype": "data", "port": "80"}))
    peer.send(Data(3, b"old"))

    assert peer.next(Data) == Data(3, b"80:old")


def test_of_two_streams_for_one_thing_the_second_is_reset(peer):
    peer.send(*(SynStream(number, {"streamtype": "error", "port": "80", "requestid": "1"}) for number in (1, 3)))

    assert peer.next(Reset).stream == 3


def test_more_streams_than_a_client_may_have_open_are_refused(peer, monkeypatch):
    monkeypatch.setattr(spdy_session, "MOST_STREAMS", 4)
    for number in range(3):
        peer.open(1 + 4 * number, 80, number)

    assert [peer.next(Reset) for _ in range(2)] == [Reset(9, REFUSED_STREAM), Reset(11, REFUSED_STREAM)]


def test_a_stream_whose_other_half_does_not_come_is_reset(peer, monkeypatch):
    monkeypatch.setattr(spdy_streams, "STREAMS_TIMEOUT", 0.01)
    peer.send(SynStream(1, {"streamtype": "error", "port": "80", "requestid": "1"}))

    assert peer.next(Reset).stream == 1


def test_two_megabytes_come_back_whole(peer):
    data = peer.open(1, 80, 0)
    block, received = b"z" * 32_000, 0
    sender = threading.Thread(target=lambda: [peer.send(Data(data, block)) for _ in range(64)])
    sender.start()
    while received < 64 * 32_000:
        received += len(peer.next(Data).payload.replace(b"80:", b""))
    sender.join()

    assert received == 64 * 32_000


def test_websocket_channels_begin_with_the_port(forward_edge, ws):
    client = ws(forward_edge, "/forward?ports=80&ports=13", "v4.channel.k8s.io")
    greetings = [client.recv() for _ in range(4)]
    assert greetings == [b"\x00\x50\x00", b"\x01\x50\x00", b"\x02\x0d\x00", b"\x03\x0d\x00"]
    assert client.recv() == b"\x03connection refused"
    client.send_binary(b"\x00hi")

    assert client.recv() == b"\x0080:hi"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("", "query parameter 'port' is required"),
        ("?port=" + "1," * 200 + "1", "201 ports are more than 128, for which there are channels"),
    ],
    ids=["none", "too many"],
)
def test_websocket_channels_need_ports(forward_edge, connect, query, why):
    client = connect(forward_edge)
    client.upgrade(f"/forward{query}", "v4.channel.k8s.io")

    assert client.answer()[::2] == (400, f"{why}\n".encode())


def test_in_text_a_channel_is_one_character(forward_edge, ws):
    client = ws(forward_edge, "/forward?port=1,2,3,4,5,6", "v4.base64.channel.k8s.io")

    assert [client.recv()[0] for _ in range(12)] == list("0123456789:;")


def test_accept_ends_when_the_client_goes_away(toy, edge, connect):
    ended = threading.Event()

    def serve(streams):
        while streams.accept() is not None:
            pass
        ended.set()

    toy.routes["/forward"] = lambda _: PortForwardUpgrade(serve=serve)
    client = connect(edge)
    client.get("/forward", "Connection: Upgrade", "Upgrade: SPDY/3.1", method="POST")
    client.head()
    client.close()

    assert ended.wait(30)
