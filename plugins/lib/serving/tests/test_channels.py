"""exec and attach: channels over WebSocket and SPDY/3.1."""

from __future__ import annotations

import base64
import hashlib
import ssl
import threading

import orjson
import pytest
from hyperkube_lib.serving import websocket as websocket_server
from hyperkube_lib.serving.exchange import ExecUpgrade
from hyperkube_lib.serving.exit_status import exit_status, failure_status, write_status
from hyperkube_lib.serving.spdy import (
    DICTIONARY,
    Data,
    GoAway,
    Ping,
    Reset,
    Settings,
    SpdyCodec,
    SynReply,
    SynStream,
    WindowUpdate,
)
from leaving import with_goodbye, without_a_word

from hyperkube.machinery.clock import SystemClock


def cat(channels):
    """Echo stdin to stdout, then exit with 3."""
    while data := channels.read(0):
        channels.write(1, data)
    channels.write(2, b"bye")
    write_status(channels, exit_status(3))


class SpdyClient:
    """Just enough of a SPDY client for these tests."""

    def __init__(self, client, path, *, versions=("v4.channel.k8s.io",), early=b""):
        self.client = client
        self.codec = SpdyCodec()
        self.frames = []
        lines = [f"X-Stream-Protocol-Version: {version}" for version in versions]
        lines += ["Connection: Upgrade", "Upgrade: SPDY/3.1", "Content-Length: 0"]
        client.get(path, *lines, method="POST")
        self.status, self.headers = client.head()
        if self.status == 101 and client.buffer:
            self.frames += self.codec.decode(client.buffer)
            client.buffer = b""

    def send(self, *frames):
        self.client.send(b"".join(self.codec.encode(frame) for frame in frames))

    def next(self, kind=None):
        while True:
            while self.frames:
                frame = self.frames.pop(0)
                if kind is None or isinstance(frame, kind):
                    return frame
            data = self.client.sock.recv(65536)
            if not data:
                raise EOFError
            self.frames += self.codec.decode(data)

    def collect(self, streams):
        """Return what each stream brings until all have ended."""
        found = dict.fromkeys(streams, b"")
        ended = set()
        while ended != set(streams):
            frame = self.next(Data)
            if frame.stream not in found:
                continue
            found[frame.stream] += frame.payload
            if frame.fin:
                ended.add(frame.stream)
        return found


@pytest.fixture
def exec_edge(toy, edge):
    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=cat, stdin=True)
    return edge


def test_the_first_protocol_of_the_client_that_is_known_is_taken(exec_edge, ws):
    client = ws(exec_edge, "/exec", "v9.channel.k8s.io", "v4.channel.k8s.io", "v5.channel.k8s.io")

    assert client.getsubprotocol() == "v4.channel.k8s.io"


def test_version_5_carries_stdin_until_its_close_signal(exec_edge, ws):
    client = ws(exec_edge, "/exec", "v5.channel.k8s.io")
    assert client.recv() == b"\x01"
    client.send_binary(b"\x00hello")
    assert client.recv() == b"\x01hello"
    client.send_binary(b"\xff\x00")

    assert client.recv() == b"\x02bye"
    message = client.recv()
    assert message[0] == 3
    status = orjson.loads(message[1:])
    assert status["reason"] == "NonZeroExitCode"
    assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]
    assert client.recv() == ""


def test_the_close_signal_means_nothing_before_version_5(toy, edge, ws):
    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=cat, stdin=True)
    client = ws(edge, "/exec", "v4.channel.k8s.io")
    client.recv()
    client.send_binary(b"\xff\x00")
    client.send_binary(b"\x00still open")

    assert client.recv() == b"\x01still open"


def test_base64_channels_are_text(exec_edge, ws):
    client = ws(exec_edge, "/exec", "v4.base64.channel.k8s.io")
    assert client.recv() == "1"
    client.send("0" + base64.b64encode(b"hi").decode())

    assert client.recv() == "1" + base64.b64encode(b"hi").decode()


def test_no_protocol_means_plain_channels(exec_edge, ws):
    client = ws(exec_edge, "/exec")
    client.recv()
    client.send_binary(b"\x00x")

    assert client.recv() == b"\x01x"


def test_a_token_among_the_protocols_is_never_agreed_to(exec_edge, ws):
    client = ws(exec_edge, "/exec", "base64url.bearer.authorization.k8s.io.dG9rZW4", "v4.channel.k8s.io")

    assert client.getsubprotocol() == "v4.channel.k8s.io"


def test_unknown_protocols_are_refused(exec_edge, connect):
    client = connect(exec_edge)
    client.upgrade("/exec", "v9.channel.k8s.io")

    assert client.answer()[0] == 403


def test_stdin_ends_when_the_client_goes_away(toy, edge, ws):
    ended = threading.Event()

    def serve(channels):
        while channels.read(0):
            pass
        ended.set()

    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=serve, stdin=True)
    client = ws(edge, "/exec", "v4.channel.k8s.io")
    client.sock.close()

    assert ended.wait(30)


