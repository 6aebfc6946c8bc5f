"""HTTP lifecycle hooks: any answer will do, none is a failure."""

import http.server
import threading

import pytest
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner
from hyperkube_testing.peers.ports import refusing_port

from hyperkube.machinery.clock import FakeClock


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


def outcome_of(port):
    pod = {"metadata": {"name": "p", "namespace": "ns"}}
    container = {"name": "c", "lifecycle": {"postStart": {"httpGet": {"port": port, "path": "/begun"}}}}
    return HandlerRunner(None, FakeClock()).post_start(pod, container, "id", "127.0.0.1")


def test_a_status_that_says_failure_is_an_answer(failing):
    assert outcome_of(failing) == ""


def test_no_answer_is_a_failure():
    with refusing_port() as port:
        assert outcome_of(port) == (
            'HTTP lifecycle hook (/begun) for Container "c" in Pod "p_ns" failed - error: '
            f'Get "http://127.0.0.1:{port}/begun": dial tcp 127.0.0.1:{port}: connect: connection refused'
        )


def test_a_port_without_a_number_is_a_failure():
    assert "couldn't find port: 'nosuch'" in outcome_of("nosuch")
