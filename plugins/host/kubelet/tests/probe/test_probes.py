"""Probing over HTTP and TCP."""

import http.server
import threading

import pytest
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
    with pytest.raises(ValueError, match="couldn't find port: 'nosuch'"):
        port_number("nosuch", CONTAINER)