def test_writing_to_a_client_that_went_away_is_a_connection_error(toy, edge, ws):
    seen = []

    def serve(channels):
        try:
            while True:
                channels.write(1, b"x" * 10_000)
        except ConnectionError as error:
            seen.append(error)
            done.set()

    done = threading.Event()
    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=serve)
    client = ws(edge, "/exec", "v4.channel.k8s.io")
    client.recv()
    client.sock.close()

    assert done.wait(30)
    assert str(seen[0]) == "the client has gone away"


@pytest.mark.parametrize("leave", [without_a_word, with_goodbye])
def test_a_writer_is_told_when_a_client_has_ended_tls(toy, start, connect, pki, caplog, leave):
    gone = threading.Event()

    def serve(channels):
        try:
            while True:
                channels.write(1, b"x" * 10_000)
        except ConnectionError:
            gone.set()

    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=serve)
    client = connect(start(tls=pki.server_tls()), ssl.create_default_context(cafile=pki.ca_file))
    client.upgrade("/exec", "v4.channel.k8s.io")
    client.head()
    client.exactly(100_000)

    leave(client.sock)

    assert gone.wait(30)
    assert [record.message for record in caplog.records] == []


def test_a_slow_reader_makes_the_writer_wait(toy, edge, ws):
    written = []

    def serve(channels):
        for _ in range(300):
            channels.write(1, b"x" * 50_000)
            written.append(50_000)

    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=serve)
    client = ws(edge, "/exec", "v4.channel.k8s.io")
    client.recv()
    threading.Event().wait(0.3)
    before = sum(written)
    total = 0
    while total < 15_000_000:
        total += len(client.recv()) - 1

    assert before < 15_000_000
    assert total == 15_000_000


def test_a_large_upload_arrives_whole_at_a_slow_reader(toy, edge, ws):
    digest, done = hashlib.sha256(), threading.Event()

    def serve(channels):
        threading.Event().wait(0.2)
        while data := channels.read(0):
            digest.update(data)
        done.set()

    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=serve, stdin=True)
    client = ws(edge, "/exec", "v5.channel.k8s.io")
    block = bytes(range(256)) * 128
    for _ in range(200):
        client.send_binary(b"\x00" + block)
    client.send_binary(b"\xff\x00")

    assert done.wait(10)
    assert digest.digest() == hashlib.sha256(block * 200).digest()


def test_spdy_exec_waits_for_all_streams_and_ends_them(exec_edge, connect):
    spdy = SpdyClient(connect(exec_edge), "/exec", versions=("v4.channel.k8s.io", "v3.channel.k8s.io"))
    assert (spdy.status, spdy.headers["upgrade"]) == (101, "SPDY/3.1")
    assert spdy.headers["x-stream-protocol-version"] == "v4.channel.k8s.io"
    for number, kind in ((1, "error"), (3, "stdin"), (5, "stdout"), (7, "stderr")):
        spdy.send(SynStream(number, {"streamtype": kind}))
        assert spdy.next(SynReply).stream == number
    spdy.send(Data(3, b"over spdy"), Data(3, b"", fin=True))

    found = spdy.collect((1, 5, 7))
    assert (found[5], found[7]) == (b"over spdy", b"bye")
    assert orjson.loads(found[1])["reason"] == "NonZeroExitCode"
    assert isinstance(spdy.next(GoAway), GoAway)


def test_spdy_before_version_4_tells_failure_as_text(exec_edge, connect):
    spdy = SpdyClient(connect(exec_edge), "/exec", versions=())
    spdy.send(
        *(
            SynStream(number, {"streamtype": kind})
            for number, kind in ((1, "error"), (3, "stdin"), (5, "stdout"), (7, "stderr"))
        )
    )
    spdy.send(Data(3, b"", fin=True))

    assert (
        spdy.collect((1, 5, 7))[1] == b"command terminated with non-zero exit code: command terminated with exit code 3"
    )


def test_spdy_protocols_that_fit_nowhere_are_refused(exec_edge, connect):
    spdy = SpdyClient(connect(exec_edge), "/exec", versions=("v9.channel.k8s.io",))

    assert spdy.status == 403


def test_an_exec_without_upgrade_is_a_bad_request(exec_edge, connect):
    client = connect(exec_edge)
    client.get("/exec", method="POST")

    status, _, body = client.answer()
    assert (status, orjson.loads(body)["message"]) == (400, "Upgrade request required")


def test_a_tty_has_a_resize_stream_and_no_stderr(toy, edge, connect):
    sizes = []

    def serve(channels):
        sizes.append(channels.read(4))
        write_status(channels, exit_status(0))

    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=serve, stdin=True, tty=True)
    spdy = SpdyClient(connect(edge), "/exec")
    spdy.send(*(SynStream(n, {"streamtype": k}) for n, k in ((1, "error"), (3, "stdin"), (5, "stdout"), (7, "resize"))))
    spdy.send(Data(7, b'{"Width":80,"Height":24}\n'))

    assert orjson.loads(spdy.collect((1, 5))[1]) == {"metadata": {}, "status": "Success"}
    assert sizes == [b'{"Width":80,"Height":24}\n']


