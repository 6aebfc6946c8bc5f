"""Stubs and servers over a real socket."""

import contextlib
import threading

import pytest
from hyperkube_lib.grpc_messages import GrpcServer, RpcFailed, Schema, Stub, unix_channel, unix_socket_of

from hyperkube.machinery.errors import UsageError
from hyperkube.testing.waiting import eventually

TEXT = """
syntax = "proto3";
package echo.v1;
service Echo {
  rpc Say(Words) returns (Words);
  rpc Missing(Words) returns (Words);
  rpc Repeat(Words) returns (stream Words);
}
message Words { string text = 1; int32 count = 2; }
"""
ECHO = Schema("echo.proto", TEXT).service("Echo")


def say(request):
    if request.get("text") == "refuse":
        raise RpcFailed("NOT_FOUND", "no such words")
    if request.get("text") == "hang":
        threading.Event().wait(2)
    return {"text": request["text"], "count": len(request["text"])}


RELEASED = threading.Event()


def repeat(request):
    for number in range(request["count"]):
        yield {"text": request["text"], "count": number}
    if request["text"] == "hold":
        RELEASED.wait(60)
    if request["text"] == "refuse":
        raise RpcFailed("ABORTED", "enough")


def serve(path):
    path.unlink(missing_ok=True)
    server = GrpcServer()
    server.add_service(ECHO, {"Say": say, "Repeat": repeat})
    server.listen(str(path))
    server.start()
    return server


@pytest.fixture
def socket(tmp_path):
    return tmp_path / "echo.sock"


@pytest.fixture
def server(socket):
    server = serve(socket)
    yield server
    server.stop()


@pytest.fixture
def stub(socket):
    channel = unix_channel(str(socket))
    yield Stub(channel, ECHO)
    channel.close()


def test_a_call_returns_the_answer(server, stub):
    assert stub.call("Say", {"text": "four"}, 5) == {"text": "four", "count": 4}


def test_a_refusal_has_the_code_and_reads_as_go_prints_it(server, stub):
    with pytest.raises(RpcFailed) as caught:
        stub.call("Say", {"text": "refuse"}, 5)

    assert (caught.value.code, caught.value.details) == ("NOT_FOUND", "no such words")
    assert str(caught.value) == "rpc error: code = NotFound desc = no such words"


def test_a_method_without_a_handler_is_unimplemented(server, stub):
    with pytest.raises(RpcFailed) as caught:
        stub.call("Missing", {}, 5)

    assert caught.value.code == "UNIMPLEMENTED"


def test_an_error_of_the_handler_reaches_the_caller(server, stub):
    with pytest.raises(RpcFailed) as caught:
        stub.call("Say", {}, 5)

    assert caught.value.code == "UNKNOWN"


def test_a_call_that_hangs_ends_at_its_deadline(server, stub):
    with pytest.raises(RpcFailed) as caught:
        stub.call("Say", {"text": "hang"}, 0.1)

    assert caught.value.code == "DEADLINE_EXCEEDED"


def test_a_stream_is_read_to_its_end_and_its_refusal_is_raised(server, stub):
    with stub.stream("Repeat", {"text": "a", "count": 2}) as answers:
        whole = [answer.get("count", 0) for answer in answers]
    with stub.stream("Repeat", {"text": "refuse", "count": 1}) as answers, pytest.raises(RpcFailed) as caught:
        list(answers)

    assert whole == [0, 1]
    assert caught.value.code == "ABORTED"


def test_streams_leave_threads_to_other_calls(server, stub):
    with contextlib.ExitStack() as open_streams:
        streams = [open_streams.enter_context(stub.stream("Repeat", {"text": "hold", "count": 1})) for _ in range(8)]
        assert [next(iter(stream))["text"] for stream in streams] == ["hold"] * 8
        with stub.stream("Repeat", {"text": "a", "count": 1}) as one_more, pytest.raises(RpcFailed) as caught:
            list(one_more)
        said = stub.call("Say", {"text": "a"}, 5)
        RELEASED.set()

    assert caught.value.code == "RESOURCE_EXHAUSTED"
    assert said
    eventually(lambda: _answers(stub, {"text": "a", "count": 1}) == 1)


def _answers(stub, request):
    """Return how many answers a stream has; none while it is refused."""
    try:
        with stub.stream("Repeat", request) as answers:
            return len(list(answers))
    except RpcFailed:
        return 0


def test_a_channel_finds_a_server_that_came_back(server, socket, stub):
    stub.call("Say", {"text": "a"}, 5)

    server.stop()
    with pytest.raises(RpcFailed) as caught:
        stub.call("Say", {"text": "a"}, 5)
    again = serve(socket)

    def answered():
        try:
            return stub.call("Say", {"text": "a"}, 5)
        except RpcFailed:
            return None

    try:
        assert caught.value.code == "UNAVAILABLE"
        assert eventually(answered)
    finally:
        again.stop()


@pytest.mark.parametrize("endpoint", ["unix:///run/x.sock", "unix:/run/x.sock", "/run/x.sock"])
def test_an_endpoint_names_a_socket(endpoint):
    assert unix_socket_of(endpoint) == "/run/x.sock"


@pytest.mark.parametrize("endpoint", ["tcp://1.2.3.4:5", "npipe://./pipe/x", "relative.sock"])
def test_another_endpoint_is_refused(endpoint):
    with pytest.raises(UsageError, match=r"only unix:///PATH"):
        unix_socket_of(endpoint)
