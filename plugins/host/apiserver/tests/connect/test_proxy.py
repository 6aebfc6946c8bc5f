"""Requests to the proxies of pods and services, up to the way to the server behind."""

import json
from contextlib import suppress

import pytest
from hyperkube_lib.serving.exchange import HttpRequest, RelayUpgrade

from hyperkube.kinds.resources import PODS, SERVICES
from hyperkube.machinery.errors import AlreadyExists
from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.core", reason="needs the API groups")

PROXY = "/api/v1/namespaces/default/pods/p:8080/proxy"


@pytest.fixture(scope="module")
def server(server):
    client = server.client(LOOPBACK)
    spec = {"containers": [{"name": "c", "image": "i"}]}
    client.create(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": spec}, "default")
    status = {"status": {"podIP": "10.0.0.7", "podIPs": [{"ip": "10.0.0.7"}]}}
    client.patch(PODS, "p", status, "default", subresource="status")
    return server


def ask(server, method, path, query="", **headers):
    request = HttpRequest(
        method=method, path=path, query_string=query, headers={"host": "api.example", **headers}, user=LOOPBACK
    )
    return server.handler.handle(request)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])
def test_every_method_is_passed_on(server, method):
    way = ask(server, method, f"{PROXY}/some/path", "q=1")

    assert isinstance(way, RelayUpgrade)
    assert (way.host, way.port, way.path, way.tls) == ("10.0.0.7", 8080, "/some/path?q=1", False)
    assert way.headers == [("X-Forwarded-Uri", f"{PROXY}/some/path")]


@pytest.mark.parametrize(("method", "query"), [("GET", ""), ("GET", "a=1&b=2"), ("HEAD", "")])
def test_the_root_without_a_slash_is_elsewhere(server, method, query):
    answer = ask(server, method, PROXY, query)

    assert answer.status == 301
    assert dict(answer.headers)["Location"] == f"{PROXY}/" + (f"?{query}" if query else "")


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        pytest.param("POST", PROXY, {}, id="post"),
        pytest.param("GET", f"{PROXY}/", {}, id="with-a-slash"),
        pytest.param("GET", PROXY, {"upgrade": "websocket", "connection": "Upgrade"}, id="upgrade"),
    ],
)
def test_the_root_is_passed_on_otherwise(server, method, path, headers):
    way = ask(server, method, path, **headers)

    assert isinstance(way, RelayUpgrade)
    assert way.path == "/"


@pytest.mark.parametrize(("tail", "link"), [("/some/path", "/x"), ("/", "/x"), ("/some/", "http://api.example/x")])
def test_links_get_the_path_of_the_proxy(server, tail, link):
    passed = ask(server, "GET", f"{PROXY}{tail}").answered([("Content-Type", "text/html")])

    assert passed.body(f'<a href="{link}">'.encode()) == f'<a href="{PROXY}/x">'.encode()


@pytest.mark.parametrize(("resource", "kind"), [("pods", "pod"), ("services", "service")])
def test_a_name_of_another_form_is_refused_for_its_kind(server, resource, kind):
    answer = ask(server, "GET", f"/api/v1/namespaces/default/{resource}/x:y:z:w/proxy")

    assert answer.status == 400
    assert json.loads(answer.body)["message"] == f'invalid {kind} request "x:y:z:w"'


@pytest.mark.parametrize(
    ("port", "status", "text"),
    [("zz", 404, 'services "s" not found'), ("81", 503, 'no service port 81 found for service "s"')],
)
def test_a_port_of_a_service_is_looked_up_by_number_and_its_endpoints_by_name(server, port, status, text):
    spec = {"ports": [{"name": "web", "port": 80}]}
    service = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": spec}
    with suppress(AlreadyExists):
        server.client(LOOPBACK).create(SERVICES, service, "default")

    answer = ask(server, "GET", f"/api/v1/namespaces/default/services/s:{port}/proxy/")

    assert (answer.status, json.loads(answer.body)["message"]) == (status, text)
