"""Probing over HTTP and TCP."""

import errno
import http.server
import socket
import threading

import pytest
from hyperkube_host.kubelet.probe.dial_errors import dial_error_text
from hyperkube_host.kubelet.probe.http_probe import probe_http
from hyperkube_host.kubelet.probe.ports import port_number
from hyperkube_host.kubelet.probe.result import ProbeResult
from hyperkube_host.kubelet.probe.tcp_probe import probe_tcp
from hyperkube_testing.peers.ports import refusing_port

CONTAINER = {"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers with the status that the path names, and remembers the headers."""

    seen = {}  # noqa: RUF012  one test server at a time

    def do_GET(self):
        Answers.seen = dict(self.headers)
        if self.path.startswith("/to/"):
            self.send_response(307)
            self.send_header("Location", self.path.removeprefix("/to"))
        elif self.path == "/circle":
            self.send_response(302)
            self.send_header("Location", "circle")
        else:
            status = int(self.path.strip("/"))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://elsewhere.example/")
        self.end_headers()
        self.wfile.write(b"body")

    def log_message(self, *_args):
        """Keep quiet."""


@pytest.fixture
def port():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "result", "text"),
    [
        (200, ProbeResult.SUCCESS, "body"),
        (399, ProbeResult.WARNING, "Probe terminated redirects, Response body: body"),
        (301, ProbeResult.WARNING, "Probe terminated redirects, Response body: body"),
        ("to/200", ProbeResult.SUCCESS, "body"),
        ("to/to/404", ProbeResult.FAILURE, "HTTP probe failed with statuscode: 404"),
        ("to/302", ProbeResult.WARNING, "Probe terminated redirects, Response body: body"),
        ("circle", ProbeResult.FAILURE, 'Get "circle": stopped after 10 redirects'),
        (302, ProbeResult.WARNING, "Probe terminated redirects, Response body: body"),
        (404, ProbeResult.FAILURE, "HTTP probe failed with statuscode: 404"),
        (500, ProbeResult.FAILURE, "HTTP probe failed with statuscode: 500"),
    ],
)
def test_a_status_below_300_is_success_and_below_400_one_with_a_warning(port, status, result, text):
    assert probe_http({"port": port, "path": f"/{status}"}, CONTAINER, "127.0.0.1", 1, agent="kube-probe/1.36") == (
        result,
        text,
    )


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "http: server gave HTTP response to HTTPS client"),
        (b"220 mail.example ready\r\n", "tls: first record does not look like a TLS handshake"),
        (b"", "EOF"),
    ],
    ids=["http", "another protocol", "nothing"],
)
def test_a_server_that_does_not_speak_tls_is_told(answer, text):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        thread = threading.Thread(target=answer_once, args=(server, answer))
        thread.start()
        outcome = probe_http({"port": port, "scheme": "HTTPS"}, CONTAINER, "127.0.0.1", 5, agent="me")
        thread.join()

    assert outcome == (ProbeResult.FAILURE, f'Get "https://127.0.0.1:{port}/": {text}')


def answer_once(server, answer):
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(answer)


def test_what_hinders_a_connection_is_told():
    assert (
        dial_error_text(OSError(errno.EHOSTUNREACH, "x"), "::1", 80) == "dial tcp [::1]:80: connect: no route to host"
    )
    assert dial_error_text(socket.gaierror(), "nosuch", 80) == "dial tcp: lookup nosuch: no such host"


def test_headers_are_sent(port):
    probe_http(
        {"port": port, "path": "200", "httpHeaders": [{"name": "X-A", "value": "b"}]},
        CONTAINER,
        "127.0.0.1",
        1,
        agent="me",
    )

    assert (Answers.seen["X-A"], Answers.seen["User-Agent"]) == ("b", "me")


def test_tcp_asks_for_an_open_port(port):
    assert probe_tcp({"port": port}, CONTAINER, "127.0.0.1", 1).result is ProbeResult.SUCCESS
    with refusing_port() as closed:
        assert probe_tcp({"port": closed}, CONTAINER, "127.0.0.1", 1) == (
            ProbeResult.FAILURE, f"dial tcp 127.0.0.1:{closed}: connect: connection refused",
        )  # fmt: skip


def test_a_port_may_be_a_name():
    assert (port_number("web", CONTAINER), port_number("81", CONTAINER), port_number(82, CONTAINER)) == (8080, 81, 82)
    with pytest.raises(ValueError, match=r'^strconv\.Atoi: parsing "nosuch": invalid syntax$'):
        port_number("nosuch", CONTAINER)
