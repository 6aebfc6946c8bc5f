"""Requests to other servers, as these see them."""

import socket
import threading
import time
from contextlib import suppress

import pytest
from hyperkube_host.apiserver.aggregation import fetch as fetching
from hyperkube_host.apiserver.aggregation.fetch import fetch
from hyperkube_host.apiserver.aggregation.kept_connections import IDLE_SECONDS, MOST_KEPT, KeptConnections
from hyperkube_lib.serving.exchange import RelayUpgrade

from hyperkube.machinery.clock import FakeClock, SystemClock

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


@pytest.fixture
def server():
    """A server of one request; return its port and what it has received."""
    received = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(65536)
                received.extend(head.decode().split("\r\n"))
                connection.sendall(ANSWER)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1], received
        thread.join(5)


@pytest.mark.parametrize(
    ("headers", "host"),
    [
        pytest.param({"Host": "metrics.kube-system.svc"}, "metrics.kube-system.svc", id="named"),
        pytest.param({}, "127.0.0.1:{port}", id="not-named"),
    ],
)
def test_a_request_names_one_host(server, headers, host):
    port, received = server
    relay = RelayUpgrade(host="127.0.0.1", port=port, path="/x", tls=False, headers=[("X-Remote-User", "u")])

    answer = fetch(relay, SystemClock(), headers=headers)

    assert (answer.status, answer.body) == (200, b"ok")
    assert [line for line in received if line.lower().startswith("host:")] == [f"Host: {host.format(port=port)}"]
    assert "X-Remote-User: u" in received


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["status", "head", "body"]
)
def test_a_server_that_drips_is_given_up(monkeypatch, start):
    monkeypatch.setattr(fetching, "ALL_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.sendall(start)
                while True:
                    connection.sendall(b"a")
                    time.sleep(0.05)

        thread = threading.Thread(target=serve)
        thread.start()
        began = time.monotonic()
        with pytest.raises(OSError):
            fetch(RelayUpgrade(host="127.0.0.1", port=listener.getsockname()[1], path="/x", tls=False), SystemClock())
        thread.join(5)

    assert time.monotonic() - began < 3


def test_an_answer_without_an_end_is_given_up(monkeypatch, server):
    monkeypatch.setattr(fetching, "MOST_BYTES", 1)
    port, _ = server

    with pytest.raises(OSError, match="the answer is longer than 1 bytes"):
        fetch(RelayUpgrade(host="127.0.0.1", port=port, path="/x", tls=False), SystemClock())


def test_a_request_goes_through_what_dials(server):
    port, received = server
    asked = []

    def dial(host, wanted):
        asked.append((host, wanted))
        return socket.create_connection(("127.0.0.1", port))

    relay = RelayUpgrade(host="10.0.0.1", port=443, path="/x", tls=False, dial=dial)

    assert fetch(relay, SystemClock()).body == b"ok"
    assert asked == [("10.0.0.1", 443)]
    assert "Host: 10.0.0.1:443" in received


class KeepingServer:
    """Answers each request with the number of the connection on which it came."""

    def __init__(self, listener):
        self.listener, self.connections, self.paths = listener, [], []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.connections.append(connection)
                threading.Thread(target=self.serve, args=(connection, len(self.connections)), daemon=True).start()

    def serve(self, connection, number):
        with connection, suppress(OSError):
            while True:
                head = b""
                while b"\r\n\r\n" not in head:
                    if not (data := connection.recv(65536)):
                        return
                    head += data
                self.paths.append(head.split()[1].decode())
                answer = b"%d" % number
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))

    def relay(self, path="/x", **more):
        return RelayUpgrade(host="127.0.0.1", port=self.listener.getsockname()[1], path=path, tls=False, **more)


@pytest.fixture
def keeping_server():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield KeepingServer(listener)
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def kept():
    connections = KeptConnections(FakeClock())
    yield connections
    connections.close()


def asked(server, kept, path="/x", method="GET", body=b"", **more):
    return int(fetch(server.relay(path, **more), SystemClock(), method, {}, body, kept).body)


def test_the_next_get_comes_over_the_same_connection_and_a_write_over_one_of_its_own(keeping_server, kept):
    found = [asked(keeping_server, kept, path) for path in ("/1", "/2")]
    found += [asked(keeping_server, kept, "/3", "POST", b"{}"), asked(keeping_server, kept, "/4")]

    assert found == [1, 1, 2, 1]
    assert keeping_server.paths == ["/1", "/2", "/3", "/4"]


def dialled(host, port):
    return socket.create_connection((host, port))


def test_a_request_by_which_something_else_is_proven_has_a_connection_of_its_own(keeping_server, kept, tmp_path):
    certificate, renewed = tmp_path / "client.crt", tmp_path / "renewed.crt"
    certificate.write_text("old")
    renewed.write_text("new")
    places = [{"key_file": str(certificate)}, {"server_name": "a"}, {"dial": dialled}, {}]
    found = [asked(keeping_server, kept, **place) for place in places]

    renewed.rename(certificate)
    found += [asked(keeping_server, kept, **place) for place in places]

    assert found == [1, 2, 3, 4, 5, 2, 3, 4]


def test_a_connection_that_the_server_has_closed_is_not_used(keeping_server, kept):
    asked(keeping_server, kept)

    keeping_server.connections[0].shutdown(socket.SHUT_RDWR)

    assert asked(keeping_server, kept) == 2


def test_where_the_server_closes_it_at_the_next_request_there_is_a_new_one(keeping_server, kept, monkeypatch):
    asked(keeping_server, kept)
    closed, take = keeping_server.connections[0], kept.take

    def taken_in_time(place):
        connected = take(place)
        closed.shutdown(socket.SHUT_RDWR)
        return connected

    monkeypatch.setattr(kept, "take", taken_in_time)

    assert asked(keeping_server, kept) == 2


def test_a_connection_is_kept_for_so_long_and_there_are_so_many(keeping_server):
    clock = FakeClock()
    kept = KeptConnections(clock)
    asked(keeping_server, kept)
    clock.advance(IDLE_SECONDS + 1)
    assert asked(keeping_server, kept) == 2

    for number in range(MOST_KEPT):
        asked(keeping_server, kept, server_name=str(number))

    assert asked(keeping_server, kept) == 3 + MOST_KEPT
    kept.close()


def test_what_is_put_back_after_the_end_is_closed(keeping_server, kept):
    kept.close()

    assert [asked(keeping_server, kept), asked(keeping_server, kept)] == [1, 2]