def test_pings_come_back_and_settings_are_taken(exec_edge, connect):
    spdy = SpdyClient(connect(exec_edge), "/exec")
    spdy.send(Settings({7: 100_000}), Ping(1))

    assert spdy.next(Ping) == Ping(1)


def test_streams_of_no_use_are_reset(exec_edge, connect):
    spdy = SpdyClient(connect(exec_edge), "/exec")
    spdy.send(SynStream(1, {"streamtype": "nonsense"}), SynStream(2, {"streamtype": "error"}))

    assert {spdy.next(Reset).stream, spdy.next(Reset).stream} == {1, 2}


def test_a_peer_with_flow_control_is_sent_no_more_than_its_window(toy, edge, connect):
    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=lambda channels: channels.write(1, b"x" * 200_000), stderr=False)
    spdy = SpdyClient(connect(edge), "/exec")
    spdy.send(WindowUpdate(0, 1_000_000), SynStream(1, {"streamtype": "error"}), SynStream(3, {"streamtype": "stdout"}))
    received = 0
    while received < 65536:
        received += len(spdy.next(Data).payload)
    threading.Event().wait(0.05)
    spdy.send(Ping(1))
    before = 0
    while not isinstance(frame := spdy.next(), Ping):
        before += len(frame.payload) if isinstance(frame, Data) else 0
    spdy.send(WindowUpdate(3, 200_000))
    rest = spdy.collect((3,))[3]

    assert (received, before) == (65536, 0)
    assert len(rest) == 200_000 - 65536


def test_a_peer_that_ignores_windows_is_never_waited_for(toy, edge, connect):
    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=lambda channels: channels.write(1, b"x" * 900_000), stderr=False)
    spdy = SpdyClient(connect(edge), "/exec")
    spdy.send(SynStream(1, {"streamtype": "error"}), SynStream(3, {"streamtype": "stdout"}))

    assert len(spdy.collect((1, 3))[3]) == 900_000


def test_what_is_read_is_granted_again(exec_edge, connect):
    spdy = SpdyClient(connect(exec_edge), "/exec")
    spdy.send(*(SynStream(n, {"streamtype": k}) for n, k in ((1, "error"), (3, "stdin"), (5, "stdout"), (7, "stderr"))))
    for _ in range(4):
        spdy.send(Data(3, b"y" * 16_384))

    assert spdy.next(WindowUpdate) == WindowUpdate(3, 32_768)
    assert spdy.next(WindowUpdate) == WindowUpdate(0, 32_768)


def test_nonsense_ends_a_spdy_connection(exec_edge, connect):
    client = connect(exec_edge)
    SpdyClient(client, "/exec")
    client.send(b"\x80\x02" + b"\x00" * 20)

    assert client.rest()[:4] == b"\x80\x03\x00\x07"


def test_the_dictionary_is_the_drafts():
    assert hashlib.sha256(DICTIONARY).hexdigest() == "51d27341373f923f3cd88e1eb7162aeaa3723d7585ff2399201dc06498407f02"


@pytest.mark.parametrize(
    "frame",
    [
        SynStream(1, {"streamtype": "data", "port": "80"}, fin=True),
        SynReply(3, {}),
        Data(5, b"abc", fin=True),
        Reset(7, 3),
        Settings({4: 100, 7: 65536}),
        Ping(9),
        GoAway(11, 0),
        WindowUpdate(13, 4096),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_frames_survive_the_wire_in_any_pieces(frame):
    data = SpdyCodec().encode(frame)
    codec = SpdyCodec()

    assert [found for byte in data for found in codec.decode(bytes((byte,)))] == [frame]


def test_success_is_a_bare_status():
    assert exit_status(0) == {"metadata": {}, "status": "Success"}


def test_a_failure_to_run_is_an_internal_error():
    assert failure_status("no such container")["message"] == "Internal error occurred: no such container"


@pytest.mark.parametrize(
    "speaks", [pytest.param(True, id="client-that-sends"), pytest.param(False, id="silent-client")]
)
def test_the_first_message_waits_until_the_client_has_its_streams(toy, edge, ws, monkeypatch, speaks):
    waits = []
    monkeypatch.setattr(websocket_server, "STREAMS_SECONDS", 0.5)

    def serve(channels):
        begun = SystemClock().monotonic()
        channels.write(1, b"output")
        waits.append(SystemClock().monotonic() - begun)
        channels.close()

    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=serve, stdin=True, stdout=True)
    client = ws(edge, "/exec", "v5.channel.k8s.io")
    if speaks:
        client.send_binary(b"\x04{}")

    assert [client.recv(), client.recv()] == [b"\x01", b"\x01output"]
    assert (waits[0] < 0.4) is speaks
