"""What a pod answers to the kubelet's probes costs it one check: its own, for as long as that may take."""

from __future__ import annotations

import socket
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hyperkube_host.kubelet.probe.http_probe import probe_http
from hyperkube_host.kubelet.probe.result import ProbeResult

CONTAINER = {"name": "c"}
TIMEOUT = 1.0
FINE = b"HTTP/1.1 200 OK\r\n\r\n"


class Pod:
    """Sends one answer to each request, in pieces if told to, and keeps what it was asked."""

    def __init__(self, answer: bytes, pause: float) -> None:
        self.answer, self.pause, self.asked = answer, pause, b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    self.asked = connection.recv(65536)
                    size = 1 if self.pause else max(1, len(self.answer))
                    for place in range(0, len(self.answer), size):
                        connection.sendall(self.answer[place : place + size])
                        if self.stop.wait(self.pause):
                            return
                except ConnectionError:
                    continue

    def close(self) -> None:
        self.stop.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


@pytest.fixture
def pod():
    pods = []

    def made(answer, pause=0.0):
        pods.append(Pod(answer, pause))
        return pods[-1]

    yield made
    for each in pods:
        each.close()


def probe(pod, **action):
    return probe_http({"port": pod.port, **action}, CONTAINER, "127.0.0.1", TIMEOUT, agent="kube-probe/1.36")


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 200 O" + b"K" * 1000, FINE[:-2] + b"A: " + b"b" * 1000, FINE + b"x" * 1000,
     FINE[:-2] + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 200],
    ids=["line", "header", "body", "chunks"],
)  # fmt: skip
def test_a_byte_at_a_time_fails_when_the_time_is_over(pod, answer):
    began = time.monotonic()
    outcome = probe(pod(answer, pause=0.3))

    assert outcome.result is ProbeResult.FAILURE
    assert "context deadline exceeded" in outcome.text
    assert time.monotonic() - began < 100  # of a machine that is busy: the bytes alone would take 300


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 99999999999 OK\r\n\r\n",
        b"HTTP/1.1 " + b"1" * 5000 + b" OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 5000 + b"\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx",
        FINE[:-2] + b"A: b\r\n" * 10_000 + b"\r\n",
        FINE[:-2] + b"A" * 1_000_000 + b": b\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000,
        b"\x16\x03\x01\x00\x00",
        b"",
    ],
    ids=["location", "status", "digits", "chunk", "negative chunk", "headers", "header", "continue", "tls", "nothing"],
)
def test_what_is_no_answer_is_a_failure(pod, answer):
    assert probe(pod(answer)).result is ProbeResult.FAILURE


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "x", "1e3", ""])
def test_a_length_that_is_none_is_no_crash(pod, length):
    assert probe(pod(FINE[:-2] + f"Content-Length: {length}\r\n\r\nx".encode())).result in ProbeResult


def test_of_a_body_without_an_end_ten_kibibytes_are_read(pod):
    outcome = probe(pod(FINE + b"x" * 1_000_000))

    assert (outcome.result, len(outcome.text)) == (ProbeResult.SUCCESS, 10 * 1024)


def test_a_header_of_two_lines_is_not_sent(pod):
    asked = pod(FINE)
    outcome = probe(asked, httpHeaders=[{"name": "A", "value": "b\r\nHost: elsewhere"}])

    assert outcome.result is ProbeResult.FAILURE
    assert b"elsewhere" not in asked.asked


def test_headers_and_paths_go_as_go_sends_them(pod):
    asked = pod(FINE)
    outcome = probe(asked, path="/\u00fc x?a=%2f", httpHeaders=[{"name": "A", "value": "\u20ac"}, {"name": "B"}])

    assert outcome.result is ProbeResult.SUCCESS
    assert asked.asked.startswith(b"GET /%C3%BC%20x?a=%2f HTTP/1.1\r\n")
    assert "A: \u20ac\r\n".encode() in asked.asked
