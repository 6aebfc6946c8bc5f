"""A webhook has its timeout for the whole call, however it spends it."""

import contextlib
import socket
import ssl
import threading
import time
from base64 import b64encode
from dataclasses import replace

import pytest
from hyperkube_lib.serving.certificates import self_signed
from hyperkube_lib.webhooks.caller import Address, Caller, CallFailed, NoAddress, Resolver

from hyperkube.machinery.clock import SystemClock

TIMEOUT = 1
SLOW = {
    "nothing": [],
    "a byte of the status line at a time": [b"H", b"T", b"T", b"P"] * 20,
    "a header at a time": [b"HTTP/1.1 200 OK\r\n", *[b"A: b\r\n"] * 60],
    "a byte of the body at a time": [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", *[b"x"] * 60],
    "a chunk at a time": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 60],
}


@pytest.fixture
def clock():
    clock = SystemClock()
    yield clock
    clock.close()


@pytest.fixture
def hook(tmp_path):
    """Listens as a webhook would; `serve` says what it sends, bit by bit."""
    pair = self_signed("hook", dns=["localhost"], ips=["127.0.0.1"])
    pair.write(tmp_path / "tls.crt", tmp_path / "tls.key")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    listener = socket.create_server(("127.0.0.1", 0))
    stop, threads = threading.Event(), []

    def serve(pieces, *, shake=True):
        def run():
            raw, _ = listener.accept()
            with (
                raw,
                contextlib.suppress(OSError),
                context.wrap_socket(raw, server_side=True) if shake else raw as wire,
            ):
                for piece in pieces:
                    if stop.wait(0.15):
                        return
                    wire.sendall(piece)
                stop.wait(20)

        threads.append(threading.Thread(target=run, daemon=True))
        threads[-1].start()
        bundle = b64encode((tmp_path / "tls.crt").read_bytes()).decode()
        return Address("https://localhost/x", "127.0.0.1", listener.getsockname()[1], "localhost", "/x"), bundle

    yield serve
    stop.set()
    for thread in threads:
        thread.join()
    listener.close()


@pytest.mark.parametrize("how", SLOW)
def test_a_webhook_that_answers_bit_by_bit_is_given_up(hook, clock, how):
    address, bundle = hook(SLOW[how])
    began = time.monotonic()

    with pytest.raises(CallFailed, match="context deadline exceeded"):
        Caller(lambda _: address, clock).post({"caBundle": bundle}, b"{}", TIMEOUT)

    assert time.monotonic() - began < TIMEOUT + 2


def test_a_webhook_that_never_shakes_hands_is_given_up(hook, clock):
    address, bundle = hook([b"\x16", b"\x03", b"\x03", b"\x10", *[b"\0"] * 60], shake=False)
    began = time.monotonic()

    with pytest.raises(CallFailed, match="context deadline exceeded"):
        Caller(lambda _: address, clock).post({"caBundle": bundle}, b"{}", TIMEOUT)

    assert time.monotonic() - began < TIMEOUT + 2


@pytest.mark.parametrize("network", ["cluster", "controlplane"])
def test_a_webhook_is_reached_by_what_dials_in_its_network(hook, clock, network):
    address, bundle = hook([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"])
    asked = []

    def dial(host, port, *, seconds):
        asked.append((host, port, seconds))
        return socket.create_connection((host, port), seconds)

    found = replace(address, network="cluster")
    answer = Caller(lambda _: found, clock, {network: dial}).post({"caBundle": bundle}, b"{}", 10)

    assert answer == b"{}"
    assert asked == ([("127.0.0.1", address.port, 10.0)] if network == "cluster" else [])


def test_a_webhook_whose_proxy_refuses_fails_with_its_words(hook, clock):
    address, bundle = hook([])

    def dial(_host, _port, *, seconds):
        raise OSError(f"proxy error after {seconds} s")

    with pytest.raises(CallFailed, match=r"proxy error after 1\.0 s"):
        Caller(lambda _: address, clock, {"controlplane": dial}).post({"caBundle": bundle}, b"{}", TIMEOUT)
    with socket.create_connection((address.host, address.port)):
        pass  # for the thread that listens


@pytest.mark.parametrize("url", ["https://[", "https://x:y/", "https://x:99999/"])
def test_a_url_that_cannot_be_read_is_no_address(url):
    with pytest.raises(NoAddress):
        Resolver(None)({"url": url})
