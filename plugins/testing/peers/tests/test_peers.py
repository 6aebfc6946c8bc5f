"""The other ends that tests talk to."""

import socket
import ssl
import urllib.request
from base64 import b64decode

import orjson
import pytest
from hyperkube_testing.peers.ports import free_port, refusing_port
from hyperkube_testing.peers.webhook_server import WebhookServer


def test_a_free_port_can_be_bound():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", free_port()))


def test_a_refusing_port_refuses_and_cannot_be_bound():
    with refusing_port() as port:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=30)
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))


def test_a_webhook_answers_the_review_it_was_asked():
    with WebhookServer(lambda review: {"allowed": False}) as server:
        trust = ssl.create_default_context(cadata=b64decode(server.ca_bundle).decode())
        body = orjson.dumps({"apiVersion": "v1", "kind": "AdmissionReview", "request": {"uid": "u"}})
        with urllib.request.urlopen(urllib.request.Request(server.url, data=body), context=trust) as answer:
            review = orjson.loads(answer.read())

    assert review["response"] == {"uid": "u", "allowed": False}
    assert [asked["request"]["uid"] for asked in server.reviews] == ["u"]
