"""HTTP lifecycle hooks: any answer will do, none is a failure."""

import http.server
import socketserver
import threading

import pytest
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner
from hyperkube_testing.peers.ports import refusing_port

from hyperkube.machinery.clock import FakeClock


class SpeaksPlainly(socketserver.StreamRequestHandler):
    """Answers 400 to the beginning of TLS, and 200 to requests, of which it keeps what it read."""

    read = b""

    def handle(self):
        SpeaksPlainly.read = self.request.recv(4096)
        status = b"200 OK" if SpeaksPlainly.read.startswith(b"GET ") else b"400 Bad Request"
        self.wfile.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")


class Fails(http.server.BaseHTTPRequestHandler):
    """Answers 500 to everything."""

    def do_GET(self):
        self.send_error(500)

    def log_message(self, *_args):
        """Keep quiet."""


@pytest.fixture
def failing():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Fails) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


class Events:
    """Keeps what is recorded, as the kubelet's event recorder does."""

    def __init__(self):
        self.found = []

    def pod_event(self, pod, *event):
        self.found.append((pod["metadata"]["name"], *event))


def outcome_of(port, events=None, runner=None, **more):
    pod = {"metadata": {"name": "p", "namespace": "ns"}}
    container = {"name": "c", "lifecycle": {"postStart": {"httpGet": {"port": port, "path": "/begun", **more}}}}
    runner = runner or HandlerRunner(None, FakeClock(), events)
    return runner.post_start(pod, container, "id", "127.0.0.1")


def test_a_status_that_says_failure_is_an_answer(failing):
    assert outcome_of(failing) == ""


def test_no_answer_is_a_failure():
    with refusing_port() as port:
        assert outcome_of(port) == (
            'HTTP lifecycle hook (/begun) for Container "c" in Pod "p_ns" failed - error: '
            f'Get "http://127.0.0.1:{port}/begun": dial tcp 127.0.0.1:{port}: connect: connection refused'
        )


def test_a_port_without_a_number_is_a_failure():
    assert outcome_of("nosuch").endswith('failed - error: strconv.Atoi: parsing "nosuch": invalid syntax')


def test_a_server_without_tls_is_asked_again_in_plain_text_and_without_credentials():
    events = Events()
    headers = [{"name": "authorization", "value": "Bearer s3cret"}, {"name": "X-Own", "value": "1"}]
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), SpeaksPlainly) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        port = server.server_address[1]
        runner = HandlerRunner(None, FakeClock(), events)
        problem = outcome_of(port, runner=runner, scheme="HTTPS", httpHeaders=headers)
        server.shutdown()
        thread.join()

    text = f"request to HTTPS lifecycle hook 127.0.0.1:{port} got HTTP response, retry with HTTP succeeded"
    assert (problem, events.found) == ("", [("p", "Warning", "LifecycleHTTPFallback", text)])
    assert runner.http_fallbacks == 1
    assert b"X-Own" in SpeaksPlainly.read
    assert b"s3cret" not in SpeaksPlainly.read
