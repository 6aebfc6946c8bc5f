"""Logs and port-forwards: what their options may be, the way to the kubelet, and what clients get of its answer."""

import json

import pytest
from hyperkube_lib.serving.exchange import HttpRequest, RelayUpgrade

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.core", reason="needs the API groups")


@pytest.fixture(scope="module")
def server(server):
    client = server.client(LOOPBACK)
    client.create(NODES, {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}})
    addresses = {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.9"}]}}
    client.patch(NODES, "n", addresses, subresource="status")
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"}
    client.create(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": spec}, "default")
    return server


def test_a_log_is_plain_text_or_messages(server):
    request = HttpRequest(
        method="GET",
        path="/api/v1/namespaces/default/pods/p/log",
        query_string="follow=true",
        headers={"upgrade": "websocket", "connection": "Upgrade"},
        user=LOOPBACK,
    )

    way = server.handler.handle(request)

    assert isinstance(way, RelayUpgrade)
    assert (way.host, way.path) == ("10.0.0.9", "/containerLogs/default/p/c?follow=true")
    assert way.websocket_protocols == ("binary.k8s.io", "base64.binary.k8s.io")
    passed = way.answered([("Content-Type", "application/octet-stream"), ("X-A", "1")])
    assert (passed.headers, passed.body) == ([("Content-Type", "text/plain"), ("X-A", "1")], None)


def ask(server, path, query):
    path = f"/api/v1/namespaces/default/pods/p/{path}"
    answer = server.handler.handle(HttpRequest(method="GET", path=path, query_string=query, headers={}, user=LOOPBACK))
    return answer if isinstance(answer, RelayUpgrade) else (answer.status, json.loads(answer.body)["message"])


NO_TIME = 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("sinceTime=x", 400, NO_TIME),
        ("sinceTime=x&tailLines=-1", 400, NO_TIME),
        ("stream=Bogus", 422, 'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified'),
        ("stream=Stdout&tailLines=5", 422, 'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified'),
    ],
)
def test_options_of_a_log_are_checked_before_the_kubelet_is_asked(server, query, status, text):
    assert ask(server, "log", query) == (status, text)


@pytest.mark.parametrize("query", ["sinceTime=null", "sinceTime=2026-01-01T00:00:00Z"])
def test_a_log_since_a_time_is_passed_on(server, query):
    assert "sinceTime=" in ask(server, "log", query).path


@pytest.mark.parametrize(
    ("ports", "why"),
    [
        ("x", 'parsing "x": invalid syntax'),
        ("80,-1", 'parsing "-1": invalid syntax'),
        ("", 'parsing "": invalid syntax'),
        ("65536", 'parsing "65536": value out of range'),
        ("9" * 5000, f'parsing "{"9" * 5000}": value out of range'),
    ],
    ids=["word", "negative", "empty", "too-large", "very-long"],
)
def test_ports_are_numbers_of_16_bits(server, ports, why):
    answer = ask(server, "portforward", f"ports={ports}")

    assert answer == (400, f"cannot convert to []int32: strconv.ParseUint: {why}")


def test_ports_are_several_values_or_one_with_commas(server):
    assert ask(server, "portforward", "ports=80,81&ports=082").path == "/portForward/default/p?port=80&port=81&port=82"
