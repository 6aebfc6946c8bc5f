"""The sockets that a node serves by gRPC, and the port of CRI's streams: what a client sends is bounded, tokens are one's own."""

from __future__ import annotations

import socket
import threading
from types import SimpleNamespace

import grpc
import pytest
from hyperkube_lib.cri import RUNTIME_SERVICE, cri_schema
from hyperkube_lib.cri_server import CriServer
from hyperkube_lib.cri_server.streaming import StreamingServer, StreamRequest
from hyperkube_lib.grpc_messages import GrpcServer, RpcFailed, Stub, unix_channel

from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually

SERVICE = cri_schema().service(RUNTIME_SERVICE)
MEBIBYTE = 1 << 20


class Runtime:
    """One sandbox and one container; what is run is noted, and fails."""

    name = "small"

    def __init__(self) -> None:
        self.ran: list[object] = []

    def version(self) -> str:
        return "1.2"

    def container(self, container_id):
        return SimpleNamespace(id=container_id)

    def exec(self, container_id, command, *, stdin, tty):
        self.ran.append(command)
        raise OSError

    def attach(self, container_id, *, stdin):
        self.ran.append(container_id)
        raise OSError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "node.sock"


def stubs(path, count=1, **options):
    rows = {"grpc.max_send_message_length": -1, "grpc.use_local_subchannel_pool": 1, **options}
    channels = [grpc.insecure_channel(f"unix:{path}", options=tuple(rows.items())) for _ in range(count)]
    return channels, [Stub(channel, SERVICE) for channel in channels]


def test_a_message_beyond_sixteen_mebibytes_is_refused_and_others_are_answered(path):
    server = CriServer(Runtime(), f"unix://{path}", SystemClock())
    server.start()
    channels, (hostile, other) = stubs(path, 2)

    for size, code in ((17, "RESOURCE_EXHAUSTED"), (40, "RESOURCE_EXHAUSTED"), (15, "INVALID_ARGUMENT")):
        with pytest.raises(RpcFailed) as refused:
            hostile.call("RunPodSandbox", {"runtime_handler": "x" * size * MEBIBYTE}, 60)
        assert refused.value.code == code
        assert other.call("Version", {}, 60)["runtime_name"] == "small"

    for channel in channels:
        channel.close()
    server.close()


def test_calls_that_wait_for_a_thread_are_bounded(path):
    release, running = threading.Event(), threading.Semaphore(0)

    def hang(_request):
        running.release()
        release.wait(120)

    server = GrpcServer(threads=2, waiting=10)
    server.add_service(SERVICE, {"Version": hang})
    server.listen(str(path))
    server.start()
    channel = unix_channel(str(path))
    method = SERVICE.methods["Version"]
    call = channel.unary_unary(method.path, lambda message: message.SerializeToString(), method.response.FromString)
    calls = [call.future(method.request(version="x"), timeout=120) for _ in range(50)]

    refused = eventually(lambda: len(done := [each for each in calls if each.done()]) == 38 and done)
    release.set()
    answered = [each for each in calls if each not in refused and each.result() is not None]

    assert {each.code() for each in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert len(answered) == 12
    channel.close()
    server.stop()


@pytest.fixture
def streams():
    runtime = Runtime()
    server = StreamingServer(runtime, SystemClock())
    server.start()
    yield server, runtime
    server.close()


def asked(url, path=None, *lines):
    """Ask for a stream and return the status that is answered."""
    address, _, own = url.removeprefix("http://").partition("/")
    host, _, port = address.partition(":")
    more = "".join(f"{line}\r\n" for line in lines)
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        head = (
            f"GET {path or '/' + own} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{more}"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n"
        )
        connection.sendall(head.encode())
        return int(connection.makefile("rb").readline().split()[1])


def other_paths(url):
    own = "/" + url.removeprefix("http://").partition("/")[2]
    kind, token = own.removeprefix("/").split("/")
    return {
        "another kind": f"/{'attach' if kind == 'exec' else 'exec'}/{token}",
        "a part": own[:-1],
        "more": f"{own}x",
        "below": f"{own}/x",
        "above": f"/x/..{own}",
        "other case": own.swapcase(),
        "no token": f"/{kind}/",
        "any": f"/{kind}/*",
        "nothing": "/",
    }


@pytest.mark.parametrize("way", other_paths("http://x/exec/token"))
def test_a_token_is_good_for_its_own_path_alone(streams, way):
    server, runtime = streams
    url = server.exec_url("c1", ["x"], StreamRequest(stdout=True))

    assert asked(url, other_paths(url)[way]) == 404
    assert runtime.ran == []
    assert asked(url) == 101
    assert eventually(lambda: runtime.ran) == [["x"]]


def test_tokens_cannot_be_guessed_and_do_not_tell_of_each_other(streams):
    server, _ = streams
    tokens = {server.attach_url("c1", StreamRequest(stdout=True)).rpartition("/")[2] for _ in range(200)}

    assert len(tokens) == 200
    assert {len(token) for token in tokens} == {22}  # 128 bits
    assert len({token[:4] for token in tokens}) > 190


def test_a_head_without_an_end_costs_its_connection_alone(streams):
    server, _ = streams
    url = server.exec_url("c1", ["x"], StreamRequest(stdout=True))

    assert asked(url, "/exec/guess", "A: " + "b" * 2 * MEBIBYTE) in {400, 413, 431}
    assert asked(url) == 101
