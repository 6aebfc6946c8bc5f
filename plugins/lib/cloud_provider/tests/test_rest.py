"""What is believed of a cloud's answers, and how they are asked for over HTTP."""

from __future__ import annotations

import contextlib
import gzip
import json
import threading

import pytest
from hyperkube_lib.cloud_provider.rest import Answer, HttpSend, Missing, Refused, Request, RestApi
from hyperkube_testing.rest_cloud import JsonHandler, serving

from hyperkube.client.exchange import Bounds
from hyperkube.hookspecs.cloud import CloudThrottled, CloudUnavailable


def explained(body):
    error = body.get("error")
    return (error["reason"], error["message"]) if isinstance(error, dict) else None


def answering(status, body, **headers):
    sent = []

    def send(request):
        sent.append(request)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Answer(
            status=status, headers={name.replace("_", "-"): text for name, text in headers.items()}, body=content
        )

    return RestApi(send, explained, throttled=frozenset({"rateLimit"})), sent


OWN = {"error": {"reason": "why", "message": "the cloud's words"}}


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind"),
    [
        (404, OWN, {}, Missing),
        (409, OWN, {}, Refused),
        (403, OWN, {}, Refused),
        (401, OWN, {}, CloudUnavailable),
        (429, b"", {}, CloudThrottled),
        (403, {"error": {"reason": "rateLimit", "message": ""}}, {}, CloudThrottled),
        (503, b"", {"retry_after": "9"}, CloudThrottled),
        (503, b"", {}, CloudUnavailable),
        (500, OWN, {}, CloudUnavailable),
        (404, b"<html>", {}, CloudUnavailable),
        (404, {}, {}, CloudUnavailable),
        (302, b"", {}, CloudUnavailable),
        (200, b"<html>", {}, CloudUnavailable),
        (200, b"[]", {}, CloudUnavailable),
        (200, b"[" * 100_000, {}, CloudUnavailable),
    ],
)  # fmt: skip
def test_each_answer_has_its_kind(status, body, headers, kind):
    api, _ = answering(status, body, **headers)

    with pytest.raises(kind, match=r"GET /things/1: ") as raised:
        api.call("GET", "https://cloud.example/things/1", query={"key": "not-in-messages"})

    assert type(raised.value) is kind
    assert "not-in-messages" not in str(raised.value)


def test_no_content_is_an_empty_object_and_a_body_is_json():
    api, sent = answering(204, b"")

    assert api.call("POST", "https://cloud.example/things", {"name": "a"}) == {}
    assert json.loads(sent[0].body) == {"name": "a"}
    assert sent[0].headers["Content-Type"] == "application/json"


class Cloud(JsonHandler):
    """Knows one token."""

    def reply(self, body):
        known = self.headers["Authorization"] == "Bearer new"
        self.say(200 if known else 401, {"found": True} if known else {})


@pytest.fixture
def server():
    with serving(Cloud) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"


def test_over_http_a_token_that_is_refused_is_renewed_once(server):
    asked = []

    def authorize(renew):
        asked.append(renew)
        return {"Authorization": "Bearer new" if renew else "Bearer old"}

    send = HttpSend(authorize)

    assert RestApi(send, explained).call("GET", f"{server}/things") == {"found": True}
    assert asked == [False, True]
    send.close()


class Hostile(JsonHandler):
    """Answers with much, much out of little, or slowly."""

    def reply(self, body):
        packed = self.path == "/packed"
        content = gzip.compress(b" " * 10_000_000) if packed else b"x" * 3_000_000
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        for place in range(0, len(content), 1000 if self.path == "/slow" else len(content)):
            self.wfile.write(content[place : place + 1000] if self.path == "/slow" else content)
            self.server.pause.wait(0.02 if self.path == "/slow" else 0)

    def handle(self):
        with contextlib.suppress(ConnectionError):
            super().handle()


@pytest.mark.parametrize(
    ("path", "bounds", "why"),
    [
        ("/long", Bounds(size=1_000_000), "longer than 1000000 bytes"),
        ("/packed", Bounds(size=1_000_000), "longer than 1000000 bytes"),
        ("/slow", Bounds(seconds=0.2), "not come within 0.2 s"),
    ],
)
def test_over_http_an_answer_is_bounded_in_size_and_time(path, bounds, why):
    with serving(Hostile) as server:
        server.pause = threading.Event()
        send = HttpSend(lambda _renew: {}, bounds=bounds)

        with pytest.raises(CloudUnavailable, match=why):
            send(Request(method="GET", url=f"http://127.0.0.1:{server.server_address[1]}{path}", headers={}))

        send.close()


def test_a_cloud_that_is_not_there_is_unavailable_and_no_secret_is_told():
    send = HttpSend(lambda _renew: {"Authorization": "Bearer secret-of-the-test"})

    with pytest.raises(CloudUnavailable, match=r"GET 127.0.0.1:1/things: NewConnectionError") as raised:
        send(Request(method="GET", url="http://127.0.0.1:1/things?token=secret-of-the-test", headers={}))

    assert "secret" not in str(raised.value)
    assert raised.value.__suppress_context__
    send.close()
