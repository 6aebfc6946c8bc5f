"""Requests to other servers, as these see them."""

import socket
import threading
import time
from contextlib import suppress

import pytest
from hyperkube_host.apiserver.aggregation import fetch as fetching
from hyperkube_host.apiserver.aggregation.fetch import fetch
from hyperkube_lib.serving.exchange import RelayUpgrade

from hyperkube.machinery.clock import SystemClock

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
