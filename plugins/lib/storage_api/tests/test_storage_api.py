"""What is believed of a storage system's answers, and what is told of them."""

import contextlib
import threading
from typing import ClassVar

import pytest
from hyperkube_lib.storage_api import StorageApi, StorageRefused, basic_authorization, secret_data
from hyperkube_testing.rest_cloud import JsonHandler, serving

from hyperkube.client.exchange import Bounds
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupResource


class System(JsonHandler):
    """Answers as it is asked to, and knows one user."""

    answers: ClassVar = {
        "/v1/list": (200, b'[{"id": "a"}]'),
        "/v1/mixed": (200, b'[{"id": "a"}, 1]'),
        "/v1/object": (200, b'{"id": "a"}'),
        "/v1/nothing": (204, b""),
        "/v1/page": (200, b"<html>"),
        "/v1/deep": (200, b"[" * 100_000),
        "/v1/told": (409, b'{"message": "in\\nuse"}'),
        "/v1/described": (409, b'{"description": "' + b"x" * 1000 + b'"}'),
        "/v1/text": (500, b"what others may not read"),
        "/v1/other": (500, b'["what others may not read"]'),
        "/v1/moved": (302, b""),
    }

    do_DELETE = JsonHandler.do_GET  # noqa: N815 - http.server's name

    def reply(self, body):
        del body
        status, content = self.answers[self.path]
        if self.headers["Authorization"] != basic_authorization("me", "hush")["Authorization"]:
            status, content = 401, b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture(scope="module")
def url():
    with serving(System) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"


@pytest.fixture
def api(url):
    return StorageApi(url, basic_authorization("me", "hush"))


def test_answers_have_the_shape_that_is_asked_for(api):
    assert api.objects("/list") == [{"id": "a"}]
    assert api.object("POST", "/object", {"some": "thing"}) == {"id": "a"}
    assert api.call("DELETE", "/nothing") is None


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda api: api.objects("/object"), "GET /v1/object: answered with what is no list of objects"),
        (lambda api: api.objects("/mixed"), "GET /v1/mixed: answered with what is no list of objects"),
        (lambda api: api.object("GET", "/list"), "GET /v1/list: answered with what is no object"),
        (lambda api: api.object("GET", "/nothing"), "GET /v1/nothing: answered with what is no object"),
        (lambda api: api.call("GET", "/page"), "GET /v1/page: answered 200 with what is no JSON"),
        (lambda api: api.call("GET", "/deep"), "GET /v1/deep: answered 200 with what is no JSON"),
    ],
    ids=["no list", "not of objects", "no object", "nothing", "no JSON", "too deep"],
)
def test_rubbish_is_not_believed(api, ask, text):
    with pytest.raises(VolumeFailed) as raised:
        ask(api)

    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/told", 409, "GET /v1/told: 409: in use"),
        ("/described", 409, f"GET /v1/described: 409: {'x' * 300}"),
        ("/text", 500, "GET /v1/text: 500"),
        ("/other", 500, "GET /v1/other: 500"),
        ("/moved", 302, "GET /v1/moved: 302"),
    ],
    ids=["message", "description", "text", "list", "redirect"],
)
def test_a_refusal_is_told_in_the_systems_words_and_no_others(api, path, status, text):
    with pytest.raises(StorageRefused) as raised:
        api.call("GET", path)

    assert (raised.value.status, str(raised.value)) == (status, text)


def test_credentials_are_in_no_message(url):
    with pytest.raises(StorageRefused, match="401") as raised:
        StorageApi(url, basic_authorization("me", "wrong-one")).call("GET", "/list")
    with pytest.raises(VolumeFailed, match=r"127.0.0.1:1: ") as unreachable:
        StorageApi("http://127.0.0.1:1", basic_authorization("me", "wrong-one")).call("GET", "/list")
    with pytest.raises(VolumeFailed, match="line break") as broken:
        StorageApi(url, {"Authorization": "Basic wrong-one\nX: y"}).call("GET", "/list")

    assert "wrong-one" not in f"{raised.value} {unreachable.value} {broken.value}"


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://host:port"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(VolumeFailed, match="server address"):
        StorageApi(url)


class Hostile(JsonHandler):
    """Answers with much, or slowly."""

    def reply(self, body):
        del body
        self.send_response(200)
        self.send_header("Content-Length", "3000000")
        self.end_headers()
        for _ in range(3000):
            self.wfile.write(b"x" * 1000)
            self.server.pause.wait(0.02 if self.path == "/slow" else 0)

    def handle(self):
        with contextlib.suppress(ConnectionError):
            super().handle()


@pytest.mark.parametrize(
    ("path", "bounds", "why"),
    [
        ("/long", Bounds(size=1_000_000), "longer than 1000000 bytes"),
        ("/slow", Bounds(seconds=0.2), "not come within 0.2 s"),
    ],
    ids=["long", "slow"],
)
def test_an_answer_is_bounded_in_size_and_time(path, bounds, why):
    with serving(Hostile) as server:
        server.pause = threading.Event()
        api = StorageApi(f"http://127.0.0.1:{server.server_address[1]}", bounds=bounds)

        with pytest.raises(VolumeFailed, match=why):
            api.call("GET", path)


def test_a_secret_is_text():
    assert secret_data(lambda _ns, _name: {"data": {"user": "bWU="}}, "ns", "s") == {"user": "me"}
    with pytest.raises(VolumeFailed, match="secret ns/s has data that is no text"):
        secret_data(lambda _ns, _name: {"data": {"user": "/w=="}}, "ns", "s")


def test_a_secret_that_is_missing_is_named():
    def missing(_namespace, name):
        raise NotFound.about(GroupResource("", "secrets"), name)

    with pytest.raises(VolumeFailed, match='couldn\'t get secret ns/s: secrets "s" not found'):
        secret_data(missing, "ns", "s")


def test_a_secret_of_another_type_is_not_read():
    secret = {"type": "kubernetes.io/mine", "data": {"user": "bWU="}}

    assert secret_data(lambda _ns, _name: secret, "ns", "s", "kubernetes.io/mine") == {"user": "me"}
    with pytest.raises(VolumeFailed, match=r"cannot get secret ns/s: it must be of type kubernetes.io/other"):
        secret_data(lambda _ns, _name: secret, "ns", "s", "kubernetes.io/other")
